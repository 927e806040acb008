package wavefold

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/parsed"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store"
)

// keptFrom is the size in bytes from which a store keeps the parsed form of a document. Smaller ones are
// parsed in less time than it takes to read another file.
const keptFrom = 64 << 10

// LookingBack returns a copy of the engine that need not parse a large document again, if the store has its parsed form
// from an earlier run of a program with the same types and kinds. It is for programs that show what runs have done: a
// plan that is executed should come from the document.
func (e *Engine) LookingBack(ctx context.Context, s store.Store) *Engine {
	c := *e
	c.forms = func(key string) []byte { return scheduler.ParsedForm(ctx, s, key) }
	return &c
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

// parsedBefore returns the workflow of a document of which there is a parsed form, nil if there is none.
func (e *Engine) parsedBefore(name string, data []byte) *core.Workflow {
	if e.forms == nil || name == "" || len(data) < keptFrom {
		return nil
	}
	form := e.parsedForm()
	if form == nil {
		return nil
	}
	w, err := form.Decode(e.forms(form.Key(data)), name)
	if err != nil {
		return nil // it is parsed
	}
	w.Dir = filepath.Dir(name)
	return w
}

// keepParsed adds the parsed form of a document to the files that are recorded. A workflow that has none, such as one
// with a condition of a walk by outcomes, is parsed each time.
func (e *Engine) keepParsed(name string, data []byte, w *core.Workflow) {
	if e.origin == nil || e.origin.record == nil || name == "" || len(data) < keptFrom || w == nil {
		return
	}
	form := e.parsedForm()
	if form == nil {
		return
	}
	if encoded, err := form.Encode(w, name); err == nil {
		e.origin.record.setParsed(e.origin.path(filepath.Split(name)), encoded, form.Key(data))
	}
}

func (s *Sources) setParsed(path string, data []byte, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.files {
		if f := &s.files[i]; f.Path == path {
			f.Parsed, f.ParsedKey = data, key
		}
	}
}
