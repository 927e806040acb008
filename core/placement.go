package core

import "context"

// Replaces says which existing files and tables a node replaces.
type Replaces uint8

// Values of Replaces.
const (
	ReplacesNothing       Replaces = iota // nothing, or something that is neither a file nor a table
	ReplacesTable                         // the table that Compiled.Outputs names
	ReplacesFixed                         // the file that Compiled.Outputs names
	ReplacesRendered                      // a file whose name is partly known only when the node runs
	ReplacesRenderedTable                 // a table of such a file
)

// Replacer is implemented by handlers given in Go that replace files or tables. It is their
// equivalent of Compiled.Replaces.
type Replacer interface{ Replaces() Replaces }

// Replaced is a target of a Placement, with its name in messages.
type Replaced struct{ Target, Name string }

// Placement is work that is done except for the last step, which replaces a file or a
// table. A handler returns a Placement, and nothing else, if Shared.Defer is set. The run
// then first decides whether the target is free. Two items of a fan-out, two rows of a
// pipeline, or two nodes with no path between them must not replace the same target in one
// run: the later one in canonical order fails, and the target is not changed again.
//
// Place and Discard are called on another goroutine, after the handler has returned.
// Exactly one of them is called, unless Place fails: then Discard is called after it.
type Placement struct {
	// Target identifies what is replaced, in a form that is equal for equal targets. Name
	// is its name in messages.
	Target, Name string
	// More are further targets, which are replaced together with the first one.
	More []Replaced
	// Place replaces the targets. Its result or error becomes the result or error of the attempt.
	Place func(ctx context.Context) (Result, error)
	// Always is for targets that describe the outcome of the work, such as a file of
	// rejected rows. They are replaced even if the attempt fails after the handler has
	// returned, the run is cancelled, or a timeout ends while the result waits for its
	// turn, unless a target is taken. The result is then ignored.
	Always bool
	// Discard removes what was prepared. It is nil if there is nothing to remove.
	Discard func()
}
