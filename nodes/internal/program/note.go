package program

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/wavefold/wavefold/core"
)

// Notes returns the folder of Command.Notes for an attempt: it is "" unless the run is
// stored on this host.
func Notes(in core.Input) string {
	if d := in.Shared().Durability; d != nil && d.Folder != "" {
		return filepath.Join(d.Folder, "pids")
	}
	return ""
}

// Keep returns Command.Keep for an attempt: it is nil unless the run is stored.
func Keep(in core.Input) func(stream string) io.WriteCloser {
	d := in.Shared().Durability
	if d == nil || d.Output == nil {
		return nil
	}
	return func(stream string) io.WriteCloser { return d.Output(in, stream) }
}

// note is about a running program: it names the process group, so that the process that repeats
// the work after a crash can kill the group. On Linux and Unix the group is killed
// with its engine in almost all cases; the note is for the rest, such as a machine where the
// watcher was killed too. The notes of all programs that run at a time are in one file for each
// folder: making and removing a file for each takes a tenth of the time of a short program. Errors are ignored,
// because notes only help after a crash.
type note struct {
	book *book // nil for no note
	mark string
}

// noted is the content of a note: the execution, the leader of the group, and the process that
// runs the engine.
type noted struct {
	Mark   string   `json:"mark"`
	Child  identity `json:"child"`
	Engine identity `json:"engine"`
}

// identity identifies a process. Start and Boot distinguish it from a later one with the same
// id.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
	Boot  string `json:"boot"`
}

// note returns the note of a program that is about to be started. It must be closed.
func (c Command) note() note {
	if c.Notes == "" || c.Mark == "" {
		return note{}
	}
	return note{openBook(c.Notes), shortMark(c.Mark)}
}

// shortMark returns the mark in a note, which has a limited size.
func shortMark(mark string) string {
	sum := sha256.Sum256([]byte(mark))
	return hex.EncodeToString(sum[:16])
}

func (n note) close() {
	if n.book != nil {
		n.book.close()
	}
}

// write writes the note about a child. The returned function removes it.
func (n note) write(child identity) (remove func()) {
	if n.book == nil {
		return func() {}
	}
	return n.book.write(noted{n.mark, child, engine()})
}

// engine identifies this process.
var engine = sync.OnceValue(func() identity { return identify(os.Getpid()) })

// killLeftover kills the group of a note that a dead engine has left, waits for its end and
// removes the note.
func (n note) killLeftover() {
	if n.book == nil {
		return
	}
	if left, ok := n.book.leftover(n.mark); ok && !left.Engine.alive() {
		left.Child.killGroup()
		n.book.forget(n.mark)
	}
}
