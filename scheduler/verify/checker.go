package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Checker checks the log of one run. It must be used by only one goroutine.
type Checker struct {
	p      *plan.Plan
	report Report

	line            int
	e               *core.Event // the current event
	next            int64       // the expected number of the next event
	logsCounted     *bool       // the result of countsLogs; nil before the first log or progress event
	limits          *core.Limits
	inputs          *value.Object // the inputs of the run
	started         bool
	ended           bool
	inFlight        int
	start           []any           // the starting values of the run's fields
	lacksTimes      bool            // a wait could not be checked because an event has no time
	hiddenSlots     map[string]bool // nodes whose slots are not visible in the log
	uncheckedFields []string        // fields whose final value could not be checked completely

	root   *frame
	frames map[string]*frame // the frames in progress, by path
	last   *frame            // the frame of the last event
	units  map[*plan.Plan]map[string]int32
	// replays holds the Replay of each condition; nil if the condition cannot be
	// replayed.
	replays map[*expressions.Program]*expressions.Replay
	length  *expressions.Program // length($.v)
}

// New returns a checker for the log of a run of p.
func New(p *plan.Plan) *Checker {
	c := &Checker{p: p, next: 1, frames: map[string]*frame{}, hiddenSlots: map[string]bool{}, units: map[*plan.Plan]map[string]int32{},
		replays: map[*expressions.Program]*expressions.Replay{}, length: expressions.MustCompile("length($.v)", expressions.Scope{})}
	c.report = Report{Workflow: p.Name, Rules: Rules(), Unchecked: []Unchecked{}, Violations: []Violation{}}
	c.root = c.open(p, "", nil)
	c.last = c.root
	return c
}

// Mismatch is the error for a log that cannot be compared with the workflow: it belongs
// to another workflow, or a newer program wrote it.
type Mismatch struct {
	Line int
	Text string
}

// Error returns the message, prefixed with the line number.
func (m *Mismatch) Error() string { return fmt.Sprintf("line %d: %s", m.Line, m.Text) }

func (c *Checker) mismatch(format string, args ...any) error {
	return &Mismatch{c.line, fmt.Sprintf(format, args...)}
}

// Add checks the next event, which is on the given line of the log. It does not retain
// the event. If it returns a *Mismatch, the check is over and Add must not be called
// again.
func (c *Checker) Add(line int, e *core.Event) error {
	c.line, c.e = line, e
	c.report.Events++
	if !slices.Contains(types, e.Type) {
		return c.mismatch("unknown event type %q%s; a newer version of the program may have written it", e.Type, near(string(e.Type), typeNames()))
	}
	c.numbering()
	switch {
	case c.report.Events == 1:
		c.report.Run, c.report.Started = e.Run, e.Time
		if e.Type != core.RunStarted {
			c.breaks(Sequence, "the log begins with %s, want %s", e.Type, core.RunStarted)
		}
	case e.Run != c.report.Run && e.Type == core.RunStarted:
		return c.mismatch("another run begins, %s: the log of one run is wanted", e.Run)
	case e.Run != c.report.Run:
		c.breaks(Sequence, "the event belongs to run %q, but the log to run %q", e.Run, c.report.Run)
		return nil
	}
	if c.ended && e.Type == core.RunResumed {
		return c.mismatch("the run had ended before it was resumed, and nodes of it ran again, so the log has two ends: verify --run %s checks the stored run", e.Run)
	}
	if e.Type == core.RunResumed {
		if list, ok := e.Values.Get("rerun"); ok {
			return c.mismatch("the run was resumed, and what %s had done was dropped, so the log has events that no longer count: verify --run %s checks the stored run", named(list), e.Run)
		}
	}
	if slices.Contains(ignored, e.Type) {
		return nil
	}
	if c.ended {
		c.breaks(Sequence, "%s after the end of the run", e.Type)
		return nil
	}
	return c.dispatch()
}

