package schedulertest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// WalkOutcome holds the results of a walk that must not depend on timing, given the order
// in which the branches of parallel nodes ended.
type WalkOutcome struct {
	Status  core.RunStatus
	Class   string        // why a failed run could not continue
	At      string        // the node to which Class refers
	State   *value.Object // declared fields, in declared order
	Context *value.Object
	Path    []string
	Nodes   map[string]WalkNodeOutcome
	// Choices lists the steps of the walk, in order.
	Choices []WalkChoice
	// Losers is the set of executions that a decided join did not wait for.
	Losers map[Execution]bool
	// Forks lists the visits of parallel nodes.
	Forks []ForkOutcome
	// Tied reports that two branches ended at the same time, so that their order is
	// undefined.
	Tied bool
}

// WalkNodeOutcome is the outcome of the last visit of a node, with the totals of all
// visits.
type WalkNodeOutcome struct {
	Status           core.Status
	Class            string
	Visits, Attempts int
	Changed          bool // it succeeded only because of a setting
}

// WalkChoice is a step from one node to the next.
type WalkChoice struct {
	From, To string
	Step     string // one of the Step constants of core
	Restart  bool
	// After is the outcome that the edges saw.
	After core.Status
}

// ForkOutcome is the outcome of a visit of a parallel node.
type ForkOutcome struct {
	Fork   string
	Status core.Status
	// Early reports that it was decided before all branches had ended.
	Early    bool
	Branches []BranchOutcome // in edge order
	// Succeeded lists the branches that were waited for and succeeded.
	Succeeded []string
}

// BranchOutcome is the outcome of a branch.
type BranchOutcome struct {
	ID     string
	Status core.Status
	Loser  bool
}

// WalkOracle runs a walk in the obvious way, from the rules alone: one node after the
// other, with handlers in the calling goroutine. It shares no code with the machine.
//
// ends returns which branches of the n-th visit of a parallel node began, and in which
// order they ended; if it is nil, the durations of branches follow from timing.
func WalkOracle(w *core.Workflow, reg *core.Registry, inputs map[string]any, timing uint64, ends func(fork string, visit int) (begun, ended []string)) *WalkOutcome {
	o := &walkOracle{w: w, timing: timing, ends: ends, fields: map[string]core.FieldDecl{}, nodes: map[string]*core.Node{}, made: map[string]core.Compiled{},
		state: values{}, signatures: map[string]int{}, jumps: map[string]int{},
		out: &WalkOutcome{Nodes: map[string]WalkNodeOutcome{}, Losers: map[Execution]bool{}}}
	for _, f := range w.Fields {
		o.fields[f.Name.Value] = f
		if !value.IsMissing(f.Default) {
			o.state[f.Name.Value] = f.Default
		}
	}
	maps.Copy(o.state, inputs)
	for _, n := range w.Nodes {
		o.nodes[n.ID.Value] = n
		o.made[n.ID.Value] = core.Compiled{Handler: n.Handler}
		if n.Handler == nil {
			k, _ := reg.Kind(n.Kind.Value)
			o.made[n.ID.Value], _ = k.Compile(n, core.Env{})
		}
	}
	o.reset()
	o.walk()
	o.finish()
	return o.out
}

type walkOracle struct {
	w      *core.Workflow
	timing uint64
	ends   func(fork string, visit int) (begun, ended []string)
	fields map[string]core.FieldDecl
	nodes  map[string]*core.Node
	made   map[string]core.Compiled

	state   values
	context map[string]any
	// stages lists the stages that have finished, earlier counts the stages before them, and
	// via is the edge that led to the current node, or nil if there is none.
	stages  []core.FinishedStage
	earlier int
	via     *core.Edge
	// completed lists the nodes that have an outcome, in the order of their first outcomes.
	completed []string
	outcomes  map[string]ended
	last      ended // of the last node that is not conditional
	// signatures counts equal failures, jumps the jumps from each gate.
	signatures map[string]int
	jumps      map[string]int
	steps      int
	out        *WalkOutcome
}

// ended is the outcome of a visit.
type ended struct {
	status     core.Status
	label      string
	next       []string
	output     any // its output, or nil if there is none
	branches   []core.FinishedStage
	category   core.Category // of a failure
	class      string
	message    string
	signature  string
	deltas     []delta // the writes of the node or, if it is parallel, of its branches in order
	context    map[string]any
	attempts   int
	changed    bool
	unanswered bool // a person did not answer
	took       time.Duration
	join       string // where the walk continues after a decided join
}

