package document

import (
	"strings"
	"unicode/utf8"
)

const (
	quoteHint = "put the whole string in quotes"
	flowHint  = "in [...] and {...} a string with a comma, bracket, brace or ? at its end needs quotes"
)

// explanations translates the library's messages for the most common mistakes in
// workflows. Other messages are shown unchanged.
var explanations = []struct{ problem, message, hint string }{
	{"mapping values are not allowed in this context", `":" is not allowed here`, `put a string that contains ": " in quotes, or check the indentation`},
	{"did not find expected key", "this does not fit the mapping that it is in", "check the indentation and the quotes"},
	{"did not find expected '-' indicator", `want a list item with "-"`, "check the indentation"},
	{"could not find expected ':'", `key without ":"`, ""},
	{"did not find expected ',' or ']'", "list in brackets is not closed, or misses a comma", flowHint},
	{"did not find expected ',' or '}'", "mapping in braces is not closed, or misses a comma", flowHint},
	{"found unexpected end of stream", "the quoted string is not closed", ""},
	{"found unexpected document indicator", "the quoted string is not closed", ""},
	{"found unknown escape character", "unknown escape in a quoted string", `write \\ for a backslash, or use single quotes`},
	{"block sequence entries are not allowed in this context", `list item "-" is not allowed here`, "check the indentation"},
	{"did not find expected node content", "want a value", ""},
	{"did not find expected alphabetic or numeric character", `a string that begins with "!", "&" or "*" is a tag, an anchor or an alias`, quoteHint},
	{"control characters are not allowed", "control character in the text", `write it as an escape such as "\x07" in double quotes`},
	{"found a tab character that violates indentation", "tab in the indentation", "indent with spaces"},
	{"did not find expected <document start>", "text does not fit the document", "check the indentation"},
}

// explain returns a message and a hint for a problem at an offset.
func explain(problem string, data []byte, at int) (message, hint string) {
	for _, e := range explanations {
		if strings.HasPrefix(problem, e.problem) {
			return e.message, e.hint
		}
	}
	var char rune
	if at < len(data) {
		char, _ = utf8.DecodeRune(data[at:])
	}
	switch {
	case strings.HasPrefix(problem, "unknown anchor"):
		name := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(problem, "unknown anchor "), " referenced"), "'")
		return "alias *" + name + " has no anchor", `put a string that begins with "*" in quotes`
	case char == '\t':
		return "tab in the indentation", "indent with spaces"
	case strings.HasPrefix(problem, "found character that cannot start any token"):
		return "a string cannot begin with " + string(char), quoteHint
	default:
		return problem, ""
	}
}

// lineHint replaces the hint if the line suggests a better one: the strings that most
// often lack quotes are placeholders and conditions.
func lineHint(line, hint string) string {
	key, value, _ := strings.Cut(strings.TrimLeft(line, " -"), ":")
	value = strings.TrimSpace(value)
	switch {
	case strings.Contains(line, "{{"):
		return "replace the {{...}} placeholder, or put the whole string in quotes"
	case (key == "when" || key == "until") && value != "":
		return "put the whole condition in quotes"
	default:
		return hint
	}
}
