package program

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

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

// note is a file that names the process group of a running program, so that the process that
// repeats its work after a crash can kill the group. On Linux and Unix the group is killed
// with its engine in almost all cases; the note is for the rest, such as a machine where the
// watcher was killed too. path is "" for no note.
type note struct{ path string }

// noted is the content of a note: the leader of the group, and the process that runs the
// engine.
type noted struct {
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

func (c Command) note() note {
	if c.Notes == "" || c.Mark == "" {
		return note{}
	}
	sum := sha256.Sum256([]byte(c.Mark))
	return note{filepath.Join(c.Notes, hex.EncodeToString(sum[:16]))}
}

// write writes the note. The returned function removes it. Errors are ignored, because the
// note only helps after a crash.
func (n note) write(pid int) (remove func()) {
	if n.path == "" {
		return func() {}
	}
	if text, err := json.Marshal(noted{identify(pid), identify(os.Getpid())}); err == nil && os.MkdirAll(filepath.Dir(n.path), 0o700) == nil {
		_ = os.WriteFile(n.path, text, 0o600)
	}
	return func() { _ = os.Remove(n.path) }
}

// killLeftover kills the group of a note that a dead engine has left, waits for its end and
// removes the note. A living engine may be this process, in which a model may call the same
// tool twice at a time.
func (n note) killLeftover() {
	if n.path == "" {
		return
	}
	text, err := os.ReadFile(n.path)
	if err != nil {
		return
	}
	var left noted
	if json.Unmarshal(text, &left) != nil || left.Child.PID <= 1 || left.Engine.alive() {
		return
	}
	left.Child.killGroup()
	_ = os.Remove(n.path)
}
