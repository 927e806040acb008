// Package crashpoint lets a test end its process at an exact moment of writing a journal. Programs
// leave it alone.
package crashpoint

import "io"

// File is a journal that is being written.
type File interface {
	io.WriteCloser
	Sync() error // flushes what was written
	Name() string
}

// Wrap replaces the journals that a store opens for writing. It is nil except in tests, which set it
// before a store is opened.
var Wrap func(File) File
