package machine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// names maps machine.IDs to the names that scripts use: b, b#2 for the second attempt, load[2]
// and load[0:3] for items, rows and rounds, b@2 for the second visit in a walk, and outer/b for a
// node of a nested run. No other part of the player looks into a machine.ID.
type names struct {
	frames map[int64]*scriptFrame
}

type scriptFrame struct {
	path   string
	p      *plan.Plan
	visits map[int32][]int32 // by node: From of each of its visits
}

func newNames(p *plan.Plan) names {
	return names{frames: map[int64]*scriptFrame{0: {p: p, visits: map[int32][]int32{}}}}
}

// learn records the frame and the visit of a command.
func (n *names) learn(c *machine.Command) {
	if c.Op == machine.OpRun && n.frames[c.ID.Frame] == nil {
		n.frames[c.ID.Frame] = &scriptFrame{c.Call.Path, c.Plan, map[int32][]int32{}}
	}
	if f := n.frames[c.ID.Frame]; f != nil && c.Op != machine.OpEmit && c.ID.Node >= 0 && f.p.Walk != nil && !slices.Contains(f.visits[c.ID.Node], c.ID.From) {
		f.visits[c.ID.Node] = append(f.visits[c.ID.Node], c.ID.From)
	}
}

func (n *names) of(c *machine.Command) string {
	f := n.frames[c.ID.Frame]
	switch {
	case c.ID.IsWatch():
		return "watch"
	case c.ID.Node < 0 && c.Node != nil: // a nested run as a whole
		return c.Node.ID + items(c.ID)
	case c.ID.Node < 0 && f == nil || f == nil && c.Node == nil:
		return "nested"
	case c.ID.Node < 0:
		return f.path
	case f == nil:
		return ".../" + c.Node.ID
	}
	name := f.p.Nodes[c.ID.Node].ID
	if f.path != "" {
		name = f.path + "/" + name
	}
	if f.p.Walk == nil {
		name += items(c.ID)
	} else if at := slices.Index(f.visits[c.ID.Node], c.ID.From); at > 0 {
		name += "@" + strconv.Itoa(at+1)
	}
	if c.ID.Attempt > 1 {
		name += "#" + strconv.Itoa(int(c.ID.Attempt))
	}
	if c.ID.Attempt == machine.PauseAttempt {
		name += "!pause"
	}
	return name
}

func items(id machine.ID) string {
	switch {
	case id.To == 0:
		return ""
	case id.To == id.From+1:
		return fmt.Sprintf("[%d]", id.From)
	}
	return fmt.Sprintf("[%d:%d]", id.From, id.To)
}

// print writes a command as one line, and the report of OpFinish.
func (x *player) print(c *machine.Command) {
	switch c.Op {
	case machine.OpEmit:
		var room core.Event
		c.Events.Events(&room, func(e *core.Event) {
			if x.events != nil && slices.ContainsFunc(x.events, func(p string) bool { return strings.HasPrefix(string(e.Type), p) }) {
				x.printf("  %s", eventLine(e))
			}
		})
	case machine.OpFinish:
		x.report(c.Report)
	case machine.OpRun:
		switch {
		case c.Call != nil && c.Call.Route != nil:
			x.printf("ask %s: %s", x.names.of(c), choices(c.Call.Route))
		case c.ID.Attempt == 0:
			x.printf("pull %s", x.names.of(c))
		default:
			x.printf("run %s%s", x.names.of(c), callText(c))
		}
	case machine.OpTimer, machine.OpDeadline:
		x.printf("%s %s %s", c.Op, x.names.of(c), c.Delay)
	case machine.OpCancel:
		if c.ID.Frame == 0 {
			x.printf("cancel the run")
		} else {
			x.printf("cancel %s", x.names.of(&machine.Command{ID: machine.ID{Frame: c.ID.Frame, Node: -1}}))
		}
	default:
		x.printf("%s %s", c.Op, x.names.of(c))
	}
}

// callText returns the input of a handler: the fields that it declares to read, its items, row or
// round, and what its predecessors sent.
func callText(c *machine.Command) string {
	var b strings.Builder
	call := c.Call
	if call == nil {
		return ""
	}
	declared := source.Strings(c.Node.Decl.Reads)
	for i, r := range c.Node.Reads {
		name := c.Plan.Schema.Fields[r.Field].Name
		if slices.Contains(declared, name) && i < len(call.Values) && !value.IsMissing(call.Values[i]) {
			fmt.Fprintf(&b, " %s=%s", name, value.JSON(call.Values[i]))
		}
	}
	if call.Items.Len() > 0 {
		b.WriteString(" items=")
		for i := c.ID.From; i < c.ID.To; i++ {
			b.WriteString(value.JSON(call.Items.At(int(i))))
			if i+1 < c.ID.To {
				b.WriteString(",")
			}
		}
	}
	if call.Row > 0 {
		fmt.Fprintf(&b, " item=%s", value.JSON(call.Item))
	}
	if call.Edges.Len() > 0 {
		fmt.Fprintf(&b, " from=%s", value.JSON(call.Edges))
	}
	if call.Inputs.Len() > 0 {
		fmt.Fprintf(&b, " input=%s", value.JSON(call.Inputs))
	}
	for i, n := range call.Nodes {
		fmt.Fprintf(&b, " $%s=%s", c.Plan.Nodes[c.Node.NodeRefs()[i]].ID, n.Status)
	}
	if call.Previous != "" {
		fmt.Fprintf(&b, " previous=%q", call.Previous)
	}
	return b.String()
}

