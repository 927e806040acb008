package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// stepNumbers are the numbers of the steps of core.RouterSteps.
var stepNumbers = map[string]int{core.StepToolLoop: 1, core.StepRoute: 2, core.StepNextNode: 3, core.StepEdge: 4, core.StepTransition: 5,
	core.StepDefault: 6, core.StepEnd: 7}

// bySteps reports whether a walk by steps took the step.
func (w *Step) bySteps() bool {
	_, jump := w.Values.Get("jump")
	return stepNumbers[w.Rule] > 0 || w.Rule == core.StepBudget || jump
}

// stepText formats the rule of a walk by steps: "step 2, route: ...".
func (w *Step) stepText() string {
	rule := strings.ReplaceAll(w.Rule, "_", " ")
	switch n := stepNumbers[w.Rule]; {
	case n > 0:
		return fmt.Sprintf("step %d, %s: %s", n, rule, w.Reason)
	case w.Rule == core.StepJump:
		return fmt.Sprintf("step 0, %s: %s", rule, w.Reason)
	}
	return rule + ": " + w.Reason
}

// conditionLines lists the conditions that a walk by steps has looked at, and the output as far as it
// has decided.
func (w *Step) conditionLines() []string {
	if !w.bySteps() {
		return nil
	}
	var lines []string
	list, _ := w.Values.Get("conditions")
	conditions, _ := list.([]any)
	for _, c := range conditions {
		o, _ := c.(*value.Object)
		to, _ := o.Get("to")
		when, _ := o.Get("when")
		holds, _ := o.Get("holds")
		panicked, _ := o.Get("panicked")
		values, _ := o.Get("values")
		known, _ := values.(*value.Object)
		verdict := "does not hold"
		switch {
		case panicked == true:
			verdict = "panicked or did not return, so it does not hold"
		case holds == true:
			verdict = "holds"
		}
		lines = append(lines, fmt.Sprintf("to %v: %v %s%s", to, when, verdict, prefixed(", with ", Values(known))))
	}
	for _, key := range []string{"output", "guards_failed"} {
		if v, ok := w.Values.Get(key); ok {
			lines = append(lines, strings.ReplaceAll(key, "_", " ")+": "+clip(value.JSON(v), maxAnswer))
		}
	}
	return lines
}

// Change is a change of the graph of a run, or a jump, that a visit of a node asked for.
type Change struct {
	Node   string `json:"node"`
	Visit  int    `json:"visit"`
	Action string `json:"action"` // one of the core.Mutation constants, or an unknown name
	// Subject is the node that is added or removed, "" for other actions.
	Subject string `json:"subject,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	// Next are the nodes to which a node that is added leads by its default and its transitions, and
	// core.EndNode for the end.
	Next []string `json:"next,omitempty"`
	// Rejected says why the change was not made, "" if it was.
	Rejected string `json:"rejected,omitempty"`
}

// ChangeOf returns the change that an event of the type GraphChanged or GraphRejected is about.
func ChangeOf(e *core.Event) *Change {
	frame := frameOf(e.Node)
	c := &Change{Node: e.Node, Visit: e.Visit, Action: e.Step}
	if e.From != "" {
		c.From = frame + e.From
	}
	if e.To != "" {
		c.To = frame + e.To
	}
	if e.Type == core.GraphRejected {
		c.Rejected = e.Reason
	}
	if v, ok := e.Values.Get("config"); ok {
		config, _ := v.(*value.Object)
		v, _ = config.Get("name")
		c.Subject, _ = v.(string)
		c.Next = leadsTo(config, frame)
	} else if v, ok := e.Values.Get("node"); ok {
		c.Subject, _ = v.(string)
	}
	if c.Subject != "" {
		c.Subject = frame + c.Subject
	}
	return c
}

// leadsTo returns the nodes to which the description of an added node leads, each once.
func leadsTo(config *value.Object, frame string) (list []string) {
	add := func(v any) {
		name, _ := v.(string)
		if name != "" && name != core.EndNode {
			name = frame + name
		}
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	keys := core.NodeConfigKeys()
	next, _ := config.Get(keys[3])
	transitions, _ := config.Get(keys[4])
	add(next)
	if t, ok := transitions.(*value.Object); ok {
		for _, to := range t.All() {
			add(to)
		}
	}
	return list
}

// String returns the change without who asked for it: "add_edge a -> d".
func (c *Change) String() string {
	text := c.Action
	if c.Subject != "" {
		text += " " + c.Subject
	}
	switch {
	case c.From != "":
		text += " " + c.From + " -> " + c.To
	case c.To != "":
		text += " " + c.To
	}
	if c.Rejected != "" {
		text += ", which was rejected: " + c.Rejected
	}
	return text
}

// changeLines lists the changes of the graph that a node asked for, and who asked for it if the run has
// added it.
func (s *Run) changeLines(a *Account) []string {
	var lines []string
	for _, c := range s.Changes {
		switch {
		case c.Action == core.MutationAddNode && c.Subject == a.Node && c.Rejected == "":
			lines = append(lines, fmt.Sprintf("  visit %d of %s added it to the graph", c.Visit, c.Node))
		case c.Action == core.MutationAddEdge && (c.From == a.Node || c.To == a.Node) && c.Node != a.Node && c.Rejected == "":
			lines = append(lines, fmt.Sprintf("  visit %d of %s added the edge %s -> %s", c.Visit, c.Node, c.From, c.To))
		}
		if c.Node == a.Node {
			lines = append(lines, fmt.Sprintf("  visit %d asked for %s", c.Visit, c))
		}
	}
	return lines
}
