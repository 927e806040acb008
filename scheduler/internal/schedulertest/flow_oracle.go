package schedulertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// FlowEnd is the end of a step: of its n-th arrival.
type FlowEnd struct {
	Node string
	N    int
}

// FlowEnding is the end of a step, or of an approval without a decision. After the flow has failed, a step
// that failed is not tried again.
type FlowEnding struct {
	FlowEnd
	Failed bool
}

// FlowOutcome is the outcome of a flow: its status, the entries of the log by arrival, the nodes in the
// order in which tokens arrived, and the context.
type FlowOutcome struct {
	Status  string
	Entries map[FlowEnd][]string
	Path    []string
	Context string
	Pauses  int      // how often an approval was asked
	Queued  int      // how many tokens were deferred
	Waited  int      // how many approvals waited for another one
	Faults  []string // what the order of ends contradicts
}

// OracleFlow runs a flow according to the rules, in the simplest way. ends is the order in which the
// steps, and approvals without a decision, ended.
func OracleFlow(g *FlowGraph, ends []FlowEnding) *FlowOutcome {
	o := &flowOracle{g: g, ends: ends, count: map[string]int{}, state: map[string]any{}, out: &FlowOutcome{Entries: map[FlowEnd][]string{}}}
	o.run()
	all := value.NewObject(len(o.state))
	for _, k := range sortedKeys(o.state) {
		all.Set(k, o.state[k])
	}
	o.out.Context, o.out.Status = value.JSON(all), o.status
	return o.out
}

type flowOracle struct {
	g      *FlowGraph
	ends   []FlowEnding
	status string // running, paused, failed or completed
	asked  *oracleToken
	others []*oracleToken // approvals that wait
	later  []*oracleToken // the deferred queue
	flying []*oracleToken
	count  map[string]int
	state  map[string]any
	out    *FlowOutcome
}

type oracleToken struct {
	id    string
	n     int
	input any
	trunk bool
}

func (o *flowOracle) say(t *oracleToken, format string, args ...any) {
	key := FlowEnd{t.id, t.n}
	o.out.Entries[key] = append(o.out.Entries[key], fmt.Sprintf(format, args...))
}

func (o *flowOracle) run() {
	o.status = "running"
	if t := o.token("s", nil, true); t != nil {
		o.step(t)
	}
	for {
		o.wait()
		switch {
		case o.status == "failed":
			return
		case o.status == "paused":
			o.answer()
		case len(o.later) > 0: // one node at a time, each to its own end
			t := o.later[0]
			o.later = o.later[1:]
			t.trunk = true
			o.step(t)
		case len(o.others) > 0:
			t := o.others[0]
			o.others = o.others[1:]
			o.pause(t)
		default:
			o.status = "completed"
			return
		}
	}
}

// token counts an arrival. It returns nil if there are too many.
func (o *flowOracle) token(id string, input any, trunk bool) *oracleToken {
	if len(o.out.Path) == o.g.Most {
		o.fail()
		return nil
	}
	o.out.Path = append(o.out.Path, id)
	o.count[id]++
	return &oracleToken{id, o.count[id], input, trunk}
}

func (o *flowOracle) fail() {
	if o.status != "failed" {
		o.status, o.later, o.others = "failed", nil, nil
	}
}

// wait takes the ends of steps until none is in flight.
func (o *flowOracle) wait() {
	for len(o.flying) > 0 || o.status == "failed" && len(o.ends) > 0 {
		if len(o.ends) == 0 {
			if o.status != "failed" { // steps that had not begun are not run
				o.out.Faults = append(o.out.Faults, fmt.Sprintf("%s is in flight and never ends", o.flying[0].id))
			}
			return
		}
		e := o.ends[0]
		at := slices.IndexFunc(o.flying, func(t *oracleToken) bool { return t.id == e.Node && t.n == e.N })
		if at < 0 {
			if o.asked != nil && o.asked.id == e.Node && o.asked.n == e.N { // there is no decision
				o.ends = o.ends[1:]
				if o.status != "failed" {
					o.fail()
				}
				o.asked = nil
				continue
			}
			o.out.Faults = append(o.out.Faults, fmt.Sprintf("%v ends and is not in flight", e))
			return
		}
		o.ends = o.ends[1:]
		t := o.flying[at]
		o.flying = slices.Delete(o.flying, at, at+1)
		o.ended(t, e.Failed)
	}
}

