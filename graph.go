package wavefold

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/dot"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Graph is a graph that can run, built by New or read by Engine.Load. It is immutable
// and safe for any number of concurrent runs.
type Graph struct {
	w      *core.Workflow
	engine *Engine // nil means an engine with the default kinds
	strict bool
	tools  []namedTool
	// conditions are the functions of conditions that have names.
	conditions []Condition
	subs       map[string]*Graph // sub-workflows by file name
	// file is the document that the graph was loaded from, or "" if there is none. sources are
	// the files that it was compiled from.
	file    string
	sources *Sources

	once     sync.Once
	plan     *plan.Plan
	recorded func() plan.Recorded // what a stored run keeps of the plan, computed by the first one
	router   core.Router          // of the engine that compiled the graph
	findings source.Diagnostics
}

// namedTool is a function of the graph with its name in documents.
type namedTool struct {
	name    string
	handler core.Handler
}

// New builds a graph from parts. It never fails. Compile reports all errors in the
// graph at once, with the lines of the program. The first Run compiles the graph if
// necessary.
//
// A part that reads a typed field implicitly comes after the part that writes the field,
// if there is only one. After adds other edges. A field with several writers implies no
// edges. If two parts each read a field that the other writes, the part that comes first
// in the list sees the starting value.
func New(name string, parts ...Part) *Graph {
	g, b := newGraph(source.At(name, here()), len(parts))
	b.parts(parts)
	b.edges()
	g.w.Findings = b.ds
	return g
}

// newGraph returns an empty graph and its builder, with room for n parts.
func newGraph(name source.Text, n int) (*Graph, *builder) {
	g := &Graph{w: &core.Workflow{Name: name, Pos: name.Pos}}
	b := &builder{w: g.w, g: g, specs: map[string]*spec{}, phases: map[string]bool{}, units: map[int]*unit{}}
	b.nodes, b.settings, b.vertexOf = make([]*node, 0, n), make([]*settings, 0, n), make([]int, 0, n)
	g.w.Nodes, g.tools = make([]*core.Node, 0, n), make([]namedTool, 0, n)
	if name.Value == "" {
		b.ds.Errorf(source.CodeMissingKey, name.Pos, "the graph has no name")
	}
	return g, b
}

// Graph returns a graph for a workflow that was read by Read or Parse. Compile checks
// the graph; the first Run compiles it if necessary.
func (e *Engine) Graph(w *core.Workflow) *Graph { return &Graph{w: w, engine: e} }

// Load reads and compiles a workflow file. If something prevents the workflow from
// running, the error is source.Diagnostics with all findings.
func (e *Engine) Load(path string) (*Graph, error) {
	var sources *Sources
	if e.origin == nil {
		sources = &Sources{}
		e = e.Recording(sources)
	}
	w, ds := e.Read(path)
	if w == nil {
		return nil, ds.Err(false)
	}
	g := e.Graph(w)
	g.file, g.sources = path, sources
	if err := g.Compile(); err != nil {
		return nil, err
	}
	return g, nil
}

// missingWorkflow returns a finding if the graph is nil or has no workflow, nil
// otherwise.
func (g *Graph) missingWorkflow() source.Diagnostics {
	if g != nil && g.w != nil {
		return nil
	}
	var ds source.Diagnostics
	what := "the graph has no workflow"
	if g == nil {
		what = "the graph is nil"
	}
	ds.Errorf(source.CodeMissingKey, source.Position{}, "%s", what).WithHint("make one with New, Engine.Load or Engine.Graph")
	return ds
}

// Name returns the graph's name.
func (g *Graph) Name() string {
	if g.missingWorkflow() != nil {
		return ""
	}
	return g.w.Name.Value
}

// Workflow returns the graph in the form of a document. It must not be changed.
func (g *Graph) Workflow() *core.Workflow {
	if g == nil {
		return nil
	}
	return g.w
}

// Compile checks the graph and prepares it to run, once; later calls return the same
// error. The error is nil, or source.Diagnostics with everything that prevents the graph
// from running.
func (g *Graph) Compile() error {
	if ds := g.missingWorkflow(); ds != nil {
		return ds.Err(false)
	}
	g.compile()
	return g.findings.Err(g.strict)
}

// Findings returns all findings about the graph, including warnings, in the order of
// the files.
func (g *Graph) Findings() source.Diagnostics {
	if ds := g.missingWorkflow(); ds != nil {
		return ds
	}
	g.compile()
	return slices.Clone(g.findings)
}

// Plan returns the compiled graph, for inspection or to run it by other means. The
// error is the error of Compile.
func (g *Graph) Plan() (*plan.Plan, error) {
	if err := g.Compile(); err != nil {
		return nil, err
	}
	return g.plan, nil
}

func (g *Graph) compile() {
	g.once.Do(func() {
		ds, engine := g.collectFindings()
		l := &library{engine: engine, built: map[*core.Workflow]map[string]*core.Workflow{}}
		p, found := engine.compile(g.addSubs(l, map[*Graph]*core.Workflow{}), l, g.strict)
		g.findings = append(ds, found...).Capped()
		if !g.findings.Failed(g.strict) {
			g.plan, g.router = p, engine.router
			g.recorded = sync.OnceValue(p.Recorded)
		}
	})
}

