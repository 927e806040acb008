package machine

import (
	"encoding/json"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// FunctionCall asks the driver to call Go functions of a node of a walk by steps: its hook Before or
// After, or the conditions of edges that leave it.
//
// The answer to Before has the writes of the hook. The answer to After has the result as the hook has
// left it: its output and failure, and the rest in Route.Visited, which is nil if the hook failed. The
// answer to conditions has Route.Visited.Answers.
type FunctionCall struct {
	Before, After bool
	Edges         []int32 // indexes of plan.Plan.Edges
	Visit         core.VisitResult
}

// Answers of conditions, see Visited.Answers.
const (
	AnswerTrue     = 't'
	AnswerFalse    = 'f'
	AnswerPanicked = 'p' // the function panicked, or did not return in time
)

// Visited is what a result says in a walk by steps, see core.Routing.
type Visited struct {
	ToolCalls    []string        `json:"tool_calls,omitempty"`
	ToolLoop     bool            `json:"tool_loop,omitempty"`
	Messages     values          `json:"messages,omitempty"`
	Next         string          `json:"next,omitempty"`
	GuardsPassed []string        `json:"guards_passed,omitempty"`
	GuardsFailed []string        `json:"guards_failed,omitempty"`
	Mutations    []core.Mutation `json:"mutations,omitempty"`
	// Answers has an answer for each of FunctionCall.Edges, one of the Answer constants.
	Answers string `json:"answers,omitempty"`
	// End reports that an After hook ends the walk.
	End bool `json:"end,omitempty"`
}

// IsZero reports whether it says nothing.
func (s Visited) IsZero() bool {
	return s.ToolCalls == nil && !s.ToolLoop && s.Messages == nil && s.Next == "" && s.GuardsPassed == nil && s.GuardsFailed == nil &&
		s.Mutations == nil && s.Answers == "" && !s.End
}

// into sets what conditions and hooks see of it.
func (s *Visited) into(r *core.VisitResult) {
	r.ToolCalls, r.GuardsPassed, r.GuardsFailed, r.Next, r.End = s.ToolCalls, s.GuardsPassed, s.GuardsFailed, s.Next, s.End
}

// VisitedOf returns what an After hook has left of a result.
func VisitedOf(r *core.VisitResult) *Visited {
	return &Visited{ToolCalls: r.ToolCalls, GuardsPassed: r.GuardsPassed, GuardsFailed: r.GuardsFailed, Next: r.Next, End: r.End}
}

// acceptVisited is the part of Accept for walks by steps. What the node writes is its output if it sends
// nothing.
func (o *Outcome) acceptVisited(n *plan.Node, res *core.Result) {
	if !res.HasEdgeOutput && res.EdgeOutput == nil {
		o.outputOfWrites(n, res.Writes())
	}
	r := res.Routing
	if r == nil {
		return
	}
	s := &Visited{ToolCalls: r.ToolCalls, ToolLoop: len(r.ToolCalls) > 0, Messages: r.Messages, Next: r.Next,
		GuardsPassed: r.GuardsPassed, GuardsFailed: r.GuardsFailed, Mutations: r.Mutations}
	if r.ToolLoop != nil {
		s.ToolLoop = *r.ToolLoop
	}
	if s.IsZero() {
		return
	}
	for i, m := range s.Messages {
		v, err := value.Canonical(m)
		if err != nil {
			*o = Outcome{Failure: &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("message %d: %v", i, err), Cause: err}}
			return
		}
		s.Messages[i] = v
	}
	if o.Route == nil {
		o.Route = &Route{}
	}
	o.Route.Visited = s
}

// outputOfWrites makes the writes of a node that sends nothing its output: the value itself if the node
// declares one write, an object of the writes otherwise.
func (o *Outcome) outputOfWrites(n *plan.Node, writes map[string]any) {
	if len(writes) == 0 {
		return
	}
	if len(n.Writes) == 1 {
		if v, err := value.Canonical(writes[n.Writes[0]]); err == nil {
			o.Output, o.HasOutput = v, true
		}
		return
	}
	all := value.NewObject(len(writes))
	for _, name := range n.Writes {
		if w, ok := writes[name]; ok {
			if v, err := value.Canonical(w); err == nil {
				all.Set(name, v)
			}
		}
	}
	o.Output, o.HasOutput = all, true
}

// functionCallJSON is the JSON form of a FunctionCall.
type functionCallJSON struct {
	Before  bool          `json:"before,omitempty"`
	After   bool          `json:"after,omitempty"`
	Edges   []int32       `json:"edges,omitempty"`
	Node    string        `json:"node"`
	Visit   int           `json:"visit"`
	Output  anyJSON       `json:"output"`
	Failure *core.Failure `json:"failure,omitempty"`
	Visited Visited       `json:"visited,omitzero"`
}

// MarshalJSON returns the JSON form.
func (c *FunctionCall) MarshalJSON() ([]byte, error) {
	v := &c.Visit
	return json.Marshal(functionCallJSON{c.Before, c.After, c.Edges, v.Node, v.Visit, anyJSON{v.Output}, v.Failure, *VisitedOf(v)})
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (c *FunctionCall) UnmarshalJSON(data []byte) error {
	var j functionCallJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*c = FunctionCall{Before: j.Before, After: j.After, Edges: j.Edges,
		Visit: core.VisitResult{Node: j.Node, Visit: j.Visit, Output: j.Output.v, Failure: j.Failure}}
	j.Visited.into(&c.Visit)
	return nil
}
