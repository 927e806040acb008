package dot

import (
	"bytes"
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/internal/textfile"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Options configure Parse. With the zero value, Parse knows no kinds and no files.
type Options struct {
	// Kinds returns the configuration keys of a kind; ok is false if there is no such
	// kind. Attributes with these names become keys of the node's configuration. If
	// Kinds is nil, only the attributes of docs/formats/dot.md do.
	Kinds func(kind string) (keys []string, ok bool)
	// Files is the document's folder. Parse reads prompts from it (@file) and checks
	// that sub-workflows exist. nil means that there is no folder.
	Files fs.FS
}

// OptionsFor returns options with the kinds of a registry and a folder, which may be
// nil.
func OptionsFor(r *core.Registry, files fs.FS) Options {
	return Options{Files: files, Kinds: func(name string) ([]string, bool) {
		k, ok := r.Kind(name)
		if !ok {
			return nil, false
		}
		return k.Keys(), true
	}}
}

// Parse parses a document. file is used in positions and is not opened; its folder
// becomes the workflow's Dir. Parse returns all findings about the document at once, in
// the order of the document. The workflow is nil if the document cannot be parsed at
// all. If there are other errors, it holds what could be parsed and all findings, so
// that compiling it reports every error in the document.
func Parse(file string, data []byte, opts Options) (*core.Workflow, source.Diagnostics) {
	if ds := unreadable(file, data); ds != nil {
		return nil, ds
	}
	w, ds := read(newScanner(file, data), opts)
	return w, ds.Capped()
}

// read parses the document of a scanner.
func read(s *scanner, opts Options) (*core.Workflow, source.Diagnostics) {
	g, ds := parse(s)
	if g == nil {
		return nil, ds
	}
	d, found := expand(g)
	l := &loader{opts: opts, ds: append(ds, found...), attributes: d.attributes, inputs: map[string]int{}, named: map[string]bool{},
		hintChecked: map[spot]bool{}, modelNodes: map[string]bool{}, humanNodes: map[string]bool{}, reported: map[string]bool{}, broken: g.broken}
	w := l.workflow(g, &d)
	if s.file != "" {
		w.Dir = filepath.Dir(s.file)
	}
	w.Findings = withoutRepeats(l.ds)
	return w, w.Findings
}

// withoutRepeats removes repeated findings at the same position. An error in a default
// is found for every node that gets it.
func withoutRepeats(ds source.Diagnostics) source.Diagnostics {
	type place struct {
		file string
		spot
		code source.Code
	}
	seen := make(map[place]bool, len(ds))
	return slices.DeleteFunc(ds, func(d source.Diagnostic) bool {
		s := place{d.Pos.File, spot{d.Pos.Line, d.Pos.Column}, d.Code}
		again := seen[s]
		seen[s] = true
		return again
	})
}

// unreadable returns an error if a document is too large or is not valid UTF-8.
func unreadable(file string, data []byte) source.Diagnostics {
	var ds source.Diagnostics
	if len(data) > maxBytes {
		ds.Errorf(source.CodeLimit, source.Position{File: file, Line: 1, Column: 1}, "document has %d bytes, at most %d are read", len(data), maxBytes)
		return ds
	}
	if bad := textfile.InvalidUTF8(data); bad >= 0 {
		line := bytes.Count(data[:bad], []byte("\n"))
		column := bad - bytes.LastIndexByte(data[:bad], '\n')
		ds.Errorf(source.CodeParse, source.Position{File: file, Line: int32(line + 1), Column: int32(column)}, "text is not valid UTF-8").WithHint("save the file as UTF-8")
	}
	return ds
}

// loader converts a graph to a workflow.
type loader struct {
	opts Options
	ds   source.Diagnostics
	w    *core.Workflow
	// attributes are the attributes of the graph.
	attributes *attributeSet
	// inputs maps the names of inputs that occur in strings to their index in the
	// workflow's inputs. named holds the names that follow a dollar sign, uses and
	// labelUses their occurrences. usesGoal reports whether a string refers to the goal.
	inputs          map[string]int
	named           map[string]bool
	uses, labelUses []use
	usesGoal        bool
	goalText        *source.Text // the goal that the graph sets, or nil if there is none
	// broken reports whether parts of the document could not be parsed. If so, nothing
	// is reported as missing.
	broken bool
	// hintChecked holds the positions of the attribute keys that have been checked for a
	// hint.
	hintChecked map[spot]bool
	// withoutPrompt are the nodes that ask a model and have no prompt.
	withoutPrompt []source.Text
	// withoutTools are the agents without tools. expectingTools are the agents among them
	// that should have tools, at the position of the attribute that shows it.
	withoutTools, expectingTools []source.Text
	// modelNodes holds the nodes that ask a model, humanNodes the nodes that ask a
	// person.
	modelNodes, humanNodes map[string]bool
	// reported holds the findings that are reported once per document, such as unknown
	// outcomes and attributes of other engines.
	reported map[string]bool
	styles   styles // of the graph, or nil if there are none
	// fullFidelity reports whether full is the graph's default fidelity.
	fullFidelity bool
}

func (l *loader) settings(set *attributeSet, subject string) *settings {
	return &settings{attributeSet: set, loader: l, ds: &l.ds, subject: subject}
}

func (l *loader) workflow(g *graph, d *expandedGraph) *core.Workflow {
	l.w = &core.Workflow{Name: g.name, Mode: core.ModeWalk, Document: true, HasInputs: true, Pos: g.pos,
		Codes: map[source.Code]source.Code{source.CodeModelTools: source.CodeNoTools}}
	if g.broken || l.ds.Has(source.CodeLimit) {
		l.w.Lost = source.Lost{"nodes", "edges"}
	}
	goal, rest := l.graph(g, d.attributes)
	kinds := l.nodeKinds(d.nodes)
	for i, n := range d.nodes {
		l.w.Nodes = append(l.w.Nodes, l.node(n, kinds[i]))
	}
	l.warnNoPrompts()
	for _, e := range d.edges {
		l.edges(e)
	}
	l.warnGroupAttributes(d.groupAttributes)
	l.warnNoTools(rest)
	l.warnUnknownNames()
	l.warnUnknownLabels()
	l.w.Walk.Attributes = rest.attributes(&graphTable, "")
	l.goalInput(goal)
	return l.w
}

// graph reads the attributes of the graph. It returns the goal, or nil if there is none,
// and the remaining attributes: which of them have an effect is only known once the
// nodes have been read.
func (l *loader) graph(g *graph, set *attributeSet) (goal *source.Text, rest *settings) {
	s := l.settings(set, "graph "+g.name.Value)
	w := &core.Walk{Pos: g.pos}
	l.w.Walk = w
	goal = l.goalOf(s)
	l.goalText = goal
	w.MaxRetries = s.anyNumber(cmp.Or(s.first("default_max_retries", "default_max_retry"), "default_max_retries"))
	if w.MaxRetries != nil {
		w.MaxRetries.Value = max(w.MaxRetries.Value, 0)
	}
	w.RetryTarget, w.FallbackRetryTarget = s.text("retry_target"), s.text("fallback_retry_target")
	w.MaxVisits = s.number("max_node_visits", 0, "0 (any number) or more")
	w.StallTimeout = s.duration("stall_timeout")
	w.RepeatLimit = s.number("loop_restart_signature_limit", 1, "1 or more")
	l.graphRules(s)
	return goal, s
}

// valuePlaceholder matches the placeholders that other engines replace with values.
var valuePlaceholder = lazyregexp.New(`\$[A-Za-z_]\w*|\{\{\s*[A-Za-z_][\w.]*\s*\}\}`)

// goalOf returns the goal of the graph, or nil if there is none. The goal may be in a
// file.
func (l *loader) goalOf(s *settings) *source.Text {
	a := s.take("goal")
	if a == nil {
		return nil
	}
	goal := a.value.text
	if name, ok := fileRef(goal.Value); ok {
		goal = l.textFile(s, "goal", goal, name)
		goal.Value = strings.TrimRight(goal.Value, "\r\n")
	}
	if m := valuePlaceholder.FindStringIndex(goal.Value); m != nil {
		s.ds.Warnf(source.CodeIgnored, source.Inside(goal, m[0]), "%s: nothing is put into a goal, so %s stays as it is written", s.subject, goal.Value[m[0]:m[1]]).
			WithHint("a run is given its goal with --goal")
	}
	return &goal
}

// goalInput declares the goal as the first input. Its default is the goal of the graph.
// If the graph has none and a prompt refers to the goal, the input is required.
func (l *loader) goalInput(goal *source.Text) {
	in := core.InputDecl{Name: source.At(core.InputGoal, l.w.Pos), Type: &value.Type{Kind: value.StringType}, Default: value.Missing, Pos: l.w.Pos}
	if goal != nil {
		in.Default, in.Name.Pos, in.Pos = goal.Value, goal.Pos, goal.Pos
	}
	in.Required = goal == nil && l.usesGoal
	l.w.Inputs = append([]core.InputDecl{in}, l.w.Inputs...)
}
