package wavefold

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/parsed"
)

// keptFrom is the size in bytes from which the parsed form of a document is stored beside it. Smaller ones are
// parsed in less time than it takes to read another file.
const keptFrom = 64 << 10

// parsedDocument is a document that was parsed.
type parsedDocument struct {
	path, name string // in Sources, and as it was given to Parse
	form       *parsed.Form
	workflow   *core.Workflow
}

// parsedForm returns the form of the workflows that the engine reads, nil if there is none.
func (e *Engine) parsedForm() *parsed.Form {
	var kinds strings.Builder
	for _, name := range e.reg.KindNames() { // the keys of a node depend on its kind
		if k, ok := e.reg.Kind(name); ok {
			kinds.WriteString(name + " " + strings.Join(k.Keys(), ",") + ";")
		}
	}
	form, err := parsed.New(kinds.String())
	if err != nil {
		return nil
	}
	return form
}

// parsedBefore returns the workflow of a document that the origin of the engine has in parsed form, nil if it has
// none.
func (e *Engine) parsedBefore(name string, data []byte) *core.Workflow {
	if e.origin == nil || name == "" || len(data) < keptFrom {
		return nil
	}
	path := e.origin.path(filepath.Split(name))
	for i := range e.origin.files {
		f := &e.origin.files[i]
		if f.Path != path || len(f.Parsed) == 0 || !bytes.Equal(f.Data, data) {
			continue
		}
		form := e.parsedForm()
		if form == nil {
			return nil
		}
		w, err := form.Decode(f.Parsed, name)
		if err != nil {
			return nil // it is parsed
		}
		w.Dir = filepath.Dir(name)
		if e.origin.record != nil {
			e.origin.record.setParsed(path, f.Parsed)
		}
		return w
	}
	return nil
}

// keepParsed keeps the workflow of a document for the files that are recorded.
func (e *Engine) keepParsed(name string, data []byte, w *core.Workflow) {
	if e.origin == nil || e.origin.record == nil || name == "" || len(data) < keptFrom || w == nil {
		return
	}
	form := e.parsedForm()
	if form == nil {
		return
	}
	s := e.origin.record
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parsed = append(s.parsed, parsedDocument{e.origin.path(filepath.Split(name)), name, form, w})
}

// encodeParsed adds the parsed forms to the files. A workflow that has none, such as one with a condition of a walk
// by outcomes, is parsed each time.
func (s *Sources) encodeParsed() {
	for _, d := range s.parsed {
		if data, err := d.form.Encode(d.workflow, d.name); err == nil {
			s.set(d.path, data)
		}
	}
	s.parsed = nil
}

func (s *Sources) setParsed(path string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(path, data)
}

func (s *Sources) set(path string, data []byte) {
	for i := range s.files {
		if f := &s.files[i]; f.Path == path {
			f.Parsed = data
		}
	}
}
