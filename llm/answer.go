package llm

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// ballot holds the answers that a model may give: an id of ids, a number from 1 to
// len(numbers), which selects an entry of ids, or 0 for none of the options.
type ballot struct {
	numbers []int // numbers[n-1] is the index in ids that the number n selects
	ids     []string
}

// reading is the result of reading an answer.
type reading struct {
	choice   int // an index in ids, or core.NoRoute
	unusable bool
	reason   string
}

var unusable = reading{choice: core.NoRoute, unusable: true}

// read reads an answer: an object with a choice, as the prompt requires, or a string with a
// number or an id. An answer that names no option, or more than one, is unusable; read
// never guesses.
func (b *ballot) read(answer string) reading {
	// Reasoning that the model prints before its answer is dropped: it mentions all of the
	// options.
	if i := strings.LastIndex(answer, "</think>"); i >= 0 {
		answer = answer[i+len("</think>"):]
	}
	answer = Unfenced(answer)
	if o := objectIn(answer); o != nil {
		return b.object(o)
	}
	// A malformed or truncated object is not read as prose: its keys and its reason might
	// be ids.
	if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[") || strings.Contains(answer, `"choice"`) {
		return unusable
	}
	return b.text(answer)
}

// object reads an answer that has the requested form.
func (b *ballot) object(o *value.Object) reading {
	v, _ := o.Get("choice")
	out := unusable
	switch v := v.(type) {
	case int64:
		out = b.number(v)
	case float64: // some servers write 2.0
		if v == float64(int64(v)) {
			out = b.number(int64(v))
		}
	case string:
		out = b.text(strings.TrimSpace(v))
	}
	reason, _ := o.Get("reason")
	out.reason, _ = reason.(string)
	return out
}

func (b *ballot) number(n int64) reading {
	switch {
	case n == 0:
		return reading{choice: core.NoRoute}
	case n > 0 && n <= int64(len(b.numbers)):
		return reading{choice: b.numbers[n-1]}
	}
	return unusable
}

const quotes = "\"'`“”‘’«»"

// text reads a string: an id, or a sentence in which exactly one id occurs as a whole word.
func (b *ballot) text(s string) reading {
	s = strings.TrimSpace(strings.Trim(s, quotes))
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "."), 10, 64)
	i := slices.Index(b.ids, s)
	switch {
	case s == "":
		return unusable
	case i >= 0 && err == nil && b.number(n).choice != i:
		return unusable // an id that looks like the number of another option
	case i >= 0:
		return reading{choice: i}
	case err == nil:
		return b.number(n)
	case strings.EqualFold(strings.TrimSuffix(s, "."), "none"):
		return reading{choice: core.NoRoute}
	}
	found := core.NoRoute
	for at := 0; at < len(s); {
		id := b.idAt(s, at)
		if id == "" {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
			continue
		}
		if found != core.NoRoute && b.ids[found] != id {
			return unusable
		}
		found = slices.Index(b.ids, id)
		at += len(id)
	}
	if found == core.NoRoute {
		return unusable
	}
	return reading{choice: found}
}

// idAt returns the longest id that begins at offset at of s and is a whole word there, or
// "" if there is none.
func (b *ballot) idAt(s string, at int) string {
	if r, _ := utf8.DecodeLastRuneInString(s[:at]); at > 0 && inID(r) {
		return ""
	}
	longest := ""
	for _, id := range b.ids {
		if len(id) <= len(longest) || !strings.HasPrefix(s[at:], id) {
			continue
		}
		if r, size := utf8.DecodeRuneInString(s[at+len(id):]); size == 0 || !inID(r) {
			longest = id
		}
	}
	return longest
}

func inID(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// Unfenced returns an answer without surrounding white space, and without a Markdown code
// fence if the fence encloses the whole answer. Models often fence JSON.
func Unfenced(answer string) string {
	s := strings.TrimSpace(answer)
	inner, ok := strings.CutPrefix(s, "```")
	if !ok {
		return s
	}
	inner, ok = strings.CutSuffix(inner, "```")
	_, body, line := strings.Cut(inner, "\n") // after the language
	if !ok || !line {
		return s
	}
	return strings.TrimSpace(body)
}

// objectIn returns the object with a choice that an answer consists of or contains, or nil
// if there is none.
func objectIn(s string) *value.Object {
	from, to := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	if from < 0 || to < from {
		return nil
	}
	v, err := value.ParseJSON([]byte(s[from : to+1]))
	if err != nil {
		return nil
	}
	o, _ := v.(*value.Object)
	if _, ok := o.Get("choice"); !ok && from > 0 {
		return nil // braces in prose
	}
	return o
}