// named lists the nodes that an event names, the first ones if there are many.
func named(nodes any) string {
	const most = 3
	list, _ := nodes.([]any)
	var names []string
	for _, n := range list[:min(len(list), most)] {
		names = append(names, fmt.Sprint(n))
	}
	text := strings.Join(names, ", ")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

var types = []core.EventType{core.RunStarted, core.RunFinished, core.NodeReady, core.NodeStarted, core.NodeRetrying, core.NodeFinished,
	core.NodeFailed, core.NodeHandled, core.NodeSkipped, core.ItemStarted, core.ItemFinished, core.ItemFailed, core.JoinDecided, core.EdgeJudged, core.EdgeChosen, core.GraphChanged, core.GraphRejected, core.NodeAsked, core.NodeAnswered,
	core.StateWritten, core.UnitFinished, core.LogLine, core.Progress, core.SourcesResolved, core.ModelAsked, core.ModelAnswered, core.ToolCalled,
	core.RunHeld, core.RunResumed, core.NodeRepeated, core.FlowLogged}

// ignored are the types of events that handlers and routers may emit at any time and that a log may omit,
// and the types of events of a stored run that continues in another process. They do not affect the
// graph.
var ignored = []core.EventType{core.SourcesResolved, core.LogLine, core.Progress, core.ModelAsked, core.ModelAnswered, core.ToolCalled,
	core.RunHeld, core.RunResumed, core.NodeRepeated, core.FlowLogged}

func typeNames() []string {
	var names []string
	for _, t := range types {
		names = append(names, string(t))
	}
	return names
}

// numbering checks the number of the event. It continues from the greatest number so
// far, so that a gap is reported as a single violation.
func (c *Checker) numbering() {
	seq, want := c.e.Seq, c.next
	if !c.e.Type.Numbered() && !c.countsLogs() {
		want--
	}
	switch {
	case seq == want:
	case seq > want && c.e.Type == core.RunResumed: // what came before could not be replayed
	case seq < want && c.report.Events > 1:
		c.breaks(Sequence, "number %d comes after number %d", seq, c.next-1)
	case seq == want+1:
		c.breaks(Sequence, "the event has number %d, want number %d: an event is missing", seq, want)
	default:
		c.breaks(Sequence, "the event has number %d, want number %d: %d events are missing", seq, want, seq-want)
	}
	c.next = max(c.next, seq+1)
}

// countsLogs reports whether log and progress events have numbers of their own, as in logs of
// earlier versions. The first such event decides.
func (c *Checker) countsLogs() bool {
	if c.logsCounted == nil {
		c.logsCounted = new(c.e.Seq == c.next)
	}
	return *c.logsCounted
}

func (c *Checker) dispatch() error {
	switch c.e.Type {
	case core.RunStarted:
		return c.runStarted()
	case core.RunFinished:
		c.runFinished()
		return nil
	}
	if c.e.Type == core.StateWritten && c.e.Node == "" && c.e.Reason == core.ReasonSetByReplay {
		c.root.set()
		return nil
	}
	f, id, err := c.locate()
	if f == nil || err != nil {
		return err
	}
	c.last = f
	if c.e.Node == "" {
		v, ok := c.unitsOf(f.p)[id]
		if !ok {
			return c.unknown("pipeline or loop", id, f.p)
		}
		return f.unitEvent(v)
	}
	n, ok := f.p.Node(id)
	if !ok {
		return c.unknown("node", id, f.p)
	}
	if err := c.sameNode(f, n); err != nil {
		return err
	}
	if f.walk != nil {
		f.walk.event(n)
		return nil
	}
	if f.flow != nil {
		f.flow.event(n)
		return nil
	}
	return f.nodeEvent(n)
}

// locate returns the frame of the event and the id of its node or unit in that frame.
// The frame is nil if the event belongs to a nested run that is not in progress.
func (c *Checker) locate() (*frame, string, error) {
	path := cmp.Or(c.e.Node, c.e.Unit)
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return c.root, path, nil
	}
	outer, id := path[:at], path[at+1:]
	if c.last.path == outer {
		return c.last, id, nil
	}
	if f := c.frames[outer]; f != nil {
		return f, id, nil
	}
	if err := c.exists(outer); err != nil {
		return nil, "", err
	}
	if f := c.inWalk(outer); f != nil {
		return f, id, nil
	}
	c.breaks(Lifecycle, "%s inside of %s, which is not in progress", c.e.Type, outer)
	return nil, "", nil
}

// inWalk returns the nested run of a visit of a walk or flow, which it opens at the first event of
// the nested run.
func (c *Checker) inWalk(outer string) *frame {
	around := c.root
	if at := strings.LastIndexByte(outer, '/'); at >= 0 {
		around = c.frames[outer[:at]]
	}
	switch {
	case around == nil:
		return nil
	case around.flow != nil:
		return around.flow.nested(outer)
	case around.walk != nil:
		return around.walk.nested(outer)
	}
	return nil
}