// collectFindings returns the findings of the builders of the graph and its
// sub-workflows, and the engine that all of them use.
func (g *Graph) collectFindings() (source.Diagnostics, *Engine) {
	var ds source.Diagnostics
	var engine *Engine
	files := map[string]*Graph{}
	for _, sub := range g.reachable() {
		ds = append(ds, sub.w.Findings...)
		if known, ok := files[fileName(sub)]; ok {
			ds.Errorf(source.CodeDuplicateID, sub.w.Pos, "graph %q: another one inside or around it has the name too", sub.Name()).
				WithHint("the other one is at %s", known.w.Pos)
		}
		files[fileName(sub)] = sub
		if sub.engine == nil || sub.engine == engine {
			continue
		}
		if engine != nil {
			ds.Errorf(source.CodeUnknownKind, sub.w.Pos, "graph %q uses another engine than the graph around it", sub.Name())
		}
		engine = sub.engine
	}
	if engine == nil {
		engine = NewEngine()
	}
	return ds, engine
}

// reachable returns the graph and its sub-workflows, each once, outer ones first.
func (g *Graph) reachable() []*Graph {
	out := []*Graph{g}
	for i := 0; i < len(out); i++ {
		for _, file := range sortedFiles(out[i].subs) {
			if sub := out[i].subs[file]; !slices.Contains(out, sub) {
				out = append(out, sub)
			}
		}
	}
	return out
}

func sortedFiles(subs map[string]*Graph) []string {
	files := make([]string, 0, len(subs))
	for f := range subs {
		files = append(files, f)
	}
	slices.Sort(files)
	return files
}

// addSubs adds the sub-workflows to the library and returns the graph's workflow. A
// nested run takes its concurrency from its plan, so addSubs sets the concurrency of
// graphs built in Go.
func (g *Graph) addSubs(l *library, known map[*Graph]*core.Workflow) *core.Workflow {
	if w, ok := known[g]; ok {
		return w
	}
	w := *g.w
	w.Findings = nil // collectFindings returns them
	if w.Runtime.Concurrency == nil && !w.Document {
		w.Runtime.Concurrency = &source.Int{Value: runtime.GOMAXPROCS(0)}
	}
	known[g] = &w
	if len(g.subs) > 0 {
		inner := make(map[string]*core.Workflow, len(g.subs))
		for file, sub := range g.subs { // the order of the map does not matter
			inner[file] = sub.addSubs(l, known)
		}
		l.built[&w] = inner
	}
	return &w
}

// Run runs the graph and returns when everything has ended. The inputs are starting
// values (Field.Is, Set) and settings of the run (WithListener and others).
//
// The result is never nil. It is complete whenever the run has begun, even if the run
// failed: values that were written before the failure can be read. The error names the
// node that failed and wraps the error of its function, so that errors.Is and errors.As
// find it. If the graph does not compile or an input does not fit, the error is
// source.Diagnostics.
func (g *Graph) Run(ctx context.Context, inputs ...RunOption) (*Result, error) {
	if err := g.Compile(); err != nil {
		return g.notStarted(err)
	}
	s := g.settings(inputs)
	r, err := scheduler.Run(ctx, g.plan, s.values, s.Options)
	if r == nil {
		return g.notStarted(err)
	}
	return &Result{r}, err
}

// settings returns the settings of a run of the compiled graph.
func (g *Graph) settings(options []RunOption) runSettings {
	s := runSettings{}
	s.Router = g.router
	s.apply(options)
	if s.Recording != nil {
		s.Recording.Head.Workflow, s.Recording.Recorded = g.plan.Name, g.recorded
		if g.sources != nil {
			s.Recording.File, s.Recording.Sources = g.file, g.sources.Files()
		}
	}
	return s
}

func (s *runSettings) apply(options []RunOption) {
	for _, o := range options {
		if o != nil {
			o.applyRun(s)
		}
	}
}

// notStarted returns the result of a run that did not begin.
func (g *Graph) notStarted(err error) (*Result, error) {
	return &Result{&core.Report{Workflow: g.Name(), Status: core.RunFailed, State: &value.Object{}, Err: err,
		Nodes: func() []core.NodeReport { return nil }, Units: func() []core.UnitReport { return nil }}}, err
}

// Save returns the graph as a document: in DOT if it was read from DOT, otherwise in YAML.
// In the document of a graph built in Go, functions are called by name, "graph.node"; an
// engine must have these functions to run the document (Bind). A graph with something that
// only exists in Go, such as a reducer, a hook or a condition that is a function without a
// name, cannot be saved; the error names it. Nor can a graph whose document would exceed the
// limit of 10 MB. Loading the document and saving it again gives the same bytes.
func (g *Graph) Save() ([]byte, error) {
	if ds := g.missingWorkflow(); ds != nil {
		return nil, ds.Err(false)
	}
	if err := g.w.Findings.Err(false); err != nil {
		return nil, err
	}
	if err := onlyInGo(g.w); err != nil {
		return nil, err
	}
	if dot.Holds(g.w) {
		return dot.Write(g.w)
	}
	return native.Write(g.w)
}

// SaveAll returns the documents of the graph and of its sub-workflows, by the file
// names that the documents use to refer to each other.
func (g *Graph) SaveAll() (map[string][]byte, error) {
	if ds := g.missingWorkflow(); ds != nil {
		return nil, ds.Err(false)
	}
	out := map[string][]byte{}
	for _, sub := range g.reachable() {
		data, err := sub.Save()
		if err != nil {
			return nil, err
		}
		out[fileName(sub)] = data
	}
	return out, nil
}

// Bind registers the functions and the named conditions of a graph built in Go and of its
// sub-workflows, so that their documents can be loaded.
func (e *Engine) Bind(g *Graph) error {
	if ds := g.missingWorkflow(); ds != nil {
		return ds.Err(false)
	}
	for _, sub := range g.reachable() {
		for _, t := range sub.tools {
			if err := e.reg.AddTool(t.name, t.handler); err != nil {
				return err
			}
		}
		for _, c := range sub.conditions {
			if err := e.AddCondition(c.cond.Ref.Value, c.cond.Func); err != nil {
				return err
			}
		}
	}
	return nil
}
