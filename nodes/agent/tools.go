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

// tool is a function or program that the model may call.
type tool struct {
	llm.Tool
	schema *schema // of the arguments, nil if any are valid
	call   func(ctx context.Context, in core.Input, args *value.Object) (string, error)
}

// toolUse is one call of a tool and its result.
type toolUse struct {
	name string
	err  error
	text string // the result
}

// maxName limits the length of the tool name in a toolUse, in bytes. A model may send any name.
const maxName = 100

// callTool runs one tool call. Failures of the tool are in the toolUse. An error of callTool ends the
// conversation, such as the cancellation of the run.
func (c *conversation) callTool(ctx context.Context, call llm.ToolCall, turn int) (toolUse, error) {
	u := toolUse{name: truncate(call.Name, maxName)}
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

// inputOf returns the input of the node with the idempotency key of one call. The key is made
// of the number of the call in the conversation, the tool and the arguments.
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

// arguments parses and validates the arguments that the model wrote.
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

// run calls the tool. A panic of the tool is returned as an error.
func (t *tool) run(ctx context.Context, in core.Input, args *value.Object) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			in.Logger().Error("tool "+t.Name+" panicked", "panic", value.PanicText(p), "stack", string(debug.Stack()))
			text, err = "", fmt.Errorf("the tool panicked: %s", value.PanicText(p))
		}
	}()
	return t.call(ctx, in, args)
}

// function adapts a registered Go function. The function gets the fields that the node reads,
// and the arguments of the call in place of the args of the node.
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

// textOf formats the result of a function for the model.
func textOf(r core.Result) (string, error) {
	v := r.EdgeOutput
	switch {
	case r.HasEdgeOutput || v != nil:
	case len(r.Writes()) > 0:
		v = r.Writes()
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
