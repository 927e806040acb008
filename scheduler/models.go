package scheduler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"math"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// ErrNoRouter is the error of a run that has no router and whose walk needs a model to pick an
// edge.
var ErrNoRouter = errors.New("no model is configured to choose the edge")

// meter counts the calls of an attempt, or of a question to the router.
type meter struct {
	run     *run
	node    *plan.Node
	call    *machine.Call
	item    core.Ordinal
	attempt int

	inFlight int64 // calls in flight, kept by run.spent

	mu   sync.Mutex
	used core.Usage
}

// metered returns a context with the router of the run, whose calls to models are counted, and the
// meter that counts them.
func (x *executor) metered(ctx context.Context, index core.Ordinal) (context.Context, *meter) {
	m := &meter{run: x.run, node: x.c.Node, call: x.c.Call, item: index, attempt: int(x.c.ID.Attempt)}
	ctx = core.WithMeter(ctx, &core.Meter{Ask: func(c core.ModelCall) error { return m.ask(ctx, c) }, Answered: m.answered, Tool: m.tool, Again: m.again, Logged: m.logged,
		Estimate: m.run.opts.Budget.Tokens > 0 || m.run.opts.Budget.Cost > 0, Priced: m.run.opts.Budget.Cost > 0})
	if r := x.run.opts.Router; r != nil {
		ctx = core.WithRouter(ctx, r)
	}
	return ctx, m
}

func (m *meter) ask(ctx context.Context, c core.ModelCall) error {
	if b := m.run.opts.Budget; b != (core.Budget{}) {
		if err := m.run.spent.beginCall(ctx, b, &m.inFlight); err != nil {
			return err
		}
	}
	m.emit(core.ModelAsked, func(e *core.Event) { e.Purpose, e.Model, e.Turn = c.Purpose, c.Model, c.Turn })
	return nil
}

func (m *meter) answered(c core.ModelCall) {
	m.run.spent.endCalls(1, &m.inFlight, c.Usage)
	if c.Usage != (core.Usage{}) {
		m.mu.Lock()
		m.used = m.used.Plus(c.Usage)
		m.mu.Unlock()
	}
	m.emit(core.ModelAnswered, func(e *core.Event) {
		e.Purpose, e.Model, e.Turn, e.Duration, e.Status = c.Purpose, c.Model, c.Turn, c.Duration, c.Finish
		if c.Usage != (core.Usage{}) {
			e.Usage = &c.Usage
		}
		if c.Err != nil {
			e.Reason = value.CutText(c.Err.Error())
		}
	})
}

func (m *meter) tool(c core.ToolCall) {
	m.emit(core.ToolCalled, func(e *core.Event) {
		e.Tool, e.Turn, e.Duration = c.Tool, c.Turn, c.Duration
		if c.Err != nil {
			e.Reason = value.CutText(c.Err.Error())
		}
	})
}

// logged adds an entry to the log of a flow.
func (m *meter) logged(entry, content string) {
	m.emit(core.FlowLogged, func(e *core.Event) { e.Kind, e.Phase, e.Attempt, e.Step, e.Log = "", "", 0, entry, content })
}

func (m *meter) again(why string) {
	m.emit(core.LogLine, func(e *core.Event) {
		*e = core.Event{V: e.V, Type: e.Type, Run: e.Run, Time: e.Time, Node: e.Node, Item: e.Item, Attempt: e.Attempt,
			Severity: slog.LevelInfo.String(), Log: why}
	})
}

// emit emits an event for a call; fill adds the details.
func (m *meter) emit(t core.EventType, fill func(*core.Event)) {
	m.run.signOfLife()
	if m.run.events == nil && m.run.rec == nil {
		return
	}
	e := core.Event{V: core.EventVersion, Type: t, Run: m.run.opts.Run, Node: m.call.Name(m.node), Kind: m.node.Kind, Phase: m.node.Phase,
		Item: m.item, Attempt: m.attempt}
	if m.call != nil {
		e.Visit = m.call.Visit
	}
	fill(&e)
	if t == core.LogLine {
		e.Time = m.run.time()
		m.run.log(e)
	} else {
		m.run.emit(&e)
	}
}

// usage ends the attempt and returns the usage of its calls, or nil if there is none.
func (m *meter) usage() *core.Usage {
	m.run.spent.endCalls(math.MaxInt64, &m.inFlight, core.Usage{}) // calls whose end was not reported
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == (core.Usage{}) {
		return nil
	}
	u := m.used
	return &u
}

// route asks the router for the next edge of a walk.
func (x *executor) route(o *machine.Outcome) {
	q := x.c.Call.Route
	ctx, m := x.metered(x.ctx, 0)
	a, err := callRouter(ctx, x.run.opts.Router, *q)
	o.Usage = m.usage()
	if err != nil {
		o.Failure = x.failure(ctx, err)
		return
	}
	if x.run.events != nil || x.run.rec != nil {
		a.ViewHash = viewHash(q)
	}
	o.Route = &machine.Route{Answer: &a}
}

// viewHash identifies what a router was shown: the first 16 hexadecimal digits of the SHA-256 of
// the JSON of the view.
func viewHash(q *core.RouteQuestion) string {
	text, err := value.AppendJSON(nil, q.View)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
