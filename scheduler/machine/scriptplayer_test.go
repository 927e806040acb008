package machine_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// player runs the lines of a script on a machine and writes the transcript. It uses only the
// exported API of the machine. Every command and event passes through its JSON form.
type player struct {
	p      *plan.Plan
	m      *machine.Machine
	out    strings.Builder
	names  names
	issued []machine.Command // in order of issue
	saved  []byte
	now    time.Duration
	events []string // prefixes of the events that are printed
}

// replay runs the lines of a transcript that begin with "> " and returns the resulting
// transcript, with the comments and blank lines of the old one.
func replay(p *plan.Plan, script string) (string, error) {
	x := &player{p: p, names: newNames(p)}
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		input, isInput := strings.CutPrefix(line, "> ")
		if isInput || line == "" || strings.HasPrefix(line, "#") {
			x.printf("%s", line)
		}
		if !isInput {
			continue
		}
		for step := range strings.SplitSeq(input, " & ") {
			if err := x.step(words(step)); err != nil {
				return x.out.String(), fmt.Errorf("> %s: %w", input, err)
			}
		}
		if err := x.next(); err != nil {
			return x.out.String(), fmt.Errorf("> %s: %w", input, err)
		}
	}
	if x.m == nil || !x.m.Done() {
		return x.out.String(), fmt.Errorf("the script ends before the run does")
	}
	return x.out.String(), nil
}

func (x *player) printf(format string, args ...any) { fmt.Fprintf(&x.out, format+"\n", args...) }

// step runs one line of a script.
func (x *player) step(w []string) (err error) {
	verb, args := w[0], w[1:]
	if x.m == nil && verb != "start" {
		return fmt.Errorf("start comes first")
	}
	switch verb {
	case "start":
		return x.start(args)
	case "snapshot":
		x.saved, err = x.m.Snapshot()
		return err
	case "restore":
		return x.restore(args)
	case "cancel":
		return x.apply(nil, &machine.Event{Kind: machine.Cancel})
	case "done", "fail", "answer", "timer", "expire", "placed", "gone", "yield":
	default:
		return fmt.Errorf("unknown input %q", verb)
	}
	if len(args) == 0 {
		return fmt.Errorf("what it is about is missing")
	}
	c, err := x.find(verb, args[0])
	if err != nil {
		return err
	}
	e := &machine.Event{ID: c.ID, Kind: map[string]machine.EventKind{"timer": machine.TimerFired, "expire": machine.Expired,
		"placed": machine.Placed, "gone": machine.Gone, "yield": machine.Yielded}[verb]}
	if err := x.answer(&c, e, verb, args[1:]); err != nil {
		return err
	}
	return x.apply(&c, e)
}

// restore replaces the machine by one that is restored from the last snapshot. The argument
// "after=" is the time without a process.
func (x *player) restore(args []string) (err error) {
	if len(args) == 0 {
		x.m, err = machine.Restore(x.p, x.saved)
		return err
	}
	down, err := time.ParseDuration(strings.TrimPrefix(args[0], "after="))
	if err != nil {
		return err
	}
	x.now += down
	x.m, err = machine.RestoreAfter(x.p, x.saved, down)
	return err
}

// start creates the machine. The arguments are machine.Options and, after "input.", the inputs of
// the run.
func (x *player) start(args []string) (err error) {
	o := machine.Options{Run: "r", Events: true}
	inputs := value.NewObject(0)
	for _, a := range args {
		k, v, _ := strings.Cut(a, "=")
		n, _ := strconv.Atoi(v)
		switch k {
		case "concurrency":
			o.Concurrency = n
		case "in-flight":
			o.MaxInFlight = n
		case "max-visits":
			o.MaxVisits = n
		case "draw":
			o.Seed = uint64(n)
		case "quiet":
			o.Events = false
		case "barrier":
			o.Barrier = true
		case "fail-fast":
			o.FailFast = true
		case "events":
			x.events = strings.Split(v, ",")
		default:
			name, ok := strings.CutPrefix(k, "input.")
			if !ok {
				return fmt.Errorf("unknown setting %q", a)
			}
			inputs.Set(name, parseValue(v))
		}
	}
	x.m, err = machine.New(x.p, inputs, o)
	return err
}

// find returns the command that a line refers to: the latest one with that name that the verb can
// answer. A name may end in a part of the command's items.
func (x *player) find(verb, name string) (machine.Command, error) {
	for i := len(x.issued) - 1; i >= 0; i-- {
		c := x.issued[i]
		asks := c.Op == machine.OpRun && c.Call != nil && c.Call.Route != nil
		ok := false
		switch verb {
		case "timer":
			ok = c.Op == machine.OpTimer
		case "expire":
			ok = c.Op == machine.OpDeadline
		case "placed", "gone":
			ok = c.Op == machine.OpPlace
		case "answer":
			ok = asks
		case "fail":
			ok = c.Op == machine.OpRun || c.Op == machine.OpPlace
		default:
			ok = c.Op == machine.OpRun && !asks
		}
		if !ok {
			continue
		}
		for from := c.ID.From; ; c.ID.To-- { // the name may contain only the first items
			if x.names.of(&c) == name {
				return c, nil
			}
			if c.ID.To <= from+1 {
				break
			}
		}
	}
	return machine.Command{}, fmt.Errorf("nothing of the name %s was issued", name)
}

