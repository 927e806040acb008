package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Recorded is what a stored run keeps of the plan that it was started with, so that it can be
// compared with the plan of a changed workflow.
type Recorded struct {
	// Plan is the fingerprint of the plan.
	Plan string
	// Parts are the fingerprints of nodes, pipelines and loops by path, including the parts of
	// nested workflows: "outer/inner".
	Parts map[string]PartFingerprint
	// Fields describe the types of the fields of the state by path, such as "total" or
	// "outer/total": a word, and a hash if the type has details.
	Fields map[string]string
}

// Recorded returns what a run of the plan keeps of it. It costs about as much as Fingerprint.
func (p *Plan) Recorded() Recorded {
	x := newPrinter()
	r := Recorded{Plan: x.plan(p), Parts: map[string]PartFingerprint{}, Fields: map[string]string{}}
	x.record(p, "", &r)
	return r
}

func (x *printer) record(p *Plan, prefix string, r *Recorded) {
	parts := x.parts(p)
	for i := range parts {
		r.Parts[prefix+parts[i].id] = parts[i].print()
	}
	for i := range p.Schema.Fields {
		f := &p.Schema.Fields[i]
		r.Fields[prefix+f.Name] = typeWord(f.Type)
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Frame != nil {
			x.record(n.Frame.Plan, prefix+n.ID+"/", r)
		}
	}
}

// HasPart reports whether the plan has a node, pipeline or loop with a path as in Recorded. A path with
// the index of an item, such as "outer[3]/save", is none.
func (p *Plan) HasPart(path string) bool {
	frame, id := CutPath(path)
	if frame != PartPath(frame) {
		return false
	}
	at, err := p.At(frame)
	if err != nil {
		return false
	}
	if _, ok := at.Node(id); ok {
		return true
	}
	return slices.ContainsFunc(at.Vertices, func(v Vertex) bool { return v.Unit != nil && v.Unit.ID == id })
}

// typeWord describes a type: the word that documents use, and a hash of its details.
func typeWord(t *value.Type) string {
	if t == nil {
		return "any"
	}
	if t.Items == nil && t.Enum == nil && t.Ref == "" && t.Properties == nil && t.Required == nil {
		return t.Kind.String()
	}
	return t.Kind.String() + " " + digest(typePrint(t))[:8]
}

// PartPath returns the path of a part in Recorded for the path of a node in events and journals,
// which has the indexes of items: "outer/save" for "outer[3]/save".
func PartPath(node string) string {
	if !strings.Contains(node, "[") {
		return node
	}
	steps := strings.Split(node, "/")
	for i, s := range steps {
		if at := strings.LastIndexByte(s, '['); at >= 0 && strings.HasSuffix(s, "]") {
			steps[i] = s[:at]
		}
	}
	return strings.Join(steps, "/")
}

// Change says how a part of a workflow has changed.
type Change uint8

// Changes of parts.
const (
	Same      Change = iota
	HowDiffer        // it computes the same and is executed differently: retries, timeout, limits, priority
	Differ           // it computes something else
	Added            // it is new
	Removed          // it is gone
)

// String returns the word for the change.
func (c Change) String() string {
	switch c {
	case Same:
		return "same"
	case HowDiffer:
		return "executed differently"
	case Differ:
		return "changed"
	case Added:
		return "new"
	default:
		return "removed"
	}
}

// PartChange is a part of a workflow and its change.
type PartChange struct {
	Path   string
	Change Change
	// Members names what differs in a part that computes something else, such as "run" and
	// "edge load -> price". It is empty for the other changes, and if the names are not known.
	Members []string
	// Pos is the place of the part in the changed workflow. If it was removed, it has only the
	// name of the document.
	Pos source.Position

	subject string // such as "node price"
}

// FieldChange is a field of the state that is gone or has another type.
type FieldChange struct {
	Path string
	Pos  source.Position // as in PartChange
	// Then is the earlier type of the field. Now is its current type, or "" if the field no longer
	// exists.
	Then, Now string
}

// Changes is the difference between the workflow that a run was started with and the one of now.
type Changes struct {
	// Parts are all nodes, pipelines and loops of both plans: first the current parts in canonical
	// order, with the parts of a nested workflow after its node, then the removed parts by path.
	Parts []PartChange
	// Fields are the fields that were removed or have another type. New fields, merges and defaults
	// do not affect a run, so they are not listed.
	Fields []FieldChange
}

