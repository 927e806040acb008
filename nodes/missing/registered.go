package missing

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/text"
)

// filled is a template of a configuration, by its key.
type filled struct {
	key      string
	template *text.Template
}

// caller hands a node's configuration to a registered function, as arguments.
type caller struct {
	handler core.Handler
	config  *core.Object
	prompts []filled
}

// registered makes a node of a function that was registered under the name of its kind.
func registered(h core.Handler, n *core.Node, env core.Env, prompts []prompt) (core.Compiled, core.Diagnostics) {
	var ds core.Diagnostics
	if b, ok := h.(core.Binder); ok {
		h, ds = b.Bind(n, env)
	}
	texts := text.NewSet(env, "node "+n.ID.Value)
	config, _ := n.Config.Plain().(*core.Object)
	c := &caller{handler: h, config: config}
	for _, p := range prompts {
		if p.text.Value != "" {
			c.prompts = append(c.prompts, filled{p.key, texts.Template(p.text, p.key)})
		}
	}
	if ds = append(ds, texts.Found...); ds.Failed(false) {
		return core.Compiled{}, ds
	}
	return core.Compiled{Handler: c, Reads: texts.Reads, Nodes: texts.Nodes}, ds
}

// Handle calls the function.
func (c *caller) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	shared := in.Shared()
	// The prompt is first: a function that takes one value gets that.
	args := core.NewObject(c.config.Len() + shared.Args.Len())
	for _, p := range c.prompts {
		s, err := p.template.Render(in)
		if err != nil {
			return core.Result{}, fmt.Errorf("%s: %w", p.key, err)
		}
		args.Set(p.key, s)
	}
	for _, given := range []*core.Object{c.config, shared.Args} {
		for key, v := range given.All() {
			if _, ok := args.Get(key); !ok {
				args.Set(key, v)
			}
		}
	}
	shared.Args = args
	return c.handler.Handle(ctx, core.NewInput(in.Run(), in.Node(), in.Attempt(), shared))
}