// answer sets the fields of an event from the line that answers command c.
func (x *player) answer(c *machine.Command, e *machine.Event, verb string, args []string) error {
	if e.Kind == machine.Placed && verb == "placed" && len(args) == 0 {
		return nil
	}
	if verb == "answer" {
		a := &core.RouteAnswer{Choice: core.NoRoute}
		n, err := strconv.Atoi(args[0])
		switch {
		case err == nil:
			a.Choice = n
		case args[0] != "none":
			a.Unusable, a.Raw = true, args[0]
		}
		e.Outcome.Route = &machine.Route{Answer: a}
		return nil
	}
	if verb == "fail" {
		args = append([]string{"fail"}, args...)
		if c.Op == machine.OpPlace {
			e.Kind = machine.Placed
		}
	}
	var parts [][]string
	for rest := args; ; {
		at := indexOf(rest, "|")
		parts = append(parts, rest[:at])
		if at == len(rest) {
			break
		}
		rest = rest[at+1:]
	}
	for i, part := range parts {
		o, err := x.outcome(c, part)
		if err != nil {
			return err
		}
		if len(parts) == 1 && c.ID.To-c.ID.From <= 1 {
			e.Outcome = o
			return nil
		}
		if len(parts) > 1 || len(part) > 0 {
			e.Items = append(e.Items, o)
		}
		if len(parts) == 1 && len(part) > 0 {
			for range c.ID.To - c.ID.From - 1 {
				e.Items = append(e.Items, o)
			}
		}
		if n := int(c.ID.To - c.ID.From); i == len(parts)-1 && e.Items != nil && len(e.Items) != n {
			return fmt.Errorf("%d results for %d items", len(e.Items), n)
		}
	}
	return nil
}

// outcome parses the result of an attempt: "fail" with a message and other fields of a failure,
// or the fields that it writes and other parts of a result.
func (x *player) outcome(c *machine.Command, args []string) (o machine.Outcome, err error) {
	if len(args) > 0 && args[0] == "fail" {
		o.Failure, err = x.failure(args[1:])
		return o, err
	}
	res, r := core.Result{}, core.Routing{}
	for _, a := range args {
		k, text, ok := strings.Cut(a, "=")
		v := parseValue(text)
		switch {
		case !ok:
			return o, fmt.Errorf("%q is no result", a)
		case k == "at":
			x.now, err = time.ParseDuration(text)
		case k == "status":
			if res.Status, ok = core.StatusOf(text); !ok {
				return o, fmt.Errorf("%q is not a status", text)
			}
		case k == "send":
			res.EdgeOutput, res.HasEdgeOutput = v, true
		case k == "note":
			res.Note = v.(string)
		case k == "claim":
			o.Claim = &machine.Claim{Target: text, Name: text}
		case k == "label":
			r.PreferredLabel, res.Routing = v.(string), &r
		case k == "next":
			r.SuggestedNext, res.Routing = strings.Split(text, ","), &r
		case strings.HasPrefix(k, "context."):
			if r.Context == nil {
				r.Context = map[string]any{}
			}
			r.Context[strings.TrimPrefix(k, "context.")], res.Routing = v, &r
		default:
			if res.Delta == nil {
				res.Delta = map[string]any{}
			}
			res.Delta[k] = v
		}
		if err != nil {
			return o, err
		}
	}
	if c.ID.Attempt == 0 && res.Delta == nil { // reading a row of a stream is not a result of the node
		o.Output, o.HasOutput = res.EdgeOutput, res.HasEdgeOutput
		return o, nil
	}
	if !res.Empty() {
		o.Accept(c.Plan, c.Node, &res)
	}
	return o, nil
}

func (x *player) failure(args []string) (*core.Failure, error) {
	f := &core.Failure{Class: core.ClassError}
	for _, a := range args {
		var err error
		switch k, v, _ := strings.Cut(a, "="); {
		case strings.HasPrefix(a, `"`):
			f.Message = parseValue(a).(string)
		case a == "permanent":
			f.Permanent = true
		case a == "fails-run":
			f.FailsRun = true
		case k == "after":
			f.RetryAfter, err = time.ParseDuration(v)
		case k == "at":
			x.now, err = time.ParseDuration(v)
		case k == "category":
			f.Category = core.Category(v)
		default:
			f.Class = a
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// apply passes an event through its JSON form and applies it to the machine.
func (x *player) apply(c *machine.Command, e *machine.Event) error {
	e.Ended = int64(x.now)
	if e.Kind != machine.Expired { // Started is the last activity if a stall timer ends
		e.Started = e.Ended
	}
	codec, encoded := journal.Codec{Plan: x.p, Rows: true}, journal.Encoded{}
	err := codec.AppendEvent(&encoded, c, e)
	if err != nil {
		return err
	}
	if e, err = codec.DecodeEvent(encoded.JSON); err != nil {
		return err
	}
	before := x.m.Dropped()
	x.m.Apply(e)
	if x.m.Dropped() > before {
		x.printf("dropped")
	}
	return nil
}

// inputsOf returns the inputs of a command, which its JSON form omits.
func inputsOf(c *machine.Command) *value.Object {
	if c.Call == nil {
		return nil
	}
	return c.Call.Inputs
}

// next prints the commands that the machine issues until it waits for answers.
func (x *player) next() error {
	for {
		commands := x.m.Next()
		if len(commands) == 0 {
			return nil
		}
		for _, c := range commands {
			if c.Op == machine.OpRun {
				data, err := machine.EncodeCommand(&c)
				if err != nil {
					return err
				}
				back, err := machine.DecodeCommand(x.p, inputsOf(&c), data)
				if err != nil {
					return fmt.Errorf("command %s: %w", x.names.of(&c), err)
				}
				c = back
			}
			x.names.learn(&c)
			x.issued = append(x.issued, c)
			x.print(&c)
		}
	}
}
