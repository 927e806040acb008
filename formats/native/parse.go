package native

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Options describe the kinds of nodes to Parse. The zero Options accept every kind with
// any keys.
type Options struct {
	// Kinds returns the configuration keys of a kind. ok is false if the kind does not
	// exist; its keys are then not checked. If Kinds is nil, every kind accepts any
	// keys.
	Kinds func(kind string) (keys []string, ok bool)
}

// OptionsFor returns the options for the kinds of a registry.
func OptionsFor(r *core.Registry) Options {
	return Options{
		Kinds: func(name string) ([]string, bool) {
			k, ok := r.Kind(name)
			if !ok {
				return nil, false
			}
			return k.Keys(), true
		},
	}
}

// Parse parses a workflow file. file is used in positions and is not opened; its folder
// becomes the workflow's Dir. Parse returns all findings about the document's shape at
// once, in the order of the document. The workflow is nil if the document cannot be
// parsed at all. If its shape has errors, it holds what could be parsed and all
// findings, so that compiling it reports every error in the document.
func Parse(file string, data []byte, opts Options) (*core.Workflow, source.Diagnostics) {
	tree, ds := document.Parse(file, data)
	return FromTree(file, tree, ds, opts)
}

// FromTree is Parse for a document that has already been parsed into a tree, with the
// findings of that step. It uses the tree up, see source.Consume.
func FromTree(file string, tree *source.Value, found source.Diagnostics, opts Options) (*core.Workflow, source.Diagnostics) {
	p := &parser{opts: opts, ds: found}
	w, ok := p.document(tree)
	if !ok {
		return nil, p.ds.Capped()
	}
	if file != "" {
		w.Dir = filepath.Dir(file)
	}
	w.Findings = p.ds
	return w, p.ds.Capped()
}

// document decodes a document in the form of its mode and router. ok is false if the
// document is not a mapping.
func (p *parser) document(tree *source.Value) (w *core.Workflow, ok bool) {
	switch formOf(tree) {
	case formSteps:
		return readWalk(p, tree, p.stepsWalk)
	case formOutcomes:
		return readWalk(p, tree, p.outcomesWalk)
	case formModel:
		return readWalk(p, tree, p.modelWalk)
	case formUnrouted:
		return readWalk(p, tree, p.unroutedWalk)
	}
	var doc documentShape
	if w, ok = read(p, tree, &doc); !ok {
		return nil, false
	}
	p.hintElseKeys()
	p.dag(w, &doc.Graph)
	w.Lost = doc.lost(tree, doc.Graph, doc.Graph.Lost)
	return w, true
}

// read decodes a document and converts everything but its graph.
func read[G any](p *parser, tree *source.Value, doc *documentOf[G]) (w *core.Workflow, ok bool) {
	if p.ds, ok = document.ConsumeTree(tree, p.ds, doc); !ok {
		return nil, false
	}
	p.hintOtherForms()
	p.warnReferences(tree)
	return p.head(&doc.headShape), true
}

// parser converts a decoded document to a workflow and makes the checks that struct
// tags cannot express.
type parser struct {
	opts Options
	ds   source.Diagnostics
	// keys holds the keys of the kinds that have occurred, because kinds read them from the type
	// of their configuration each time.
	keys map[string][]string
	// form is the form of the document.
	form form
}

var versionPattern = lazyregexp.New(`^\d+\.\d+\.\d+$`)

