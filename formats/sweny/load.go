package sweny

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Options configure Parse.
type Options struct {
	// Files is the document's folder, from which sources are read. nil means that there
	// is not a folder.
	Files fs.FS
	// Parallel converts every document to a dag, as its key parallel does.
	Parallel bool
}

// Parse parses a document. file is used in positions and is not opened; its folder
// becomes the workflow's Dir. Parse returns all findings about the document at once, in
// the order of the document. The workflow is nil if the document cannot be parsed at
// all. If there are other errors, it holds what could be parsed and all findings, so
// that compiling it reports every error in the document.
func Parse(file string, data []byte, opts Options) (*core.Workflow, source.Diagnostics) {
	tree, ds := document.Parse(file, data)
	return FromTree(file, tree, ds, opts)
}

// FromTree is Parse for a document that has already been parsed into a tree, with the
// findings of that step. A nil tree means that the document could not be parsed.
func FromTree(file string, tree *source.Value, found source.Diagnostics, opts Options) (*core.Workflow, source.Diagnostics) {
	if tree == nil {
		return nil, recoded(found).Capped()
	}
	var doc documentShape
	ds, ok := document.DecodeTree(tree, found, &doc)
	if !ok {
		return nil, recoded(ds).Capped()
	}
	l := &loader{ds: ds, opts: opts, library: library{files: opts.Files, read: map[string]textOrError{}}}
	w := l.workflow(tree, &doc)
	if file != "" {
		w.Dir = filepath.Dir(file)
	}
	w.Findings = recoded(l.ds)
	return w, w.Findings.Capped()
}

// Is reports whether a document is in this format: it does not have the keys graph and
// mode of another format, and its nodes are a mapping or it has an entry.
func Is(tree *source.Value) bool {
	if tree == nil || tree.Kind != source.ObjectValue || tree.Get("graph") != nil || tree.Get("mode") != nil {
		return false
	}
	nodes := tree.Get("nodes")
	return nodes != nil && nodes.Kind == source.ObjectValue || tree.Get("entry") != nil || nodes == nil && tree.Get("id") != nil
}

// lookPatterns match lines that occur in documents of this format.
var lookPatterns = []*lazyregexp.Regexp{lazyregexp.New(`(?m)^[ \t{]*"?entry"?[ \t]*:`), lazyregexp.New(`(?m)^[ \t{]*"?nodes"?[ \t]*:`)}

// Looks reports whether text that cannot be parsed appears to be a document of this
// format.
func Looks(data []byte) bool {
	return !slices.ContainsFunc(lookPatterns, func(line *lazyregexp.Regexp) bool { return !line.Match(data) })
}

// codes maps the engine's codes for syntax and shape errors to those of this format.
// Findings of compiling a document are mapped, too.
var codes = map[source.Code]source.Code{
	source.CodeUnknownKey: source.CodeSchema, source.CodeMissingKey: source.CodeSchema, source.CodeWrongType: source.CodeSchema, source.CodeBadValue: source.CodeSchema,
	source.CodeSyntax: source.CodeParseDocument,
}

func recoded(ds source.Diagnostics) source.Diagnostics {
	out := slices.Clone(ds)
	out.Recode(codes)
	return out
}

// loader converts a decoded document to a workflow and makes the checks that struct
// tags cannot express.
type loader struct {
	opts    Options
	ds      source.Diagnostics
	w       *core.Workflow
	doc     *documentShape
	library library
	skills  map[string]*skillShape
	// contextNames are the names that may occur in the context of a node.
	contextNames []string
	// assembled is the number of bytes in assembled strings, limited by maxAssembled.
	assembled int
}

func (l *loader) workflow(tree *source.Value, d *documentShape) *core.Workflow {
	l.doc = d
	l.w = &core.Workflow{
		Name:        d.ID,
		Description: d.Description,
		Mode:        core.ModeWalk,
		Document:    true,
		HasInputs:   true,
		OpenInputs:  true,
		Lost:        d.Lost,
		Codes:       codes,
		Pos:         d.Pos,
		Walk: &core.Walk{
			Router:     source.At(core.RouterModel, d.Pos),
			Entry:      d.Entry,
			Model:      d.Model,
			Attributes: attributes(tree, "id", "description", "entry", "nodes", "edges", "inputs", "model"),
			Pos:        d.Pos,
		},
	}
	l.requireEdges(tree)
	l.reportOtherKeys(d.Rest)
	l.reportBlanks("", tree, documentBlanks)
	l.inputs()
	l.inlineSkills()
	shared := shared{rules: l.assemble("", l.sources(d.Rules, "rules", "rules")), context: l.assemble("", l.sources(d.Context, "context", "context"))}
	l.contextNames = []string{core.InputsKey}
	for _, m := range d.Nodes {
		l.contextNames = append(l.contextNames, m.Key.Value)
	}
	for _, m := range d.Nodes {
		l.w.Nodes = append(l.w.Nodes, l.node(m.Key, m.Value, &shared))
	}
	for i := range d.Edges {
		l.w.Edges = append(l.w.Edges, l.edge(i, &d.Edges[i]))
	}
	l.warnJudgeCalls()
	l.w.Sources = l.library.found
	if d.Parallel || l.opts.Parallel {
		l.parallel()
	}
	return l.w
}