// exists returns an error if the workflow has no nested run with the given path.
func (c *Checker) exists(path string) error {
	p := c.p
	for part := range strings.SplitSeq(path, "/") {
		id, _, _ := strings.Cut(part, "[")
		n, ok := p.Node(id)
		if !ok {
			return c.unknown("node", id, p)
		}
		if n.Frame == nil {
			return c.mismatch("node %q has no nodes inside of it in this workflow: the log belongs to another one, or the nested workflow is not there", id)
		}
		p = n.Frame.Plan
	}
	return nil
}

func (c *Checker) unknown(what, id string, p *plan.Plan) error {
	var names []string
	for i := range p.Nodes {
		names = append(names, p.Nodes[i].ID)
	}
	if what != "node" {
		names = nil
		for i := range p.Vertices {
			if p.Vertices[i].Unit != nil {
				names = append(names, p.Vertices[i].ID)
			}
		}
	}
	return c.mismatch("unknown %s %q%s: the log belongs to another workflow than %s, or to another version of it", what, id, near(id, names), c.p.Name)
}

func near(name string, names []string) string {
	if s := source.DidYouMean(name, names); s != "" {
		return " (" + s + ")"
	}
	return ""
}

// sameNode returns an error if the event describes the node differently from the
// workflow.
func (c *Checker) sameNode(f *frame, n *plan.Node) error {
	switch level, ok := c.e.Level.Get(); {
	case ok && int32(level) != f.p.Vertices[n.Vertex].Level:
		return c.mismatch("node %s is on level %d in the log and on level %d in the workflow: the log belongs to another version of it",
			n.ID, level, f.p.Vertices[n.Vertex].Level)
	case c.e.Kind != "" && c.e.Kind != f.walk.asBegun(n).Kind:
		return c.mismatch("node %s is of kind %q in the log and of kind %q in the workflow: the log belongs to another version of it",
			n.ID, c.e.Kind, n.Kind)
	}
	return nil
}

func (c *Checker) unitsOf(p *plan.Plan) map[string]int32 {
	m := c.units[p]
	if m == nil {
		m = map[string]int32{}
		for v := range p.Vertices {
			if p.Vertices[v].Unit != nil {
				m[p.Vertices[v].ID] = int32(v)
			}
		}
		c.units[p] = m
	}
	return m
}

// breaks reports a violation by the current event.
func (c *Checker) breaks(r Rule, format string, args ...any) {
	v := c.violation(cmp.Or(c.e.Node, c.e.Unit), r, format, args...)
	v.Item, v.Round, v.Attempt = c.e.Item, c.e.Round, c.e.Attempt
	c.report.Violations = append(c.report.Violations, v)
}

// violation returns a violation by a node, found at the current event.
func (c *Checker) violation(node string, r Rule, format string, args ...any) Violation {
	return Violation{Line: c.line, Seq: c.e.Seq, Time: c.e.Time, Node: node, Rule: r, Message: fmt.Sprintf(format, args...)}
}

func (c *Checker) unchecked(r Rule, format string, args ...any) {
	u := Unchecked{r, fmt.Sprintf(format, args...)}
	if !slices.Contains(c.report.Unchecked, u) {
		c.report.Unchecked = append(c.report.Unchecked, u)
	}
}

// Finish completes the check and returns the report. Add must not be called afterwards.
func (c *Checker) Finish() *Report {
	switch {
	case c.report.Events == 0 || c.ended:
	case c.e.Type == core.RunHeld: // it ends in another process
		c.unchecked(Statuses, "the run is paused")
		c.unchecked(State, "the run is paused")
	default:
		c.breaks(Sequence, "the log ends with %s, want %s", c.e.Type, core.RunFinished)
		v := &c.report.Violations[len(c.report.Violations)-1]
		v.Node, v.Item, v.Round, v.Attempt = "", 0, 0, 0
		c.unchecked(Statuses, "the log does not say how the run ended")
		c.unchecked(State, "the log does not say how the run ended")
	}
	slices.SortStableFunc(c.report.Violations, func(a, b Violation) int { return cmp.Compare(a.Line, b.Line) })
	c.reportUnchecked()
	return &c.report
}
