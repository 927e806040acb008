// Package convert writes a walk in another notation.
package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/dot"
	"github.com/wavefold/wavefold/formats/internal/unwritten"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/formats/sweny"
)

// Notations.
const (
	Native = "native"
	DOT    = "dot"
	SWEny  = "sweny"
)

// Notations returns the names of all notations.
func Notations() []string { return []string{Native, DOT, SWEny} }

// write writes what a notation can express, and returns what it cannot.
func write(w *core.Workflow, to string) ([]byte, unwritten.List, error) {
	switch to {
	case DOT:
		out, left := dot.WritePart(w)
		return out, left, nil
	case SWEny:
		return sweny.WritePart(w)
	}
	return native.WritePart(w)
}

// Expresses returns the notations that can express walks of a router.
func Expresses(router string) []string {
	switch router {
	case "", core.RouterOutcomes:
		return []string{Native, DOT}
	case core.RouterModel:
		return []string{Native, SWEny}
	}
	return []string{Native}
}

// Extension returns the end of the names of files in a notation.
func Extension(notation string) string {
	if notation == DOT {
		return ".dot"
	}
	return ".yaml"
}

// Convert returns a walk in another notation. read parses a document in that notation, in
// the folder of the original. The findings are everything that has no counterpart; if there
// are any, there is no document.
//
// A document is read again and compared with the walk, so that nothing is lost because a
// writer does not know it.
func Convert(w *core.Workflow, to string, read func([]byte) (*core.Workflow, source.Diagnostics)) ([]byte, source.Diagnostics) {
	var ds source.Diagnostics
	if err := expressible(w, to); err != nil {
		return nil, source.Diagnostics{*err}
	}
	out, left, err := write(w, to)
	if err != nil {
		ds.Errorf(source.CodeNotation, w.Pos, "workflow %s: %v", w.Name.Value, err)
		return nil, ds
	}
	named := map[string]bool{}
	back, found := read(out)
	if back != nil && back.Mode == w.Mode {
		for _, l := range lost(w, back) {
			named[l.subject] = true
			d := ds.Errorf(source.CodeNotation, l.pos, "%s: %s: %s", l.subject, l.what, l.why(to))
			if l.what == inlineChild {
				d.WithHint("write it in a file of its own, and name that file (in DOT: stack.child_workflow)")
			}
		}
	}
	for _, l := range left {
		if subject, _, _ := strings.Cut(l.Message, ":"); !named[subject] {
			ds = append(ds, l)
		}
	}
	if len(ds) == 0 && (back == nil || found.Failed(false)) {
		ds.Errorf(source.CodeNotation, w.Pos, "workflow %s: the document in %s would not be valid: %v", w.Name.Value, title(to), found.Err(false))
	}
	if ds = ds.Sorted(); len(ds) > 0 {
		return nil, ds
	}
	return out, nil
}

// expressible reports a workflow that a notation cannot express as a whole.
func expressible(w *core.Workflow, to string) *source.Diagnostic {
	var ds source.Diagnostics
	if w.Mode != core.ModeWalk {
		mode := w.Mode
		if mode == "" {
			mode = core.ModeDAG
		}
		which := "graphs of this mode exist in the native notation only"
		if mode == core.ModeFlow {
			which = "graphs of this mode exist in the files of visual builders only"
		}
		return ds.Errorf(source.CodeNotation, w.Pos, "workflow %s: it is a %s, and only walks can be converted", w.Name.Value, mode).WithHint("%s", which)
	}
	router := ""
	if w.Walk != nil {
		router = w.Walk.Router.Value
	}
	if router == "" {
		router = core.RouterOutcomes
	}
	can := Expresses(router)
	pos := w.Pos
	switch {
	case notationOf(w) == to:
		return ds.Errorf(source.CodeNotation, pos, "workflow %s: it is in %s already", w.Name.Value, title(to))
	case slices.Contains(can, to):
		return nil
	case w.Walk != nil && w.Walk.Router.Pos.IsValid():
		pos = w.Walk.Router.Pos
	}
	return ds.Errorf(source.CodeNotation, pos, "workflow %s: a walk with router: %s cannot be written in %s", w.Name.Value, router, title(to)).
		WithHint("notations of this router: %s", strings.Join(can, ", "))
}

// notationOf returns the notation that a walk was read from.
func notationOf(w *core.Workflow) string {
	switch {
	case dot.Holds(w):
		return DOT
	case w.Codes != nil:
		return SWEny
	}
	return Native
}

// title returns the name of a notation in a sentence.
func title(notation string) string {
	switch notation {
	case DOT:
		return "DOT"
	case SWEny:
		return "the notation of SWEny"
	}
	return "the native notation"
}

// inlineChild names a sub-workflow that is written in an attribute of its node.
const inlineChild = "its workflow, which is part of the document"

// loss is a part of a walk that the other notation has not kept.
type loss struct {
	subject, what string
	pos           source.Position
	got           string // the value in the other notation, or "" if there is none
	extra         bool   // the walk has no such value
}

func (l loss) why(to string) string {
	if l.got == "" {
		return "it has no counterpart in " + title(to)
	}
	return fmt.Sprintf("in %s it would be %s", title(to), l.got)
}
