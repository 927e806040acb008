package files

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"path/filepath"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/leftover"
)

// Temp names the temporary files of one attempt. The zero Temp is for files that no run
// writes.
//
// In a stored run, the name follows from the run, the idempotency key, the attempt and the
// target, so that the attempt finds and replaces its own leftover after a crash. The name
// depends on the attempt because a handler that has ignored a timeout may still be writing
// when the next attempt begins. In other runs names are random.
type Temp struct {
	in      core.Input
	durable bool
}

// TempOf returns the names of the temporary files of an attempt.
func TempOf(in core.Input) Temp { return Temp{in, in.Durable()} }

// name returns the name of the temporary file for a file. Names begin with a dot and end in
// .tmp, so that datasets ignore them.
func (t Temp) name(file string) string {
	prefix := ".wavefold-"
	if run := t.in.Run(); run != "" {
		prefix += shortRun(run) + "-"
	}
	if !t.durable {
		return prefix + rand.Text() + ".tmp"
	}
	return prefix + t.sum(file) + ".tmp"
}

// sum identifies a temporary file in a stored run, in 26 letters and digits.
func (t Temp) sum(file string) string {
	h := sha256.New()
	for _, part := range []string{t.in.IdempotencyKey(), filepath.ToSlash(filepath.Clean(file))} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(t.in.Attempt())))
	return base32.StdEncoding.EncodeToString(h.Sum(nil))[:26]
}

// maxRunName is the maximum length of a run id that is used unchanged in file names.
const maxRunName = 64

// shortRun returns the run's id, or a hash of it if it cannot be a part of a file name.
func shortRun(run string) string {
	safe := len(run) <= maxRunName
	for i := 0; i < len(run) && safe; i++ {
		c := run[i]
		safe = c == '-' || c == '_' || c == '.' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	if safe {
		return run
	}
	sum := sha256.Sum256([]byte(run))
	return base32.StdEncoding.EncodeToString(sum[:])[:26]
}

// note records that a temporary file is about to be created in dir; see leftover.Note.
func (t Temp) note(dir, temp, file string) (forget func(), err error) {
	if !t.durable {
		return func() {}, nil
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	f := leftover.File{Path: filepath.Join(dir, temp), Key: t.in.IdempotencyKey()}
	return leftover.Note(t.in.Shared().Durability.Folder, t.sum(file), f)
}

// owned returns an error if another process has taken over the run.
func (t Temp) owned() error {
	if !t.durable {
		return nil
	}
	if owned := t.in.Shared().Durability.Owned; owned != nil {
		return owned()
	}
	return nil
}
