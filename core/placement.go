package core

import "context"

// Replaces says what a node of a kind does to files and tables that are there already.
type Replaces uint8

// Values of Replaces.
const (
	ReplacesNothing       Replaces = iota // or what is no file and no table
	ReplacesTable                         // the table that Compiled.Outputs names
	ReplacesFixed                         // the file that Compiled.Outputs names
	ReplacesRendered                      // a file whose name is partly known only when the node runs
	ReplacesRenderedTable                 // a table of such a file
)

// Replacer is implemented by handlers given in Go that replace files or tables, as a kind
// says it by Compiled.Replaces.
type Replacer interface{ Replaces() Replaces }

// Replaced is a target of a Placement, with the name that messages call it.
type Replaced struct{ Target, Name string }

// Placement is work that is done but for the last step, which replaces a file or a table.
// A handler returns one, and nothing else, if Shared.Defer asks for it: then the run decides
// first whether the target is free. Two items of a fan-out, two rows of a pipeline, or two
// nodes with no path between them must not replace the same target in one run: the later
// one in canonical order fails and its target is not touched.
//
// The handler has returned when Place or Discard is called, and they are called on another
// goroutine. Exactly one of them is called, unless Place fails: Discard follows then.
type Placement struct {
	// Target is what is replaced, in a form that is equal for equal targets. Name is what
	// messages call it.
	Target, Name string
	// More are further targets, which are replaced together with the first one.
	More []Replaced
	// Place replaces the targets. The result, or error, is the one of the attempt.
	Place func(ctx context.Context) (Result, error)
	// Always is for targets that say what became of the work, such as a file of rejected
	// rows: they are replaced also if the attempt fails after the handler has returned, or
	// the run is cancelled or a timeout ends while the result waits for its turn, unless a
	// target is taken. The result does not count then.
	Always bool
	// Discard removes what was prepared. nil if there is nothing to remove.
	Discard func()
}
