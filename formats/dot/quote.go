package dot

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// nameText formats the id of a node or the name of a graph, without quotes if possible.
func nameText(s string) string {
	if strings.Contains(s, ".") {
		return inQuotes(s)
	}
	return keyText(s)
}

// keyText formats the key of an attribute, which may contain dots.
func keyText(s string) string {
	if s != "" && wordKind([]byte(s)) == tokenName && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	return inQuotes(s)
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`)

// inQuotes quotes a string. Line breaks are kept.
func inQuotes(s string) string { return `"` + quoter.Replace(s) + `"` }

// text formats a string, without quotes if it is a word.
func (w *writer) text(subject, s string) string {
	if !utf8.ValidString(s) {
		w.fail("%s: string %q is not valid UTF-8", subject, s)
	}
	if s != "" && s != "true" && s != "false" && wordKind([]byte(s)) == tokenName && !strings.Contains(s, ".") {
		return s
	}
	return inQuotes(s)
}

// scalar formats a value. ok is false for a list, a mapping, and a number that is not
// finite.
func (w *writer) scalar(subject string, v any) (text string, ok bool) {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		text := floatText(v)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text, !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		return w.text(subject, v), true
	}
	return "", false
}

func floatText(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// durationText formats a duration in the largest unit of which it is a whole multiple.
func durationText(d time.Duration) string {
	for _, u := range slices.Backward(units) {
		if d != 0 && d%u.of == 0 {
			return strconv.FormatInt(int64(d/u.of), 10) + u.name
		}
	}
	if d == 0 {
		return "0s"
	}
	return inQuotes(d.String())
}