// reset resets the state of a walk, at its start and at a restart.
func (o *walkOracle) reset() {
	o.context, o.completed, o.outcomes, o.last = map[string]any{}, nil, map[string]ended{}, ended{}
	o.stages, o.earlier = nil, 0
}

func (o *walkOracle) role(id string) core.Role { return o.made[id].Role }

func (o *walkOracle) walk() {
	at := ""
	for _, n := range o.w.Nodes {
		if o.role(n.ID.Value) == core.RoleStart {
			at = n.ID.Value
		}
	}
	for at != "" {
		if o.steps++; o.steps > 10_000 {
			panic("schedulertest: a walk does not end")
		}
		at = o.step(at)
	}
}

// stop ends a run that cannot continue.
func (o *walkOracle) stop(at, class string) string {
	o.out.Status, o.out.Class, o.out.At = core.RunFailed, class, at
	return ""
}

// follow records a step and returns its target.
func (o *walkOracle) follow(c WalkChoice) string {
	o.out.Choices = append(o.out.Choices, c)
	o.via = nil // a jump, unless the caller sets via
	return c.To
}

// step visits a node and returns the next one, "" at the end.
func (o *walkOracle) step(at string) string {
	if o.role(at) == core.RoleExit {
		return o.exit(at)
	}
	if !o.arrive(at) {
		return o.stop(at, core.ClassVisitLimit)
	}
	o.out.Path = append(o.out.Path, at)
	e := o.visit(at, o.context, o.state, o.via)
	if o.role(at) == core.RoleConditional && o.last.status != core.StatusNone {
		o.record(at, e)
		e = o.last // its edges see the stage before it
		e.join, e.next = "", nil
	} else {
		o.commit(at, &e)
		o.record(at, e)
		o.last = e
		o.addStage(at, &e)
		if o.repeats(at, e) {
			return o.stop(at, core.ClassFailureCycle)
		}
	}
	o.context[core.ContextVisitCount] = int64(o.out.Nodes[at].Visits)
	if e.join != "" {
		return o.follow(WalkChoice{From: at, To: e.join, Step: core.StepJump, After: e.status})
	}
	return o.leave(at, e)
}

// arrive counts a visit, and returns false if the limit is exceeded.
func (o *walkOracle) arrive(id string) bool {
	limit := 0
	if o.w.Walk.MaxVisits != nil {
		limit = o.w.Walk.MaxVisits.Value
	}
	if m := o.nodes[id].MaxVisits; m != nil {
		limit = m.Value
	}
	n := o.out.Nodes[id]
	if limit > 0 && n.Visits >= limit {
		return false
	}
	n.Visits++
	o.out.Nodes[id] = n
	return true
}

// addStage records a stage that has finished.
func (o *walkOracle) addStage(id string, e *ended) {
	if role := o.role(id); role == core.RoleStart || role == core.RoleConditional {
		return
	}
	s := finished(id, e)
	s.Visit, s.Branches = o.out.Nodes[id].Visits, e.branches
	if o.stages = append(slices.Clone(o.stages), s); len(o.stages) > 100 {
		o.stages, o.earlier = o.stages[1:], o.earlier+1
	}
}

// finished describes a visit that has ended, with the last 2,000 characters of its output.
func finished(id string, e *ended) core.FinishedStage {
	s := core.FinishedStage{Node: id, Status: e.status}
	if e.output == nil {
		return s
	}
	text, ok := e.output.(string)
	if !ok {
		text = value.JSON(e.output)
	}
	characters := []rune(text)
	s.Left = max(0, len(characters)-2000)
	s.Output = string(characters[s.Left:])
	return s
}

// briefing returns the briefing of a node that was reached by an edge, nil if it gets none.
func (o *walkOracle) briefing(id string, via *core.Edge) *core.Briefing {
	if !o.made[id].Briefed {
		return nil
	}
	words := []string{o.nodes[id].Fidelity.Value, o.w.Walk.Fidelity.Value, "compact"}
	if via != nil {
		words = append([]string{via.Fidelity.Value}, words...)
	}
	for _, word := range words {
		switch word {
		case "none":
			return nil
		case "truncate":
			return &core.Briefing{Fidelity: word}
		case "compact", "full", "summary:low", "summary:medium", "summary:high":
			return &core.Briefing{Fidelity: "compact", Stages: o.stages, Earlier: o.earlier}
		}
	}
	return nil
}

// visit executes a node; its only side effect is on the counts.
func (o *walkOracle) visit(id string, context map[string]any, state values, via *core.Edge) ended {
	switch o.role(id) {
	case core.RoleParallel:
		return o.fork(id, context, state)
	case core.RoleStage, core.RoleHuman:
		return o.attempts(id, context, state, via)
	}
	return ended{status: core.Success}
}