// Since compares the plan with the plan with which a run was started. Parts are compared by path: a
// node with a nested workflow is the same if only parts of that workflow have changed.
func (p *Plan) Since(then Recorded) *Changes {
	c := &Changes{}
	now := p.Recorded()
	c.parts(p, "", then.Parts, now.Parts)
	file := source.Position{File: p.Workflow.Pos.File}
	for _, path := range slices.Sorted(maps.Keys(then.Parts)) {
		if _, ok := now.Parts[path]; !ok {
			c.Parts = append(c.Parts, PartChange{Path: path, Change: Removed, Pos: file, subject: path})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(then.Fields)) {
		if before, after := then.Fields[path], now.Fields[path]; before != after {
			c.Fields = append(c.Fields, FieldChange{Path: path, Pos: fieldPos(p, path, file), Then: before, Now: after})
		}
	}
	return c
}

// parts compares the parts of a plan and of the workflows nested in it.
func (c *Changes) parts(p *Plan, prefix string, then, now map[string]PartFingerprint) {
	add := func(what, id string, pos source.Position) {
		path := prefix + id
		pc := PartChange{Path: path, Pos: pos, subject: what + " " + path}
		before, known := then[path]
		pc.Change, pc.Members = changeOf(before, now[path], known)
		c.Parts = append(c.Parts, pc)
	}
	node := func(i int32) {
		n := &p.Nodes[i]
		add("node", n.ID, n.Decl.Pos)
		if n.Frame != nil {
			c.parts(n.Frame.Plan, prefix+n.ID+"/", then, now)
		}
	}
	for i := range p.Vertices {
		switch v := &p.Vertices[i]; {
		case v.Unit == nil:
			node(v.Node)
		default:
			if !p.Mode.Visits {
				what, pos := unitPlace(p, v.Unit)
				add(what, v.ID, pos)
			}
			for _, m := range v.Unit.Members {
				node(m)
			}
		}
	}
}

// changeOf compares the fingerprints of a part.
func changeOf(then, now PartFingerprint, known bool) (Change, []string) {
	a, b := cmp.Or(then.Own, then.What), cmp.Or(now.Own, now.What)
	switch {
	case !known:
		return Added, nil
	case a != b:
		return Differ, differingMembers(then.Members, now.Members)
	case then.How != now.How:
		return HowDiffer, nil
	}
	return Same, nil
}

// unitPlace returns what a unit is called and where it is declared.
func unitPlace(p *Plan, u *Unit) (what string, pos source.Position) {
	for _, d := range p.Workflow.Pipelines {
		if d.ID.Value == u.ID {
			return "pipeline", d.Pos
		}
	}
	for _, d := range p.Workflow.Loops {
		if d.ID.Value == u.ID {
			return "loop", d.Pos
		}
	}
	return "unit", source.Position{}
}

// fieldPos returns the place of a field, or other if it has none.
func fieldPos(p *Plan, path string, other source.Position) source.Position {
	if outer, rest, nested := strings.Cut(path, "/"); nested {
		if n, ok := p.Node(outer); ok && n.Frame != nil {
			return fieldPos(n.Frame.Plan, rest, other)
		}
		return other
	}
	for _, f := range p.Workflow.Fields {
		if f.Name.Value == path {
			return f.Pos
		}
	}
	for _, in := range p.Workflow.Inputs {
		if in.Name.Value == path {
			return in.Pos
		}
	}
	return other
}

// Adopted returns the parts with a change that a run adopts: parts that are executed differently,
// and parts that are new, changed or removed and have not started. started reports, by path, whether
// there are records of a part. Parts of a nested workflow that is itself new or removed are left
// out.
func (c *Changes) Adopted(started func(path string) bool) []PartChange {
	var list []PartChange
	whole := map[string]bool{} // parts that are new or removed with all that is nested in them
	for _, pc := range c.Parts {
		if pc.Change == Added || pc.Change == Removed {
			whole[pc.Path] = true
		}
		if pc.Change == HowDiffer || pc.Change != Same && !started(pc.Path) && !within(whole, pc.Path) {
			list = append(list, pc)
		}
	}
	return list
}

// Conflicts returns what prevents a run from continuing with the changed workflow, as errors in the
// order of Changes: parts that have started and have changed or are gone, and fields that have a
// value and are gone or have another type. started reports whether anything of a part was recorded,
// hasValue whether a field has a value, both by path. Parts of a nested workflow whose node is a
// conflict itself are left out.
func (c *Changes) Conflicts(started, hasValue func(path string) bool) source.Diagnostics {
	var ds source.Diagnostics
	reported := map[string]bool{}
	for _, pc := range c.Parts {
		if pc.Change != Differ && pc.Change != Removed || !started(pc.Path) {
			continue
		}
		if within(reported, pc.Path) {
			continue
		}
		reported[pc.Path] = true
		text := fmt.Sprintf("%s has run and has changed", pc.subject)
		switch {
		case pc.Change == Removed:
			text = fmt.Sprintf("node %s has run and is no longer in the workflow", pc.Path)
		case len(pc.Members) > 0:
			text += ": " + strings.Join(pc.Members, ", ")
		}
		ds.Errorf(source.CodeResumeChanged, pc.Pos, "%s", text).Node = pc.Path
	}
	for _, f := range c.Fields {
		if !hasValue(f.Path) {
			continue
		}
		then, _, _ := strings.Cut(f.Then, " ")
		now, _, _ := strings.Cut(f.Now, " ")
		switch {
		case f.Now == "":
			ds.Errorf(source.CodeResumeState, f.Pos, "field %s has a value and is no longer in the state", f.Path)
		case then == now:
			ds.Errorf(source.CodeResumeState, f.Pos, "field %s has a value and another type: %s, which has changed", f.Path, now)
		default:
			ds.Errorf(source.CodeResumeState, f.Pos, "field %s has a value and another type: %s, which was %s", f.Path, now, then)
		}
	}
	return ds
}

// within reports whether a part is nested in one of the set.
func within(set map[string]bool, path string) bool {
	for i := range len(path) {
		if path[i] == '/' && set[path[:i]] {
			return true
		}
	}
	return false
}
