package convert

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// normal returns a copy of a walk without what says the same in two ways: defaults that are
// written or not, and what a format notes for its own messages.
func normal(w *core.Workflow) *core.Workflow {
	c := *w
	c.Document, c.Dir, c.Findings, c.Codes, c.Lost = false, "", nil, nil, nil
	c.Sources = nil // of texts, which are in the nodes
	walk := core.Walk{}
	if w.Walk != nil {
		walk = *w.Walk
	}
	c.Walk = &walk
	normalWalk(&walk)
	if name, _ := walk.Attributes.Get("name"); walk.Router.Value == core.RouterModel && name == c.Name.Value { // SWEny requires one
		walk.Attributes = without(walk.Attributes, "name")
	}
	if walk.Router.Value == core.RouterOutcomes {
		c.Inputs = slices.DeleteFunc(slices.Clone(c.Inputs), freeGoal)
		c.HasInputs = false // every graph in DOT has the input goal
	} else if len(c.Fields) == 0 {
		c.OpenInputs, c.HasInputs = true, false // as the engine compiles it
	}
	word(&c.Runtime.Durability, string(core.DurabilityBatch))
	word(&c.Runtime.Schedule, "dataflow")
	word(&c.Runtime.Overlap, string(core.OverlapQueue))
	number(&c.Runtime.Concurrency, 1)
	number(&c.Runtime.MaxInFlight, 0)
	c.Nodes = slices.Clone(c.Nodes)
	for i, n := range c.Nodes {
		c.Nodes[i] = normalNode(n)
	}
	return &c
}

// freeGoal reports whether an input is the input goal that every graph in DOT has.
func freeGoal(in core.InputDecl) bool {
	return in.Name.Value == core.InputGoal && !in.Required && value.IsMissing(in.Default) && in.Description.Value == "" &&
		in.Type != nil && in.Type.Kind == value.StringType && len(in.Type.Enum) == 0
}

func word(t *source.Text, byDefault string) {
	if t.Value == byDefault {
		*t = source.Text{}
	}
}

func number(n **source.Int, byDefault int) {
	if *n != nil && (*n).Value == byDefault {
		*n = nil
	}
}

func normalWalk(w *core.Walk) {
	if w.Router.Value == "" {
		w.Router.Value = core.RouterOutcomes
	}
	number(&w.MaxRetries, 0)
	number(&w.MaxJumps, core.DefaultMaxJumps)
	number(&w.RepeatLimit, core.DefaultRepeatLimit)
	word(&w.Fidelity, core.FidelityCompact)
	if w.StallTimeout != nil && w.StallTimeout.Value == core.DefaultStallTimeout {
		w.StallTimeout = nil
	}
	switch w.Router.Value {
	case core.RouterSteps:
		number(&w.MaxSteps, core.DefaultMaxRunVisits)
		number(&w.MaxVisits, core.DefaultMaxNodeVisits)
	case core.RouterModel:
		number(&w.MaxSteps, core.DefaultMaxSteps)
		number(&w.MaxVisits, 0)
	default:
		number(&w.MaxSteps, 0)
		number(&w.MaxVisits, 0)
	}
}

func normalNode(n *core.Node) *core.Node {
	c := *n
	c.Toolless, c.Lost = false, nil
	word(&c.Label, c.ID.Value)
	if c.Join != nil {
		join := *c.Join
		if c.Join = &join; !join.Race && join.Word() == core.JoinWaitAll {
			c.Join = nil
		}
	}
	if p := c.Parallel; p != nil {
		parallel := *p
		number(&parallel.MaxParallel, core.DefaultMaxParallel)
		if word(&parallel.ErrorPolicy, "continue"); parallel.MaxParallel == nil && parallel.ErrorPolicy.Value == "" {
			c.Parallel = nil
		} else {
			c.Parallel = &parallel
		}
	}
	if e := c.OnError; e != nil {
		retry := *e
		if c.OnError = &retry; e.Preset.Value == "" {
			word(&retry.Backoff, "linear")
			word(&retry.RetryOn, "any")
			if retry.Base != nil && retry.Base.Value == 100*time.Millisecond {
				retry.Base = nil
			}
			if retry.Jitter != nil && !*retry.Jitter {
				retry.Jitter = nil
			}
		}
	}
	return &c
}

func without(o *value.Object, key string) *value.Object {
	out := &value.Object{}
	for k, v := range o.All() {
		if k != key {
			out.Set(k, v)
		}
	}
	return out
}