// budget returns the number of attempts of a visit, and the wait after each attempt.
func (o *walkOracle) budget(n *core.Node) (attempts int, waits func(attempt int) time.Duration) {
	p, linear := presets["standard"], false
	p.attempts = 1
	if m := o.w.Walk.MaxRetries; m != nil {
		p.attempts = m.Value + 1
	}
	if r := n.OnError; r != nil {
		if p = presets[r.Preset.Value]; r.Preset.Value == "" {
			linear = true // base, 2 base, 3 base
		}
		if r.Attempts != nil {
			p.attempts = r.Attempts.Value
		}
		if r.Base != nil {
			p.base = r.Base.Value
		}
	}
	return p.attempts, func(attempt int) time.Duration {
		wait := float64(p.base)
		for i := 1; i < attempt; i++ {
			if wait *= p.factor; linear {
				wait = float64(p.base) * float64(i+1)
			}
		}
		return min(time.Duration(wait), time.Minute)
	}
}

// attempts is the retry loop of a visit.
func (o *walkOracle) attempts(id string, context map[string]any, state values, via *core.Edge) ended {
	n := o.nodes[id]
	limit, waits := o.budget(n)
	names, seen := o.view(n, context, state)
	var e ended
	for attempt := 1; ; attempt++ {
		in := core.NewInput("oracle", id, attempt, core.Shared{View: core.NewView(names, seen), Visit: o.out.Nodes[id].Visits, Briefing: o.briefing(id, via)})
		took := e.took
		r, failure := call(o.made[id].Handler, in)
		e = ended{status: r.Status, deltas: []delta{{n, r.Writes()}}, attempts: attempt, took: took}
		if o.timing > 0 {
			e.took += wait(o.timing, in)
		}
		if e.status == core.StatusNone {
			e.status = core.Success
		}
		again := e.status == core.Retry
		if route := r.Routing; route != nil {
			e.label, e.next, e.context = route.PreferredLabel, route.SuggestedNext, route.Context
			e.category = route.Category
			if route.Text != "" {
				e.output = route.Text
			}
		}
		if r.HasEdgeOutput {
			e.output = r.EdgeOutput
		}
		switch {
		case failure != nil && e.status != core.Fail: // an error: there is no result
			e = ended{status: core.Fail, category: failure.InCategory(), class: failure.Class, message: failure.Message, signature: failure.Signature, attempts: attempt, took: e.took}
			again = retries(n, failure)
		case e.status == core.Fail:
			e.class, e.message = core.ClassError, r.Note
			if r.Routing != nil {
				e.signature = r.Routing.Signature
			}
		}
		if again && attempt < limit {
			e.took += waits(attempt)
			continue
		}
		if e.status == core.Retry {
			if limit > 1 || r.Note == "" { // without retries, the note does not mention attempts
				r.Note = "no attempt is left: " + r.Note
			}
			e.exhausted(n, r.Note)
		}
		if e.status == core.Fail && e.category == "" {
			e.category = wordsOf(e.message)
		}
		if n.AutoStatus && e.status != core.Success && e.status != core.Skipped {
			e.lift()
		}
		silent := e.status == core.Fail || e.changed && e.label == "" && len(e.next) == 0 // a setting does not count as an answer
		e.unanswered = silent && o.role(id) == core.RoleHuman
		return e
	}
}

// exhausted ends a visit that still asks to be retried.
func (e *ended) exhausted(n *core.Node, note string) {
	if e.status, e.changed = core.PartialSuccess, true; !n.AllowPartial {
		e.status, e.changed, e.class, e.message, e.category = core.Fail, false, core.ClassError, note, wordsOf(note)
	}
}

// lift implements auto_status.
func (e *ended) lift() { e.status, e.class, e.category, e.changed = core.Success, "", "", true }

// view returns what a visit sees: the fields it reads, and the context.
func (o *walkOracle) view(n *core.Node, context map[string]any, state values) (names []string, seen []any) {
	for _, r := range n.Reads {
		names, seen = append(names, r.Value), append(seen, state.get(r.Value))
	}
	return append(names, core.ContextField), append(seen, objectOf(context))
}

func objectOf(m map[string]any) *value.Object {
	out := value.NewObject(len(m))
	for _, k := range sortedKeys(m) {
		out.Set(k, m[k])
	}
	return out
}