// attributes returns the members of a mapping other than those in but, or nil if there
// are none.
func attributes(v *source.Value, but ...string) *value.Object {
	var out *value.Object
	for i, k := range v.Keys {
		if slices.Contains(but, k.Value) {
			continue
		}
		if out == nil {
			out = value.NewObject(len(v.Keys))
		}
		out.Set(k.Value, v.Values[i].Plain())
	}
	return out
}

// requireEdges reports a document without the key edges. The list is required even if
// it is empty, so that a truncated document is detected.
func (l *loader) requireEdges(tree *source.Value) {
	switch v := tree.Get("edges"); {
	case v == nil && !tree.Lost:
		l.ds.Errorf(source.CodeSchema, tree.Pos, `key "edges" is missing`).WithHint("write edges: [] if there are none")
	case v != nil && v.Kind == source.NullValue && !v.Lost:
		l.ds.Errorf(source.CodeSchema, v.Pos, "edges: want a list, found nothing").WithHint("write edges: [] if there are none")
	default:
		return
	}
	l.w.Lost = append(l.w.Lost, "edges")
}

// otherNames maps names that other formats, or older versions of this one, use for a
// key to the name in this format.
var otherNames = map[string]string{
	"verify": "eval", "evals": "eval", "prompt": "instruction", "max_iters": "max_iterations", "max_visits": "max_iterations",
	"condition": "when", "source": "from", "target": "to", "schema": "output",
}

// otherShapes describes keys whose values have changed along with their names.
var otherShapes = map[string]string{
	"verify": "the key is called eval and takes a list of checks with names, such as {name: called, kind: function, rule: {any_tool_called: [...]}}",
}

// reportUnknownKeys reports unknown keys of a mapping, and returns the keys that were
// most likely intended.
func (l *loader) reportUnknownKeys(subject string, rest *source.Value, shape any) (meant source.Lost) {
	if rest == nil {
		return nil
	}
	known := source.KeyNames(shape)
	for _, k := range rest.Keys {
		f := l.ds.Errorf(source.CodeSchema, k.Pos, "%s: unknown key %q", subject, k.Value)
		near := source.Nearest(k.Value, known)
		switch other := otherNames[k.Value]; {
		case slices.Contains(known, other):
			near = other
			f.WithHint("%s", cmp.Or(otherShapes[k.Value], "the key is called "+other))
		case k.Value == "else":
			f.WithHint("leave out when: an edge without a condition is followed when none of the others fits")
		case isLaterNodeKey(k.Value):
			f.WithHint("this key of later versions of the format is not supported")
		default:
			f.WithHint("%s", source.KeyHint(k.Value, known))
		}
		if near != "" {
			meant = append(meant, near)
		}
	}
	return meant
}

func (l *loader) edge(i int, d *edgeShape) *core.Edge {
	subject := "edge " + d.From.Value + " -> " + d.To.Value
	if d.From.Value == "" || d.To.Value == "" {
		subject = fmt.Sprintf("edges[%d]", i)
	}
	e := &core.Edge{From: d.From, To: d.To, MaxIterations: d.MaxIterations, Pos: d.Pos}
	e.Lost = slices.Concat(d.Lost, l.reportUnknownKeys(subject, d.Rest, edgeShape{}))
	l.when(e, d.When, subject)
	return e
}

// when reads the condition of an edge.
func (l *loader) when(e *core.Edge, v *source.Value, subject string) {
	if v == nil {
		return
	}
	text, ok := v.Scalar.(string)
	switch {
	case v.Lost:
		e.Lost = append(e.Lost, "when")
	case !ok:
		f := l.ds.Errorf(source.CodeSchema, v.Pos, "%s: when: want a string, found %s", subject, v.Describe())
		switch {
		case v.Get("expr") != nil:
			f.WithHint("conditions of later versions of the format that are computed are not supported: say it in plain language")
		case v.Kind != source.ObjectValue && v.Kind != source.ArrayValue && v.Kind != source.NullValue:
			f.WithHint("put it in quotes to make it a string")
		}
		e.Lost = append(e.Lost, "when")
	case strings.TrimSpace(text) == "":
		l.ds.Warnf(source.CodeSchema, v.Pos, "%s: when: the string is empty, so the edge has no condition", subject)
	default:
		e.When = &source.Text{Value: text, Pos: v.Pos}
	}
}
