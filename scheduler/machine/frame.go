package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// vertex is the run-time state of a plan.Vertex. It holds no pointers, so that the garbage
// collector need not scan the vertices of a large graph.
type vertex struct {
	Pending  int32       `json:"pending,omitempty"` // number of closed gates before the decision
	Waits    int32       `json:"waits,omitempty"`   // number of incomplete fields that it reads
	Attempts int32       `json:"attempts,omitempty"`
	Phase    phase       `json:"phase,omitempty"`
	Status   core.Status `json:"status,omitempty"`
	Skip     skipReason  `json:"skip,omitempty"`
	Handled  bool        `json:"handled,omitempty"` // an edge with on: fail and handles: true led from it to a target that ran
	Started  int64       `json:"started,omitempty"`
	Ended    int64       `json:"ended,omitempty"`
}

// endReason explains why a vertex failed or was skipped.
type endReason struct {
	Failure *core.Failure `json:"failure,omitempty"` // nil if the vertex was skipped
	Cause   core.Ordinal  `json:"cause,omitzero"`    // the vertex where the failure behind a skip began
	Edge    core.Ordinal  `json:"edge,omitzero"`     // the edge that decided a skip
}

// frame is one run of one graph: the run itself or a nested run. Snapshots contain its exported
// fields; frameJSON adds the rest.
type frame struct {
	ID     int64         `json:"id"`
	Path   string        `json:"path,omitempty"`
	Owner  ID            `json:"owner"` // the work in the parent that the frame executes
	Inputs *value.Object `json:"inputs,omitempty"`

	EndReasons []endReason       `json:"end_reasons,omitempty"` // by vertex; nil until a vertex fails or is skipped
	ElseGates  []int32           `json:"else_gates,omitempty"`  // number of closed gates of each plan.ElseGroup
	Conditions []conditionResult `json:"conditions,omitempty"`  // by edge
	Joins      []join            `json:"joins,omitempty"`
	JoinGates  []int32           `json:"join_gates,omitempty"` // number of closed gates of each branch of a join

	Outputs     values                  `json:"outputs,omitempty"`     // by node; nil until a node sends something
	Uncommitted map[int32]*Outcome      `json:"uncommitted,omitempty"` // by vertex; results that wait for their turn to be committed
	Details     map[int32]attemptDetail `json:"details,omitempty"`     // by vertex; attempts of plain nodes
	Notes       map[int32]string        `json:"notes,omitempty"`       // by node
	Changes     map[int32]string        `json:"changes,omitempty"`     // by node: the setting that changed its status
	Usage       map[int32]core.Usage    `json:"usage,omitempty"`       // by node: usage of models

	Level     int32 `json:"level,omitempty"` // the current level of a run with barrier
	LevelLeft int32 `json:"level_left,omitempty"`
	Clean     bool  `json:"clean,omitempty"` // every vertex resolved so far succeeded
	Stopped   bool  `json:"stopped,omitempty"`
	FailedRun bool  `json:"failed_run,omitempty"` // by a failure whose policy is fail_run
	Expired   bool  `json:"expired,omitempty"`    // by its deadline
	Deadline  int64 `json:"deadline,omitempty"`   // when the timeout of its node ends, or 0 if there is none

	m      *Machine
	p      *plan.Plan
	parent *frame
	mode   planner

	v         []vertex
	ledger    state.Ledger
	readersAt []int32      // next reader of each field
	doneAt    []int32      // first reader of each field that has not read everything yet
	tasks     []task       // by vertex; nil until one is needed
	context   *CallContext // of calls that get only fields, nil until one is needed; see sharedContext
	empty     *Call        // of nodes without input, nil if there is no context

	group          group
	ready          bitset // startable vertices that need a slot, by rank
	hasSlot        bitset // vertices with tasks that hold a slot and can start more; made with tasks
	queue          []gate // gates that propagate has to handle
	unresolved     int
	inFlight       int  // handlers of this frame in flight
	children       int  // nested frames that have not ended
	fastPath       bool // startFast and answerFast apply: no events are emitted
	mayRunUserCode bool // see guard.go
	barrier        bool
	stopping       bool // a failure that stops the frame is being committed

	pending         map[ID]*pendingPlace // results that wait to be placed, or are being placed
	pendingVertices []int32              // the vertices of pending, ascending
	claimCursor     int                  // number of leading claimers that are resolved
}

// gate is an entry of the queue of a frame.
type gate struct {
	kind gateKind
	at   int32
}

type gateKind uint8