// choices returns a question to the router as text.
func choices(q *core.RouteQuestion) string {
	var list []string
	for i, c := range q.Choices {
		when := strconv.Quote(c.When)
		if i == q.Fallback {
			when = "otherwise"
		}
		list = append(list, fmt.Sprintf("%d %s -> %s", i, when, c.Target))
	}
	return strings.Join(list, ", ") + "; view " + value.JSON(q.View)
}

// eventLine returns an event in short form: its subject first, then its content.
func eventLine(e *core.Event) string {
	s := string(e.Type)
	add := func(format string, args ...any) { s += " " + fmt.Sprintf(format, args...) }
	for _, about := range []string{e.Node, e.Unit, e.Field} {
		if about != "" {
			add("%s", about)
		}
	}
	if i, ok := e.Item.Get(); ok {
		s += fmt.Sprintf("[%d]", i)
	}
	if i, ok := e.Round.Get(); ok {
		s += fmt.Sprintf("[%d]", i)
	}
	if e.Visit > 1 {
		s += fmt.Sprintf("@%d", e.Visit)
	}
	if e.Attempt > 1 {
		s += fmt.Sprintf("#%d", e.Attempt)
	}
	if e.To != "" {
		add("%s -> %s", e.From, e.To)
	}
	if e.Result != nil {
		add("%s is %t", e.When, *e.Result)
	}
	if e.Step != "" {
		add("by %s", e.Step)
	}
	if e.Status != "" {
		add("%s", e.Status)
	}
	if e.Delay > 0 {
		add("after %s", e.Delay)
	}
	if len(e.Nodes) > 0 {
		add("%s", strings.Join(e.Nodes, ","))
	}
	if e.Error != nil {
		add("%s %q", e.Error.Class, e.Error.Message)
	} else if e.Reason != "" && e.Type != core.RunStarted {
		add("%q", e.Reason)
	}
	if e.Cause != "" {
		add("because of %s", e.Cause)
	}
	return s
}

// report prints the result of a run.
func (x *player) report(r *core.Report) {
	x.printf("finish %s", r.Status)
	if r.Err != nil {
		x.printf("  error: %s", r.Err)
	}
	if r.State.Len() > 0 {
		x.printf("  state: %s", value.JSON(r.State))
	}
	if r.Path != nil {
		x.printf("  path: %s", strings.Join(r.Path, " "))
	}
	for _, n := range r.Nodes() {
		line := "no status"
		if n.Status != core.StatusNone {
			line = n.Status.String()
		}
		if n.Failure != nil {
			line += fmt.Sprintf(" %s %q", n.Failure.Class, n.Failure.Message)
		}
		if n.Reason != "" {
			line += fmt.Sprintf(" (%s)", n.Reason)
		}
		if n.Cause != "" {
			line += " because of " + n.Cause
		}
		if n.Handled {
			line += ", handled"
		}
		if n.Attempts > 1 {
			line += fmt.Sprintf(", %d attempts", n.Attempts)
		}
		switch {
		case n.Visits > 1:
			line += fmt.Sprintf(", %d visits", n.Visits)
		case n.Visits == 0 && (n.Items > 1 || n.Failed > 0):
			line += fmt.Sprintf(", %d of %d items failed", n.Failed, n.Items)
		}
		x.printf("  %s: %s", n.ID, line)
	}
	for _, u := range r.Units() {
		x.printf("  unit %s: %s (%s), %d done", u.ID, u.Status, u.Reason, u.Rows)
	}
}

// words splits a line at spaces outside quotes and brackets.
func words(line string) (out []string) {
	depth, quoted, begin := 0, false, -1
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == ' ' && depth == 0 && !quoted {
			if begin >= 0 {
				out = append(out, line[begin:i])
			}
			begin = -1
			continue
		}
		if begin < 0 {
			begin = i
		}
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	if begin >= 0 {
		out = append(out, line[begin:])
	}
	return out
}

func indexOf(list []string, s string) int {
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list)
}

// parseValue parses JSON. Anything else is a string.
func parseValue(text string) any {
	if v, err := value.ParseJSON([]byte(text)); err == nil {
		return v
	}
	return text
}
