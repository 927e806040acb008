package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

// tool is something that a model may call.
type tool struct {
	llm.Tool
	schema *schema // of the arguments, nil for anything
	call   func(ctx context.Context, in core.Input, args *value.Object) (string, error)
}

// toolUse is a call that a model made.
type toolUse struct {
	name string
	err  error
	text string // what it answered
}

// maxName is how long a name may be that a model makes up.
const maxName = 100

// use calls the tool that a model asks for. What goes wrong is in the toolUse; the error is
// of the run and ends the conversation.
func (c *conversation) use(ctx context.Context, call llm.ToolCall, turn int) (toolUse, error) {
	u := toolUse{name: first(call.Name, maxName)}
	start := time.Now()
	t := c.find(call.Name)
	if t == nil {
		u.err = fmt.Errorf("there is no tool %q%s", u.name, c.known())
	} else if args, err := t.arguments(call.Arguments); err != nil {
		u.err = err
	} else {
		u.text, u.err = t.run(ctx, c.inputOf(call.Name, args), args)
	}
	if meter := core.MeterOf(ctx); meter != nil && meter.Tool != nil {
		meter.Tool(core.ToolCall{Tool: u.name, Turn: turn, Duration: time.Since(start), Err: u.err})
	}
	if ctx.Err() != nil {
		return u, context.Cause(ctx)
	}
	if u.err != nil {
		if core.FailureOf(u.err).FailsRun {
			return u, u.err
		}
		u.text = u.err.Error()
	}
	u.text = cut(u.text, c.maxOutput)
	return u, nil
}

// inputOf is the node's input with the idempotency key of one call: its place among the
// calls of the conversation, the tool and the arguments.
func (c *conversation) inputOf(name string, args *value.Object) core.Input {
	s := c.in.Shared()
	sum := sha256.Sum256([]byte(value.JSON(args)))
	s.Key = fmt.Sprintf("%s/%d/%s/%x", c.in.IdempotencyKey(), len(c.uses)+1, name, sum[:6])
	return core.NewInput(c.in.Run(), c.in.Node(), c.in.Attempt(), s).ForItem(s.Item, s.Index)
}

func (c *conversation) find(name string) *tool {
	for i := range c.tools {
		if c.tools[i].Name == name {
			return &c.tools[i]
		}
	}
	return nil
}

func (c *conversation) known() string {
	if len(c.tools) == 0 {
		return ", nor any other"
	}
	names := make([]string, len(c.tools))
	for i, t := range c.tools {
		names[i] = t.Name
	}
	return "; there are " + strings.Join(names, ", ")
}

// arguments reads what a model wrote for arguments.
func (t *tool) arguments(text string) (*value.Object, error) {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the arguments are no JSON: %w", err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, fmt.Errorf("the arguments must be a JSON object, got %s", value.TypeName(v))
	}
	if t.schema != nil {
		if wrong := t.schema.check(o); wrong != nil {
			return nil, fmt.Errorf("the arguments do not fit: %s", strings.Join(wrong, "; "))
		}
	}
	return o, nil
}

// run calls the tool. It may be code of the user: a panic is its failure.
func (t *tool) run(ctx context.Context, in core.Input, args *value.Object) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			in.Logger().Error("tool "+t.Name+" panicked", "panic", value.PanicText(p), "stack", string(debug.Stack()))
			text, err = "", fmt.Errorf("the tool panicked: %s", value.PanicText(p))
		}
	}()
	return t.call(ctx, in, args)
}

// function is a tool that calls a registered Go function. It is given the state that the
// node reads, and of its own nothing but the arguments.
func function(h core.Handler) func(context.Context, core.Input, *value.Object) (string, error) {
	return func(ctx context.Context, in core.Input, args *value.Object) (string, error) {
		s := in.Shared()
		s.Args, s.Edges, s.Item, s.Index, s.Previous, s.Briefing = args, nil, nil, 0, "", nil
		r, err := h.Handle(ctx, core.NewInput(in.Run(), in.Node(), in.Attempt(), s))
		if err != nil {
			return "", err
		}
		if r.Status == core.Fail || r.Status == core.Retry {
			if r.Note == "" {
				r.Note = "the tool says that it failed"
			}
			return "", errors.New(r.Note)
		}
		return textOf(r)
	}
}

// textOf is what the result of a function tells a model.
func textOf(r core.Result) (string, error) {
	v := r.EdgeOutput
	switch {
	case r.HasEdgeOutput || v != nil:
	case len(r.Delta) > 0:
		v = r.Delta
	case r.Note != "":
		v = r.Note
	default:
		v = "done"
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return "", fmt.Errorf("the result has no JSON form: %w", err)
	}
	return string(text), nil
}