// commit applies all writes of a visit or none: if the state rejects one, the visit fails,
// whatever its settings.
func (o *walkOracle) commit(id string, e *ended) {
	state, refused := o.state.clone(), error(nil)
	for _, d := range e.deltas {
		if refused = rejectReason(o.fields, state, d.writes, d.of); refused != nil {
			break
		}
		fold(o.fields, state, d.writes)
	}
	if refused != nil {
		*e = ended{status: core.Fail, class: core.ClassMerge, message: refused.Error(), category: core.Deterministic, attempts: e.attempts, branches: e.branches, unanswered: o.role(id) == core.RoleHuman}
	} else {
		o.state = state
		maps.Copy(o.context, e.context)
	}
	o.context[core.ContextFailureClass] = ""
	if e.status == core.Fail {
		o.context[core.ContextFailureClass] = string(e.category)
	}
	if e.label != "" {
		o.context[core.ContextPreferredLabel] = e.label
	}
}

// record stores the outcome of a visit.
func (o *walkOracle) record(id string, e ended) {
	if _, ok := o.outcomes[id]; !ok {
		o.completed = append(o.completed, id)
	}
	o.outcomes[id] = e
	o.count(id, e)
}

// count adds a visit to the totals of its node.
func (o *walkOracle) count(id string, e ended) {
	n := o.out.Nodes[id]
	n.Status, n.Class, n.Changed = e.status, "", e.changed
	if e.status == core.Fail {
		n.Class = e.class
	}
	n.Attempts += e.attempts
	o.out.Nodes[id] = n
}

// wordsOf returns the category of a message, as far as generated nodes use such messages.
func wordsOf(text string) core.Category {
	for _, w := range failureWords {
		if strings.Contains(text, w.text) {
			return w.category
		}
	}
	return core.Deterministic
}

// failureWords lists words in generated failures that determine a category, in order of
// precedence. Numbers such as 502 determine one, too, but generated nodes do not count
// beyond 100.
var failureWords = []struct {
	text     string
	category core.Category
}{
	{"aborted", core.Canceled}, {"unavailable", core.TransientInfra}, {"token limit", core.BudgetExhausted}, {"scope violation", core.Structural},
}

var (
	tempFile = regexp.MustCompile(`/tmp/\S+`)
	hexRun   = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)
	digits   = regexp.MustCompile(`[0-9]+`)
)

// repeats counts a failure and reports whether it has repeated too often.
func (o *walkOracle) repeats(id string, e ended) bool {
	if e.status != core.Fail || e.category != core.Deterministic && e.category != core.Structural {
		return false
	}
	text := tempFile.ReplaceAllString(strings.ToLower(e.message), "#")
	text = digits.ReplaceAllString(hexRun.ReplaceAllString(text, "#"), "#")
	key := fmt.Sprintf("%s|%s|%s|%s", id, e.category, text, e.signature)
	o.signatures[key]++
	limit := core.DefaultRepeatLimit
	if l := o.w.Walk.RepeatLimit; l != nil {
		limit = l.Value
	}
	return o.signatures[key] >= limit
}

// finish stores the results at the end.
func (o *walkOracle) finish() {
	fields := value.NewObject(len(o.w.Fields))
	for _, f := range o.w.Fields {
		if v := o.state.get(f.Name.Value); !value.IsMissing(v) {
			fields.Set(f.Name.Value, v)
		}
	}
	o.out.State, o.out.Context = fields, objectOf(o.context)
}

// exit ends the run, or sends it back because of a gate; in that case the exit does not
// count as reached.
func (o *walkOracle) exit(at string) string {
	open := slices.IndexFunc(o.completed, func(id string) bool {
		return o.nodes[id].GoalGate && !o.outcomes[id].status.Succeeded()
	})
	if open < 0 {
		o.arrive(at)
		o.count(at, ended{status: core.Success})
		o.out.Path = append(o.out.Path, at)
		o.out.Status = core.RunSuccess
		return ""
	}
	gate := o.completed[open]
	limit := core.DefaultMaxJumps
	if m := o.w.Walk.MaxJumps; m != nil {
		limit = m.Value
	}
	to := o.target(gate, at)
	if to == "" || o.jumps[gate] >= limit {
		return o.stop(gate, core.ClassGoalGate)
	}
	o.jumps[gate]++
	return o.follow(WalkChoice{From: at, To: to, Step: core.StepGoalGate})
}

// target returns the node where a walk continues after a failed node: the first target of the node
// or of the graph that exists and is not the node excluded by not. It returns "" if there is none.
func (o *walkOracle) target(id, not string) string {
	n := o.nodes[id]
	for _, t := range []source.Text{n.RetryTarget, n.FallbackRetryTarget, o.w.Walk.RetryTarget, o.w.Walk.FallbackRetryTarget} {
		if _, ok := o.nodes[t.Value]; ok && t.Value != not {
			return t.Value
		}
	}
	return ""
}
