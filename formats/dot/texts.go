package dot

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// nameText writes the id of a node or the name of a graph: bare if it can be.
func nameText(s string) string {
	if strings.Contains(s, ".") {
		return inQuotes(s)
	}
	return keyText(s)
}

// keyText writes the key of an attribute, which may be dotted.
func keyText(s string) string {
	if s != "" && wordKind([]byte(s)) == tokenName && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	return inQuotes(s)
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`)

// inQuotes writes a text in quotes. Line breaks stay as they are.
func inQuotes(s string) string { return `"` + quoter.Replace(s) + `"` }

// text writes a text, as a word where it is one.
func (w *writer) text(subject, s string) string {
	if !utf8.ValidString(s) {
		w.fail("%s: string %q is not valid UTF-8", subject, s)
	}
	if s != "" && s != "true" && s != "false" && wordKind([]byte(s)) == tokenName && !strings.Contains(s, ".") {
		return s
	}
	return inQuotes(s)
}

// scalar writes a value; ok is false for a list, a mapping and what no value stands for.
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

// durationText writes a duration in the largest unit that it is a whole number of.
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
