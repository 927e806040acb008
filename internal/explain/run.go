package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Run describes one run, node by node.
type Run struct {
	ID       string
	Workflow string
	// Status is the status of the run, "" if the log stops before its end.
	Status string
	// Error is the error of a failed run.
	Error string

	// Steps lists the edges and jumps that walks took, in order.
	Steps []*Step
	// Changes lists the changes of the graph that visits of walks by steps asked for, in order.
	Changes []*Change

	accounts map[string]*Account
	order    []string            // ids in the order of their first events
	writers  map[string][]string // by field
	arrivals map[string]int      // of flows, by node: tokens so far
	arrived  map[arrival]*Step   // of flows: the steps that led to visits
}

// Account describes how one node or unit ended and why.
type Account struct {
	Node string `json:"node"`
	// IsUnit marks a pipeline or loop; Unit is the unit that the node belongs to.
	IsUnit bool   `json:"is_unit,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Status is "running" for a node whose end is not in the log.
	Status   string        `json:"status"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Waits describes the person for whom a node that has not ended waits, or "" if it does not
	// wait for a person.
	Waits string `json:"waits,omitempty"`
	// Reason explains a skip, a failure or the end of a unit.
	Reason string `json:"reason,omitempty"`
	// Cause is the node that originally caused the failure or skip, "" for this node.
	Cause string `json:"cause,omitempty"`
	// Edge is the index in Conditions of the condition that decided a skip, or -1.
	Edge       int           `json:"-"`
	Conditions []Condition   `json:"conditions,omitempty"`
	Error      *core.Failure `json:"error,omitempty"`
	// Handled says why the failure does not fail the run, once for each edge that handled
	// it.
	Handled []string `json:"handled,omitempty"`
	// Joined names the predecessors that satisfied its join.
	Joined   string `json:"joined,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	// Cached is the number of executions whose results were taken from earlier runs. Attempts
	// does not count them.
	Cached  int     `json:"cached,omitempty"`
	Retries []Retry `json:"retries,omitempty"`
	Items   int     `json:"items,omitempty"`
	Failed  []Item  `json:"failed,omitempty"`
	// Visits lists the visits of a node of a walk, in the order of their starts.
	Visits []Visit `json:"visits,omitempty"`
	// Usage is the usage of its model calls, including routing decisions after the node. Tools
	// counts the tool calls that the models made, and ToolErrors the calls that failed.
	Usage      core.Usage `json:"usage,omitzero"`
	Tools      int        `json:"tools,omitempty"`
	ToolErrors int        `json:"tool_errors,omitempty"`
	// Wrote lists the fields it wrote.
	Wrote []string `json:"wrote,omitempty"`
	// EarlierWriters lists the earlier writers of a field whose merge was rejected.
	EarlierWriters []string `json:"rivals,omitempty"`

	level core.Ordinal
}

// Condition is an edge whose condition was evaluated.
type Condition struct {
	From   string        `json:"from"`
	To     string        `json:"to"`
	When   string        `json:"when"`
	Result bool          `json:"result"`
	Values *value.Object `json:"values,omitempty"`
}

// Retry is an attempt that was followed by another, because it failed or because it asked for
// a retry; Reason explains the latter.
type Retry struct {
	Item
	Attempt int           `json:"attempt"`
	Delay   time.Duration `json:"delay_ns,omitempty"`
	Reason  string        `json:"reason,omitempty"`
}

// Item is the failure of an item, row or round, or of the whole node if Item and Round are
// both absent.
type Item struct {
	Item  core.Ordinal `json:"item,omitzero"`
	Round core.Ordinal `json:"round,omitzero"`
	Error string       `json:"error"`
}

// New describes a run from its events, in order.
func New(events []core.Event) *Run {
	s := &Run{accounts: map[string]*Account{}, writers: map[string][]string{}}
	for i := range events {
		s.Add(&events[i])
	}
	return s
}

// Nodes lists the ids of nodes and units in the order of their first events.
func (s *Run) Nodes() []string { return s.order }

// Account returns the account of a node or unit.
func (s *Run) Account(id string) (*Account, bool) {
	a, ok := s.accounts[id]
	return a, ok
}

// Unsuccessful lists the accounts of everything that did not succeed, including nodes of a walk
// that failed in an earlier visit. They are sorted by level and then by name, because the
// order of concurrent nodes has no meaning.
func (s *Run) Unsuccessful() []*Account {
	var out []*Account
	for _, id := range s.order {
		if a := s.accounts[id]; a.Status != core.Success.String() || a.lastFailure() != nil {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b *Account) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.Node, b.Node))
	})
	return out
}

// account returns the account of the subject of an event, or nil if it has none.
func (s *Run) account(e *core.Event) *Account {
	id := e.Node
	if id == "" {
		id = e.Unit
	}
	if id == "" {
		return nil
	}
	a := s.accounts[id]
	if a == nil {
		a = &Account{Node: id, IsUnit: e.Node == "", Status: "running", Edge: -1}
		s.accounts[id] = a
		s.order = append(s.order, id)
	}
	if e.Node != "" && e.Unit != "" {
		a.Unit = e.Unit
	}
	a.level = max(a.level, e.Level)
	return a
}

// Add adds the next event. It does not keep it.
func (s *Run) Add(e *core.Event) {
	switch e.Type {
	case core.RunStarted:
		s.ID, s.Workflow = e.Run, e.Reason
		return
	case core.RunFinished:
		s.Status = e.Status
		if e.Status == string(core.RunFailed) {
			s.Error = e.Reason
		}
		s.dropUnasked()
		return
	case core.EdgeChosen:
		s.addStep(e)
		return
	case core.GraphChanged, core.GraphRejected:
		s.Changes = append(s.Changes, ChangeOf(e))
		return
	}
	a := s.account(e)
	if a == nil {
		return
	}
	switch e.Type {
	case core.NodeStarted, core.ItemStarted:
		s.started(a, e)
		s.visit(a, e)
	case core.NodeRetrying:
		try := Retry{Item: itemOf(e), Attempt: e.Attempt, Delay: e.Delay}
		if e.Error == nil {
			try.Reason = e.Reason
		}
		a.Retries = append(a.Retries, try)
	case core.ItemFinished, core.ItemFailed:
		a.item(e)
	case core.NodeFinished, core.NodeFailed, core.NodeSkipped, core.UnitFinished:
		s.ended(a, e)
		s.visit(a, e)
	case core.NodeAsked:
		a.Waits = "it asks: " + e.Reason
	case core.NodeAnswered:
		a.Waits = ""
	case core.FlowLogged:
		s.logged(a, e)
	case core.NodeHandled:
		a.Handled = append(a.Handled, e.Reason)
		slices.Sort(a.Handled) // they arrive in the order in which their targets are decided
	case core.JoinDecided:
		a.Joined = e.Reason
	case core.ModelAnswered:
		if e.Usage != nil {
			a.Usage = a.Usage.Plus(*e.Usage)
		}
	case core.ToolCalled:
		a.Tools++
		if e.Reason != "" {
			a.ToolErrors++
		}
	case core.EdgeJudged:
		c := Condition{From: e.From, To: e.To, When: e.When, Values: e.Values}
		c.Result = e.Result != nil && *e.Result
		a.Conditions = append(a.Conditions, c)
	case core.StateWritten:
		s.wrote(a, e.Field)
	}
}

func (s *Run) started(a *Account, e *core.Event) {
	switch n, ok := e.Total.Get(); {
	case ok:
		a.Items = n
	case e.Type == core.ItemStarted || !a.IsUnit:
		a.Attempts++
	}
}

func itemOf(e *core.Event) Item {
	i := Item{Item: e.Item, Round: e.Round}
	if e.Error != nil {
		i.Error = e.Error.Message
	}
	return i
}

func (a *Account) item(e *core.Event) {
	if e.Type == core.ItemFailed {
		a.Failed = append(a.Failed, itemOf(e))
	}
	a.cached(e)
	if a.Unit == "" {
		return
	}
	// Members of units have no end of their own: one failed row makes the member fail.
	a.Items++
	if e.Type == core.ItemFailed {
		a.Status, a.Error = e.Status, e.Error
	} else if a.Status == "running" {
		a.Status = e.Status
	}
}

// cached counts an execution whose result was taken from an earlier run. The reason of a fan-out begins with
// its items, which are counted on their own.
func (a *Account) cached(e *core.Event) {
	if strings.HasPrefix(e.Reason, core.CachedReason) {
		a.Cached++
		a.Attempts--
	}
}

func (s *Run) ended(a *Account, e *core.Event) {
	a.cached(e)
	a.Status, a.Duration, a.Reason, a.Cause, a.Error, a.Waits = e.Status, e.Duration, e.Reason, e.Cause, e.Error, ""
	if n, ok := e.Total.Get(); ok && a.IsUnit {
		a.Items = n
	}
	for i, c := range a.Conditions {
		if e.Type == core.NodeSkipped && c.From == e.From && c.To == e.To && !c.Result {
			a.Edge = i
		}
	}
	if a.Error != nil && a.Error.Class == core.ClassMerge {
		s.setEarlierWriters(a)
	}
}

func (s *Run) wrote(a *Account, field string) {
	if field == "" {
		return
	}
	for _, f := range a.Wrote {
		if f == field {
			return
		}
	}
	a.Wrote = append(a.Wrote, field)
	s.writers[field] = append(s.writers[field], a.Node)
}

// setEarlierWriters sets the earlier writers of a field whose merge was rejected. The message of the
// failure quotes the name of the field.
func (s *Run) setEarlierWriters(a *Account) {
	_, rest, ok := strings.Cut(a.Error.Message, `"`)
	if !ok {
		return
	}
	field, _, _ := strings.Cut(rest, `"`)
	a.EarlierWriters = s.writers[field]
}
