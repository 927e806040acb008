package llm

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
)

// ballot is what a model may answer: numbers 1 to len(numbers), each of which stands for a
// place in ids, 0 for none of them, or one of the ids.
type ballot struct {
	numbers []int // the place in ids of each number, less one
	ids     []string
}

// reading is how an answer was read.
type reading struct {
	choice   int // a place in ids, or core.NoRoute
	unusable bool
	reason   string
}

var unusable = reading{choice: core.NoRoute, unusable: true}

// read reads an answer: an object with a choice, as it was asked for, or a text with a
// number or an id. What names no choice, or two, is unusable; nothing is ever guessed.
func (b *ballot) read(answer string) reading {
	// What a model thought aloud is no answer: it weighs all of them.
	if i := strings.LastIndex(answer, "</think>"); i >= 0 {
		answer = answer[i+len("</think>"):]
	}
	answer = Unfenced(answer)
	if o := objectIn(answer); o != nil {
		return b.object(o)
	}
	// An object that is broken or cut off is not read as prose: its keys and its reason
	// might be ids.
	if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[") || strings.Contains(answer, `"choice"`) {
		return unusable
	}
	return b.text(answer)
}

// object reads the answer that was asked for.
func (b *ballot) object(o *core.Object) reading {
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

// text reads a text: an id, or a sentence in which exactly one id stands as a whole.
func (b *ballot) text(s string) reading {
	s = strings.TrimSpace(strings.Trim(s, quotes))
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "."), 10, 64)
	i := slices.Index(b.ids, s)
	switch {
	case s == "":
		return unusable
	case i >= 0 && err == nil && b.number(n).choice != i:
		return unusable // an id that looks like the number of another choice
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

// idAt returns the longest id that stands as a whole at a place of a text, "" for none.
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

// Unfenced returns an answer without blanks around it, and without the fence of a code
// block if that is the whole answer: models like to draw one around JSON.
func Unfenced(answer string) string {
	s := strings.TrimSpace(answer)
	inner, ok := strings.CutPrefix(s, "```")
	if !ok {
		return s
	}
	inner, ok = strings.CutSuffix(inner, "```")
	_, body, line := strings.Cut(inner, "\n") // behind the language
	if !ok || !line {
		return s
	}
	return strings.TrimSpace(body)
}

// objectIn returns the object with a choice that an answer is or holds, nil for none.
func objectIn(s string) *core.Object {
	from, to := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	if from < 0 || to < from {
		return nil
	}
	v, err := core.ParseJSON([]byte(s[from : to+1]))
	if err != nil {
		return nil
	}
	o, _ := v.(*core.Object)
	if _, ok := o.Get("choice"); !ok && from > 0 {
		return nil // braces in prose
	}
	return o
}
