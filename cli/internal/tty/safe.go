package tty

import (
	"fmt"
	"io"
	"strings"

	"github.com/wavefold/wavefold/internal/printable"
)

// Styled is a string that is safe to print: it contains nothing that moves the cursor,
// changes the terminal or reverses the reading direction, except the colours of a Palette.
// Safe, Sprintf and the methods of Palette create it.
type Styled string

// Safe makes a string safe to print on one line; see printable.Line.
func Safe(s string) Styled { return Styled(printable.Line(s)) }

// Sprintf is like fmt.Sprintf for output to people. The format is printed unchanged; the
// string form of every argument that is not Styled is made safe.
func Sprintf(format string, args ...any) Styled {
	return Styled(fmt.Sprintf(format, safeArgs(args)...))
}

// Fprintf writes the result of Sprintf. All output for people uses it. It returns no error:
// the streams of a command record their errors.
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

// Format formats the value with the given verb.
func (a argument) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, string(Safe(fmt.Sprintf(fmt.FormatString(f, verb), a.value))))
}

// JSON returns a writer for JSON that makes its output safe for terminals. Characters that
// Safe would replace occur in JSON only inside strings, where an escape such as \u009b is
// equivalent; encoders already escape control characters below the space.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

// Write writes one or more complete JSON values.
func (j jsonWriter) Write(p []byte) (int, error) {
	if ascii(p) {
		return j.w.Write(p)
	}
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

// surrogates returns the surrogate pair of a character above U+FFFF.
func surrogates(r rune) (high, low rune) {
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

// ascii reports whether all bytes are ASCII characters that JSON has as they are.
func ascii(p []byte) bool {
	for _, c := range p {
		if c >= 0x7f {
			return false
		}
	}
	return true
}
