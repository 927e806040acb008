package core

import "fmt"

// Overlap says what a run does while another run in its store has its concurrency key.
type Overlap string

// What a run does while another one has its key. OverlapQueue is the default.
const (
	OverlapQueue          Overlap = "queue"           // wait until the other one has ended
	OverlapSkip           Overlap = "skip"            // do not begin; that is not a failure
	OverlapFail           Overlap = "fail"            // do not begin
	OverlapCancelPrevious Overlap = "cancel_previous" // cancel the other one, and wait until it has ended
)

// Overlaps lists all values.
func Overlaps() []Overlap {
	return []Overlap{OverlapQueue, OverlapSkip, OverlapFail, OverlapCancelPrevious}
}

// OverlapError is the error of a run that did not begin because another run has its concurrency key.
type OverlapError struct {
	Key     string
	Overlap Overlap // OverlapSkip, OverlapFail, or OverlapCancelPrevious if a later run came first
	Run     string  // the run that has the key
	Holder  string  // its process: USER@HOST pid N
	Before  int     // the number of runs that wait for the key before this one
}

// Error names the key and the run that has it.
func (e *OverlapError) Error() string {
	text := fmt.Sprintf("run %s has the concurrency key %q (%s)", e.Run, e.Key, e.Holder)
	switch {
	case e.Before == 1:
		text += ", and one run waits for it"
	case e.Before > 1:
		text += fmt.Sprintf(", and %d runs wait for it", e.Before)
	}
	return text
}
