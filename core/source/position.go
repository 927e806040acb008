package source

import "strconv"

// Position is a place in a source file. Line and Column count from 1; the zero Position
// means "unknown". Column counts bytes, as in Go tools. The position of a string may also
// record how the string was written, see Written.
type Position struct {
	File   string
	Line   int32
	Column int32

	written *[]Segment // nil if the string appears verbatim in the document
}

// IsValid reports whether the position has a line.
func (p Position) IsValid() bool { return p.Line > 0 }

// Shift returns the position n columns to the right on the same line. A position without a
// column, such as a line of a Go program, is not changed.
func (p Position) Shift(n int) Position {
	if p.IsValid() && p.Column > 0 {
		p.Column += int32(n)
	}
	return p
}

// String formats the position as file:line:column, without the unknown parts.
func (p Position) String() string {
	if !p.IsValid() {
		return p.File
	}
	s := strconv.Itoa(int(p.Line))
	if p.Column > 0 {
		s += ":" + strconv.Itoa(int(p.Column))
	}
	if p.File == "" {
		return s
	}
	return p.File + ":" + s
}

// Located is a value with its position in the document.
type Located[T any] struct {
	Value T
	Pos   Position
}

// At returns v with the position pos.
func At[T any](v T, pos Position) Located[T] { return Located[T]{Value: v, Pos: pos} }

// Text is a positioned string, Int a positioned integer. The zero value means that the
// document has no value. If an explicit zero is different from no value, the field is a
// pointer.
type (
	Text = Located[string]
	Int  = Located[int]
)

// Strings returns the values of a list of texts, without positions.
func Strings(list []Text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Value
	}
	return out
}
