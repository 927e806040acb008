package core

import (
	"fmt"
	"strings"
	"time"
)

// DurabilityMode says how much of a stored run survives a crash of its process or of the machine.
// Runs without a store have none.
type DurabilityMode string

// Modes of durability. DurabilityBatch is the default of a run with a store.
const (
	// DurabilityFull lets nothing begin, and shows no event, before what led to it is on the disk.
	DurabilityFull DurabilityMode = "full"
	// DurabilityBatch writes what has happened at once and flushes it to the disk every ten
	// milliseconds. Nodes with effects begin only after what led to them is on the disk, and
	// their results are flushed at once.
	DurabilityBatch DurabilityMode = "batch"
	// DurabilityOff stores that the run took place and how it ended. It cannot be resumed.
	DurabilityOff DurabilityMode = "off"
)

// DurabilityModes lists all modes.
func DurabilityModes() []DurabilityMode {
	return []DurabilityMode{DurabilityFull, DurabilityBatch, DurabilityOff}
}

// PendingQuestion is a question that waits for an answer from outside the process.
type PendingQuestion struct {
	Question
	// Generation is 2 or more if the question was asked before and is asked again, because a resumed run
	// runs its node again or the question has changed.
	Generation int       `json:"generation,omitempty"`
	Asked      time.Time `json:"asked"`
	// Deadline is the time after which the gate takes its default or fails. It is zero if the
	// question waits without a limit.
	Deadline time.Time `json:"deadline,omitzero"`
}

// PausedError is the error of a run that has ended because only people can continue it: nothing
// runs, no timer is set, and there is no interviewer. The run is stored and can be resumed after
// one of the questions was answered.
type PausedError struct {
	Run       string
	Questions []PendingQuestion
	// Queued are the approvals of flows that are asked later, one at a time, in order.
	Queued []Question
}

// Error names the nodes that wait.
func (e *PausedError) Error() string {
	names := make([]string, len(e.Questions))
	for i, q := range e.Questions {
		names[i] = q.Node
	}
	return fmt.Sprintf("run %s waits for an answer at %s", e.Run, strings.Join(names, ", "))
}

// StoreError is the error of a run whose journal could not be written. The run has been
// cancelled, because nothing may happen that is not recorded.
type StoreError struct{ Err error }

// Error returns the error of the store, which names the file.
func (e *StoreError) Error() string { return "the run could not be stored: " + e.Err.Error() }

// Unwrap returns the error of the store.
func (e *StoreError) Unwrap() error { return e.Err }
