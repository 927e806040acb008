package source

import "strconv"

// Position is a place in a source file. Line and Column count from 1; the zero
// Position means "unknown". Column counts bytes, as Go tools do. The position of
// a text may also know how the text was written, see Written.
type Position struct {
	File   string
	Line   int32
	Column int32

	written *[]Segment // nil when the text stands in the document as it is
}

// IsValid reports whether the position names a line.
func (p Position) IsValid() bool { return p.Line > 0 }

// Shift returns the position n columns to the right on the same line. A position
// without a column, such as a line of a Go program, stays as it is.
func (p Position) Shift(n int) Position {
	if p.IsValid() && p.Column > 0 {
		p.Column += int32(n)
	}
	return p
}

// String formats the position as file:line:column, leaving out what is unknown.
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

// Located is a value together with the place it was written at.
type Located[T any] struct {
	Value T
	Pos   Position
}

// At returns v written at pos.
func At[T any](v T, pos Position) Located[T] { return Located[T]{Value: v, Pos: pos} }

// Text is a positioned string, Int a positioned whole number. A zero Text or Int
// means that the document does not say; where an explicit zero differs from
// absence the field is a pointer.
type (
	Text = Located[string]
	Int  = Located[int]
)

// Strings returns the bare values of a list of texts.
func Strings(list []Text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Value
	}
	return out
}
