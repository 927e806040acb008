package tty

import (
	"fmt"
	"io"
	"strings"

	"github.com/wavefold/wavefold/internal/printable"
)

// Styled is a text that is safe to print: it holds nothing that moves the cursor,
// changes the terminal or turns the direction of reading, except for the colours
// of a Palette. It is made by Safe, by a Palette and by Sprintf.
type Styled string

// Safe makes a string safe to print on one line; see printable.Line.
func Safe(s string) Styled { return Styled(printable.Line(s)) }

// Sprintf is fmt.Sprintf for people's eyes: the format is printed as it is, and of
// every argument that is not Styled the text is made safe.
func Sprintf(format string, args ...any) Styled {
	return Styled(fmt.Sprintf(format, safeArgs(args)...))
}

// Fprintf writes what Sprintf makes. Everything for people goes through it. It
// tells no error: the streams of a command remember theirs.
func Fprintf(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, safeArgs(args)...)
}

func safeArgs(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if _, ok := a.(Styled); ok {
			out[i] = a
		} else {
			out[i] = argument{a}
		}
	}
	return out
}

// argument is formatted like its value, and then made safe.
type argument struct{ value any }

// Format writes the value as the verb wants it.
func (a argument) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, string(Safe(fmt.Sprintf(fmt.FormatString(f, verb), a.value))))
}

// JSON returns a writer for JSON that a terminal may show. What Safe would not let
// pass stands in JSON inside of texts only, where \u009b means the same; the
// control characters below the blank are written so already.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

// Write writes one or more whole JSON texts.
func (j jsonWriter) Write(p []byte) (int, error) {
	text := string(p)
	if strings.IndexFunc(text, escapedInJSON) < 0 {
		return j.w.Write(p)
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !escapedInJSON(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := surrogates(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	if _, err := io.WriteString(j.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func escapedInJSON(r rune) bool { return r >= 0x7f && printable.Harmful(r) }

// surrogates are the two halves in which JSON writes a character above U+FFFF.
func surrogates(r rune) (high, low rune) {
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}
