// Package parsed stores the parsed form of a document: the Workflow that a format has read from it. Decoding
// it is many times faster than parsing the document again, and a program that looks back on a stored
// run needs the workflow each time.
//
// The form depends on the Go types of a Workflow. It is only read by programs that have the same types, see
// Form; other programs parse the document.
package parsed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// Form encodes and decodes workflows. It is safe for concurrent use.
type Form struct {
	header [8]byte
	root   codec
}

// New returns the form of workflows. Forms with different salts do not decode each other's data: salt stands
// for what the meaning of a document depends on besides its text, such as the kinds of nodes.
func New(salt string) (*Form, error) {
	b := newBuilder(salt)
	root, err := b.of(reflect.TypeFor[core.Workflow]())
	if err != nil {
		return nil, err
	}
	f := &Form{root: root}
	copy(f.header[:], b.types.Sum(nil))
	return f, nil
}

// Key returns the name of the form of a document with a content.
func (f *Form) Key(document []byte) string {
	sum := sha256.New()
	sum.Write(f.header[:])
	sum.Write(document)
	return hex.EncodeToString(sum.Sum(nil))
}

// errOther is the error for data in another form.
var errOther = errors.New("the parsed form is that of another version")

// Encode returns the parsed form of a document. file is the name in the positions of the workflow, which is
// not part of the form, and neither is the folder of the workflow. The error says what has no form, such as a Go function.
func (f *Form) Encode(w *core.Workflow, file string) ([]byte, error) {
	e := &encoder{file: file, index: map[string]uint64{}}
	anywhere := *w
	anywhere.Dir = ""
	f.root.encode(e, reflect.ValueOf(&anywhere).Elem())
	if e.err != nil {
		return nil, e.err
	}
	out := append(make([]byte, 0, len(e.buf)+len(e.text)+32+2*len(e.lengths)), f.header[:]...)
	out = binary.AppendUvarint(out, uint64(len(e.lengths)))
	for _, n := range e.lengths {
		out = binary.AppendUvarint(out, uint64(n))
	}
	return append(append(out, e.text...), e.buf...), nil
}

// Decode returns the workflow of a parsed form. file is the name of the document in its positions.
func (f *Form) Decode(data []byte, file string) (*core.Workflow, error) {
	if len(data) < len(f.header) || [8]byte(data) != f.header {
		return nil, errOther
	}
	d := &decoder{buf: data[len(f.header):], file: file}
	d.readStrings()
	w := &core.Workflow{}
	if f.root.decode(d, reflect.ValueOf(w).Elem()); d.err != nil {
		return nil, d.err
	}
	if len(d.buf) > 0 {
		return nil, errDamaged
	}
	return w, nil
}