const (
	decideGate gateKind = iota
	elseGate
	commitGate
	levelGate
	joinGate
)

// task is a vertex that consists of many executions.
type task interface {
	slotHolder
	// canStart reports whether startOne would start something. It considers all limits except the
	// slot of the task itself.
	canStart() bool
	// startOne starts one handler and reports whether it did.
	startOne() bool
	// answer handles an answer. It returns false if the answer does not fit and is to be dropped.
	answer(e *Event) bool
	// holdsSlot reports whether the task holds a slot.
	holdsSlot() bool
	// find returns the execution with an ID, nil if it has ended.
	find(id ID) work
	// commit is called when it is the turn of the task at fields that can reject writes.
	commit()
	// stop ends the executions that have no handler in flight.
	stop()
	// reissue issues the commands in flight again and sets the timers again.
	reissue()
}

func (m *Machine) newFrame(id int64, p *plan.Plan, path string, parent *frame, start []any, inputs *value.Object) *frame {
	f := &m.own
	if parent != nil {
		f = &frame{}
	}
	f.ID, f.Path, f.Inputs, f.Clean, f.v, f.unresolved = id, path, inputs, true, make([]vertex, len(p.Vertices)), len(p.Vertices)
	if len(p.ElseGroups) > 0 {
		f.ElseGates = make([]int32, len(p.ElseGroups))
		f.Conditions = make([]conditionResult, len(p.Edges))
	}
	if len(p.Joins) > 0 {
		f.Joins, f.JoinGates = make([]join, len(p.Joins)), make([]int32, len(p.JoinBranches))
	}
	m.attach(f, p, parent, start)
	return f
}

// attach makes a frame, new or read from a snapshot, part of the machine.
func (m *Machine) attach(f *frame, p *plan.Plan, parent *frame, start []any) {
	f.m, f.p, f.parent = m, p, parent
	f.ledger = state.NewLedger(p.Schema, p.Writers, start, m.opts.Guard)
	for i := range p.Schema.Fields {
		if p.Schema.Fields[i].MergesInPlace() {
			f.ledger.Column(i).SetReads(func(k int) bool { return p.ReadsPrefix(i, k) })
		}
	}
	f.ready.init(len(p.Vertices))
	f.mayRunUserCode = m.opts.Guard != nil && p.RunsUserCode
	f.fastPath = f.Path == ""
	if f.Path != "" || f.Inputs.Len() > 0 {
		f.empty = &Call{CallContext: f.sharedContext()}
	}
	if len(p.Readers) > 0 {
		at := make([]int32, 2*len(p.Readers))
		f.readersAt, f.doneAt = at[:len(p.Readers)], at[len(p.Readers):]
	}
	f.group.limit, f.barrier = firstPositive(p.Concurrency, m.opts.Concurrency, 1), p.Barrier
	if parent == nil {
		f.group.limit, f.barrier = firstPositive(m.opts.Concurrency, p.Concurrency, 1), m.opts.Barrier || p.Barrier
		m.root = f
	} else {
		if m.nested == nil {
			m.nested = map[int64]*frame{}
		}
		m.nested[f.ID] = f
	}
	m.frames = append(m.frames, f)
	if parent == nil && m.assigned != nil {
		f.declareAssignments()
	}
	f.mode = planners[p.Mode.Name](f)
}

// sharedContext returns the context of calls that have no other context.
func (f *frame) sharedContext() *CallContext {
	if f.context == nil {
		f.context = &CallContext{Path: f.Path, Inputs: f.Inputs, plain: f.Path == ""}
	}
	return f.context
}

// ended reports whether the frame has nothing left to do or to wait for.
func (f *frame) ended() bool {
	return f.unresolved == 0 || f.Stopped && f.inFlight == 0 && f.children == 0
}

// propagate handles the consequences of resolved vertices until the queue is empty.
func (f *frame) propagate() {
	for len(f.queue) > 0 {
		g := f.queue[len(f.queue)-1]
		f.queue = f.queue[:len(f.queue)-1]
		switch g.kind {
		case decideGate:
			f.decide(g.at)
		case elseGate:
			f.evaluateElse(g.at)
		case commitGate:
			f.tryCommit(g.at)
		case levelGate:
			f.openLevel()
		case joinGate:
			f.evaluateJoin(g.at)
		}
	}
}

func (f *frame) rank(v int32) int32 {
	if f.p.Rank == nil {
		return v
	}
	return f.p.Rank[v]
}

func (f *frame) byRank(r int32) int32 {
	if f.p.ByRank == nil {
		return r
	}
	return f.p.ByRank[r]
}

