package story

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Story is the course of one run by node.
type Story struct {
	Run      string
	Workflow string
	// Status is how the run ended, "" if the log stops before its end.
	Status string
	// Error is that of a run that failed.
	Error string

	// Ways are the edges that walks took and the jumps they made, in order.
	Ways []*Step

	accounts map[string]*Account
	order    []string            // ids by first appearance
	writers  map[string][]string // by field
}

// Account tells how one node or unit ended and why.
type Account struct {
	Node string `json:"node"`
	// IsUnit marks a pipeline or loop; Unit is the one the node belongs to.
	IsUnit bool   `json:"is_unit,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Status is "running" for a node whose end is not in the log.
	Status   string        `json:"status"`
	Duration time.Duration `json:"duration_ns,omitempty"`
	// Reason explains a skip, a failure or the end of a unit.
	Reason string `json:"reason,omitempty"`
	// Cause is the node where the trouble began, "" for this one.
	Cause string `json:"cause,omitempty"`
	// Edge is the index in Conditions of the one that decided a skip, or -1.
	Edge       int           `json:"-"`
	Conditions []Condition   `json:"conditions,omitempty"`
	Error      *core.Failure `json:"error,omitempty"`
	// Handled says why the failure does not fail the run, once for each edge
	// that took it up.
	Handled []string `json:"handled,omitempty"`
	// Joined tells which predecessors its join took.
	Joined   string `json:"joined,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Retries  []Try  `json:"retries,omitempty"`
	Items    int    `json:"items,omitempty"`
	Failed   []Item `json:"failed,omitempty"`
	// Visits are those of a node of a walk, in order of their beginnings.
	Visits []Visit `json:"visits,omitempty"`
	// Usage is what its calls to models took, those about where to go on from it included;
	// Tools counts the tools that they called, ToolErrors those that failed.
	Usage      core.Usage `json:"usage,omitzero"`
	Tools      int        `json:"tools,omitempty"`
	ToolErrors int        `json:"tool_errors,omitempty"`
	// Wrote lists the fields it wrote.
	Wrote []string `json:"wrote,omitempty"`
	// Rivals are earlier writers of fields, when a merge was refused.
	Rivals []string `json:"rivals,omitempty"`

	level core.Ordinal
}

// Condition is an edge whose condition was judged.
type Condition struct {
	From   string       `json:"from"`
	To     string       `json:"to"`
	When   string       `json:"when"`
	Result bool         `json:"result"`
	Values *core.Object `json:"values,omitempty"`
}

// Try is an attempt that was followed by another: it failed, or it asked for that, as
// Reason says then.
type Try struct {
	Item
	Attempt int           `json:"attempt"`
	Delay   time.Duration `json:"delay_ns,omitempty"`
	Reason  string        `json:"reason,omitempty"`
}

// Item is an item, row or round, or the whole node if both are absent, and what
// went wrong in it.
type Item struct {
	Item  core.Ordinal `json:"item,omitzero"`
	Round core.Ordinal `json:"round,omitzero"`
	Error string       `json:"error"`
}

// New builds the story of a run from its events, in order.
func New(events []core.Event) *Story {
	s := &Story{accounts: map[string]*Account{}, writers: map[string][]string{}}
	for i := range events {
		s.add(&events[i])
	}
	return s
}

// Nodes lists the ids of nodes and units by first appearance.
func (s *Story) Nodes() []string { return s.order }

// Account returns the account of a node or unit.
func (s *Story) Account(id string) (*Account, bool) {
	a, ok := s.accounts[id]
	return a, ok
}

// Troubles lists the accounts of everything that did not succeed, at once in a walk, by
// level and then by name: what ran side by side comes in no order that means anything.
func (s *Story) Troubles() []*Account {
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

// account returns the account an event is about, nil for none.
func (s *Story) account(e *core.Event) *Account {
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

func (s *Story) add(e *core.Event) {
	switch e.Type {
	case core.RunStarted:
		s.Run, s.Workflow = e.Run, e.Reason
		return
	case core.RunFinished:
		s.Status = e.Status
		if e.Status == string(core.RunFailed) {
			s.Error = e.Reason
		}
		return
	case core.EdgeChosen:
		s.chosen(e)
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
		try := Try{Item: itemOf(e), Attempt: e.Attempt, Delay: e.Delay}
		if e.Error == nil {
			try.Reason = e.Reason
		}
		a.Retries = append(a.Retries, try)
	case core.ItemFinished, core.ItemFailed:
		a.item(e)
	case core.NodeFinished, core.NodeFailed, core.NodeSkipped, core.UnitFinished:
		s.ended(a, e)
		s.visit(a, e)
	case core.NodeHandled:
		a.Handled = append(a.Handled, e.Reason)
		slices.Sort(a.Handled) // they come as their targets are decided
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

func (s *Story) started(a *Account, e *core.Event) {
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
	if a.Unit == "" {
		return
	}
	// Members of units have no end of their own: one failed row is a failed
	// member.
	a.Items++
	if e.Type == core.ItemFailed {
		a.Status, a.Error = e.Status, e.Error
	} else if a.Status == "running" {
		a.Status = e.Status
	}
}

func (s *Story) ended(a *Account, e *core.Event) {
	a.Status, a.Duration, a.Reason, a.Cause, a.Error = e.Status, e.Duration, e.Reason, e.Cause, e.Error
	if n, ok := e.Total.Get(); ok && a.IsUnit {
		a.Items = n
	}
	for i, c := range a.Conditions {
		if e.Type == core.NodeSkipped && c.From == e.From && c.To == e.To && !c.Result {
			a.Edge = i
		}
	}
	if a.Error != nil && a.Error.Class == core.ClassMerge {
		s.rivals(a)
	}
}

func (s *Story) wrote(a *Account, field string) {
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

// rivals finds who had written the field that a refused write was about: the
// failure quotes the field's name.
func (s *Story) rivals(a *Account) {
	_, rest, ok := strings.Cut(a.Error.Message, `"`)
	if !ok {
		return
	}
	field, _, _ := strings.Cut(rest, `"`)
	a.Rivals = s.writers[field]
}
