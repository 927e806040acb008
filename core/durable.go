package core

import (
	"context"
	"errors"
	"io"

	"github.com/wavefold/wavefold/core/value"
)

// Durability connects an attempt with the store of its run. Drivers set it in Shared if the
// run is stored. Its functions are called by the goroutines of the attempt until Handle
// returns, several at a time if the handler has several.
type Durability struct {
	// Checkpoint records how far the execution of in has come, and returns once the record
	// is as safe as the durability of the run requires. It keeps the position.
	Checkpoint func(ctx context.Context, in Input, position *value.Object) error
	// Checkpointed returns the last position that an earlier process recorded for the
	// idempotency key of in, or nil if there is none. It may be nil.
	Checkpointed func(in Input) *value.Object
	// Owned returns an error once another process has taken over the run. It may be nil.
	Owned func() error
	// Folder is the absolute path of a folder of the run on this host, in which kinds record
	// what a crash would leave on the host: temporary files and child processes. If it is
	// "", kinds record nothing.
	Folder string
	// Output returns a writer that keeps what a program of the attempt prints to a stream,
	// "stdout" or "stderr", without the values of secrets. Writes never fail. The caller closes
	// it when the program has ended. It is nil if the store keeps no output.
	Output func(in Input, stream string) io.WriteCloser
	// Resumed reports whether an earlier process has begun the run, so that what only that
	// process could read, such as its standard input, is gone.
	Resumed bool
	// Position is the position at which a stream begins. It is set only in the input of
	// StreamSource.Open, and nil if the stream begins at its first row.
	Position *value.Object
}

// Positioned is implemented by streams that can begin where an earlier process stopped
// reading.
type Positioned interface {
	Stream
	// Position describes the place after the rows that Next has returned so far. Opening
	// the stream again with that position in Input.Position continues with the next row.
	// The position is nil if the stream cannot do that at this place. It belongs to the
	// caller. If the source is changed between the two, Open returns a SourceChangedError.
	Position() (*value.Object, error)
}

// PositionOf returns the position of a stream that implements Positioned, and nil for any
// other.
func PositionOf(s Stream) (*value.Object, error) {
	if p, ok := s.(Positioned); ok {
		return p.Position()
	}
	return nil, nil
}

// SourceChangedError reports that a source no longer has the rows that the run has read from
// it, so that the run cannot continue after them.
type SourceChangedError struct {
	// Node is the path of the node that reads the source, and Source the name of the file
	// or database.
	Node, Source string
	// Reason says how the change was noticed.
	Reason string
}

// CodeSourceChanged is the code in the message of a SourceChangedError.
const CodeSourceChanged = "RESUME_SOURCE_CHANGED"

// Error names the source and the node.
func (e *SourceChangedError) Error() string {
	return e.Source + " has changed since node " + e.Node + " read it: " + e.Reason + " [" + CodeSourceChanged + "]"
}

// ErrReadTwice is the error of a source that reads standard input in a resumed run. Only the
// process that began the run could read it.
var ErrReadTwice = errors.New("standard input cannot be read twice: the process that began the run has read it")

// ErrNotStored is returned by Input.Checkpoint if the run is not stored.
var ErrNotStored = errors.New("the run is not stored, so there are no checkpoints")

// Durable reports whether the run is stored, so that the execution may be repeated in
// another process with the same IdempotencyKey. It is false without a store.
func (in Input) Durable() bool { return in.shared().Durability != nil }

// Checkpoint records how far this execution has come. A handler calls it after its own
// commit of what the position describes. It returns once the position is recorded: if the
// process then crashes, the handler that repeats the execution gets the position from
// Checkpointed. An error means that nothing may be relied on, and the handler returns it.
// Checkpoint returns ErrNotStored unless Durable reports true.
func (in Input) Checkpoint(ctx context.Context, position *value.Object) error {
	d := in.shared().Durability
	if d == nil || d.Checkpoint == nil {
		return ErrNotStored
	}
	return d.Checkpoint(ctx, in, position)
}

// Checkpointed returns the last position that an earlier process recorded for the
// idempotency key of this execution, or nil if there is none. It must not be changed.
func (in Input) Checkpointed() *value.Object {
	if d := in.shared().Durability; d != nil && d.Checkpointed != nil {
		return d.Checkpointed(in)
	}
	return nil
}

// Position returns the position at which the stream that is being opened begins, or nil if
// it begins at its first row; see Positioned. It is nil outside of StreamSource.Open. A
// source whose streams are not Positioned ignores it.
func (in Input) Position() *value.Object {
	if d := in.shared().Durability; d != nil {
		return d.Position
	}
	return nil
}

// MayCommit returns an error if the attempt must not make changes outside of the run: it
// has logged a warning in a strict run, or another process has taken over the stored run. A
// handler that makes such changes, such as replacing a file or storing rows in a table,
// calls it right before each commit and returns the error.
func (in Input) MayCommit() error {
	s := in.shared()
	if s.Logs != nil && s.Logs.Warned != nil {
		if err := s.Logs.Warned(); err != nil {
			return err
		}
	}
	if s.Durability != nil && s.Durability.Owned != nil {
		return s.Durability.Owned()
	}
	return nil
}