// startOne starts the first handler that may start, in canonical order, and reports whether there
// was one.
func (f *frame) startOne() bool {
	for !f.Stopped {
		r := f.hasSlot.first()
		if f.group.active < f.group.limit {
			if q := f.ready.first(); q >= 0 && (r < 0 || q < r) {
				r = q
			}
		}
		if r < 0 {
			return false
		}
		v := f.byRank(r)
		if t := f.task(v); t != nil {
			started := t.startOne()
			f.propagate()
			f.refresh(v)
			if started {
				return true
			}
			if !f.Stopped && f.task(v) == t && t.canStart() {
				panic("machine: " + f.p.Vertices[v].ID + " says it can start and does not")
			}
			continue
		}
		f.ready.remove(r)
		if f.startPlain(v) {
			return true
		}
		f.propagate()
	}
	return false
}

// canStart reports whether startOne would find a vertex to start.
func (f *frame) canStart() bool {
	if f.Stopped {
		return false
	}
	return !f.hasSlot.empty() || f.group.active < f.group.limit && !f.ready.empty()
}

// answer handles an answer to work of this frame. It returns false if the answer does not fit and
// is to be dropped.
func (f *frame) answer(e *Event) bool {
	if e.ID.Node < 0 { // the frame as a whole
		return f.mode.answer(e)
	}
	if e.Kind == Placed || e.Kind == Gone {
		return f.answerPlaced(e)
	}
	if f.fastPath && e.Kind == Finished && f.answerFast(e) {
		return true
	}
	v := f.p.Nodes[e.ID.Node].Vertex
	switch t, p := f.task(v), f.v[v].Phase; {
	case t != nil:
		return (p == running || p == beingCancelled) && t.answer(e)
	case e.ID != f.plainID(v) || f.p.Vertices[v].Shape != plan.Plain:
		return false
	}
	return answer(plainNode{f, v}, e)
}

func (f *frame) task(v int32) task {
	if f.tasks == nil {
		return nil
	}
	return f.tasks[v]
}

func (f *frame) setTask(v int32, t task) {
	if f.tasks == nil {
		f.tasks = make([]task, len(f.v))
		f.hasSlot.init(len(f.v))
	}
	f.tasks[v] = t
}

// refresh adds a vertex with a task to the sets that startOne searches, or removes it.
func (f *frame) refresh(v int32) {
	t, r := f.task(v), f.rank(v)
	if t == nil {
		return
	}
	can := !f.Stopped && f.v[v].Phase == running && t.canStart()
	if can && t.holdsSlot() {
		f.hasSlot.add(r)
	} else {
		f.hasSlot.remove(r)
	}
	if can && !t.holdsSlot() {
		f.ready.add(r)
	} else {
		f.ready.remove(r)
	}
}

// at returns the value of a field after its first k writers, which must be resolved.
func (f *frame) at(field, k int) any { return f.ledger.At(field, k) }

// atLevelOf returns what a node reads.
func (f *frame) atLevelOf(n *plan.Node, r plan.Read) any {
	if f.m.assigned == nil || f.parent != nil {
		return f.at(int(r.Field), int(r.Threshold))
	}
	return f.ledger.Column(int(r.Field)).AtLevel(int(r.Threshold), f.p.Vertices[n.Vertex].Level)
}

// name returns the path of a node in events and errors.
func (f *frame) name(id string) string {
	if f.Path == "" {
		return id
	}
	return f.Path + "/" + id
}

// endReason returns why a vertex failed or was skipped.
func (f *frame) endReason(v int32) endReason {
	if f.EndReasons == nil {
		return endReason{}
	}
	return f.EndReasons[v]
}

func (f *frame) setEndReason(v int32, why endReason) {
	if f.EndReasons == nil {
		f.EndReasons = make([]endReason, len(f.v))
	}
	f.EndReasons[v] = why
}

// setFailure sets the failure of a vertex.
func (f *frame) setFailure(v int32, fail *core.Failure) {
	f.setEndReason(v, endReason{Failure: fail})
}

// output returns what a node sent, Missing if it sent nothing.
func (f *frame) output(node int32) any {
	if f.Outputs == nil {
		return value.Missing
	}
	return f.Outputs[node]
}

func (f *frame) setOutput(node int32, v any) {
	if f.Outputs == nil {
		f.Outputs = make([]any, len(f.p.Nodes))
		for i := range f.Outputs {
			f.Outputs[i] = value.Missing
		}
	}
	f.Outputs[node] = v
}
