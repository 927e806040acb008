package store

import "io"

// Attacher is implemented by stores that keep files next to the journals of runs: what programs
// printed, and records of logs. They may be incomplete after a crash. They are removed with the
// run. All methods are safe for concurrent use.
//
// The name of a file consists of words that are separated by slashes.
type Attacher interface {
	// Attach opens a file of a run for appending, and creates it if it does not exist. Readers see written
	// data within a second. A file has one writer at a time. The error is ErrNotFound if the run does not
	// exist.
	Attach(run, name string) (io.WriteCloser, error)

	// Detach removes a file of a run, if there is one.
	Detach(run, name string) error

	// Attached opens a file of a run for reading. The error is ErrNotFound if the file does not
	// exist.
	Attached(run, name string) (io.ReadCloser, error)

	// Attachments returns the names of the files whose first words are folder, without these words, sorted.
	Attachments(run, folder string) ([]string, error)
}

// Names of the files that runs have.
const (
	LogFile      = "log.ndjson" // log records and progress
	OutputFolder = "output"     // the first word of the names of files with the output of programs
)