// head converts everything of a document but its graph.
func (p *parser) head(d *headShape) *core.Workflow {
	if v := d.Version; v.Pos.IsValid() && !versionPattern.MatchString(v.Value) {
		p.ds.Errorf(source.CodeBadValue, v.Pos, "version: want three numbers with points, found %q", v.Value).
			WithHint("write 1.0.0")
	}
	p.warnIgnored("state.store", d.State.Store)
	w := &core.Workflow{
		Name:        d.Name,
		Version:     d.Version,
		Description: d.Description,
		Document:    true,
		HasInputs:   d.Inputs != nil,
		Runtime:     core.Runtime(d.Runtime),
		Incremental: incremental(d.Incremental),
		Pos:         d.Pos,
	}
	for _, ph := range d.Phases {
		w.Phases = append(w.Phases, core.Phase(ph))
	}
	for _, m := range d.Inputs {
		w.Inputs = append(w.Inputs, inputDecl(m))
	}
	for _, m := range d.State.Schema {
		w.Fields = append(w.Fields, fieldDecl(m))
	}
	for _, m := range d.Retry {
		w.RetryPolicies = append(w.RetryPolicies, retryPolicy(m.Key, m.Value))
	}
	return w
}

// dag converts the graph of a dag.
func (p *parser) dag(w *core.Workflow, g *graphShape) {
	nodes, edges := make([]core.Node, len(g.Nodes)), make([]core.Edge, len(g.Edges))
	for i := range nodes {
		p.node(&nodes[i], &g.Nodes[i])
		w.Nodes = append(w.Nodes, &nodes[i])
	}
	for i := range edges {
		edges[i] = edge(&g.Edges[i])
		w.Edges = append(w.Edges, &edges[i])
	}
	for _, u := range g.Pipelines {
		w.Pipelines = append(w.Pipelines, pipeline(u))
	}
	for _, u := range g.Loops {
		p.warnIgnored("loop "+u.ID.Value+": budget", u.Budget)
		w.Loops = append(w.Loops, loop(u))
	}
}

// lost returns the sections with parts that could not be read. If state has unknown keys and no
// schema, the fields are probably under one of those keys.
func (d *headShape) lost(tree *source.Value, graph any, graphLost source.Lost) source.Lost {
	lost := slices.Concat(d.Lost, d.State.Lost, graphLost)
	if d.Lost.Has("state") {
		lost = append(lost, source.KeyNames(d.State)...)
	}
	if d.Lost.Has("graph") {
		lost = append(lost, source.KeyNames(graph)...)
	}
	if state := tree.Get("state"); d.State.Schema == nil && state != nil && slices.ContainsFunc(state.Keys, func(k source.Text) bool {
		return !slices.Contains(source.KeyNames(d.State), k.Value)
	}) {
		lost = append(lost, "schema")
	}
	return lost
}

// warnIgnored warns about a key without effect.
func (p *parser) warnIgnored(what string, v *source.Value) {
	if v != nil {
		p.ds.Warnf(source.CodeIgnored, v.Pos, "%s: this key has no effect", what)
	}
}

// warnReferences warns about types with a $ref, which is not resolved.
func (p *parser) warnReferences(tree *source.Value) {
	for _, section := range []*source.Value{tree.Get("state").Get("schema"), tree.Get("inputs")} {
		if section == nil {
			continue
		}
		for i, name := range section.Keys {
			p.warnReference(name.Value, section.Values[i])
		}
	}
}

func (p *parser) warnReference(name string, t *source.Value) {
	if t == nil {
		return
	}
	if ref := t.Get("$ref"); ref != nil {
		p.ds.Warnf(source.CodeIgnored, ref.Pos, "%s: $ref: this key has no effect: nothing is checked by it", name).WithHint("write type, properties or items")
	}
	p.warnReference(name+".items", t.Get("items"))
	if members := t.Get("properties"); members != nil {
		for i, m := range members.Keys {
			p.warnReference(name+"."+m.Value, members.Values[i])
		}
	}
}

// hintElseKeys adds a hint to the error about a key else of an edge.
func (p *parser) hintElseKeys() {
	for i := range p.ds {
		if d := &p.ds[i]; d.Code == source.CodeUnknownKey && strings.HasPrefix(d.Message, "edge ") && strings.HasSuffix(d.Message, `: unknown key "else"`) {
			d.WithHint("write when: else")
		}
	}
}