// ended handles the end of a step.
func (o *flowOracle) ended(t *oracleToken, failed bool) {
	var v any
	var err error
	for attempt := 1; attempt <= o.g.node(t.id).Attempts; attempt++ {
		if v, err = o.g.reply(t.id, t.n, attempt, t.input); err == nil {
			break
		}
	}
	switch {
	case o.status == "failed" && failed:
	case failed != (err != nil):
		o.out.Faults = append(o.out.Faults, fmt.Sprintf("%s ends, failed: %t, want %v", t.id, failed, err))
	case err != nil:
		o.say(t, "error %s", err)
		o.fail()
	case o.status == "failed": // its output is dropped
		o.say(t, "llm_response %s", core.FlowText(v))
	default:
		o.say(t, "llm_response %s", core.FlowText(v))
		o.output(t, v)
	}
}

// output stores the output of a node, and its successors follow.
func (o *flowOracle) output(t *oracleToken, v any) {
	o.state[t.id] = v
	if t.trunk {
		o.state["previous_output"] = v
	}
	o.successors(t, v, func(string) bool { return true })
}

// successors runs what follows, or defers it while the flow is paused.
func (o *flowOracle) successors(from *oracleToken, v any, handle func(string) bool) {
	var to []string
	for _, e := range o.g.Edges {
		switch {
		case e.From != from.id || !handle(e.Handle):
		case o.g.node(e.To) == nil:
			o.say(from, "warn Connection target %q not found", e.To)
		default:
			to = append(to, e.To)
		}
	}
	paused, asks := o.status == "paused", map[string]bool{}
	for _, id := range to {
		approval := o.g.node(id).Type == "approval"
		if o.status == "failed" || approval && asks[id] {
			continue
		}
		t := o.token(id, v, from.trunk && len(to) == 1)
		switch {
		case t == nil:
			return
		case approval:
			asks[id] = true
			o.say(t, "step_start approval node")
			if o.status == "paused" {
				o.out.Waited++
				o.others = append(o.others, t)
			} else {
				o.pause(t)
			}
		case paused:
			o.out.Queued++
			o.later = append(o.later, t)
		default:
			o.step(t)
		}
	}
}

func (o *flowOracle) pause(t *oracleToken) {
	o.out.Pauses++
	o.status, o.asked = "paused", t
	o.say(t, "wait_input Waiting for user approval")
}

// step runs a node that is not an approval.
func (o *flowOracle) step(t *oracleToken) {
	n := o.g.node(t.id)
	switch n.Type {
	case "agent":
		o.say(t, "step_start agent node")
		o.say(t, "start_prompt %s", core.FlowText(t.input))
		o.flying = append(o.flying, t)
	case "start":
		o.say(t, "step_start start node")
		o.output(t, "begin")
	case "other":
		o.say(t, "step_start other node")
		o.say(t, "warn Unknown node type %q skipped", "other")
		o.output(t, nil)
	case "if":
		o.say(t, "step_start condition node")
		handles := []string{"false"}
		for i, c := range n.Conditions {
			holds := o.holds(c, t.input)
			o.say(t, "logic_check Condition %d (%s) evaluated as %t", i+1, c, holds)
			if holds {
				handles = []string{fmt.Sprint("condition-", i)}
				if i == 0 {
					handles = append(handles, "true")
				}
				break
			}
		}
		o.successors(t, t.input, func(h string) bool { return slices.Contains(handles, h) })
	}
}

func (o *flowOracle) holds(c core.FlowCondition, input any) bool {
	given, want := strings.ToLower(core.FlowText(input)), strings.ToLower(strings.TrimSpace(c.Value))
	return want != "" && (given == want || c.Contains && strings.Contains(given, want))
}

// answer continues the flow with the decision about the current approval.
func (o *flowOracle) answer() {
	t := o.asked
	word, note := o.g.decision(t.id, t.n)
	if word == "" {
		if len(o.ends) > 0 {
			o.ends = o.ends[1:]
		}
		o.asked = nil
		o.say(t, "error nobody answered")
		o.fail()
		return
	}
	o.status, o.asked = "running", nil
	said := "User approved this step."
	if word == "reject" {
		said = "User rejected this step."
	}
	if note != "" {
		said += " Feedback: " + note
	}
	o.say(t, "input_received %s", said)
	o.state[t.id+"_approval"] = value.ObjectOf("decision", word, "note", note)
	o.state["previous_output"] = t.input
	t.trunk = true
	o.successors(t, t.input, func(h string) bool { return h == word })
}
