package templates

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// keyedTemplate is a template in a configuration, with its key.
type keyedTemplate struct {
	key      string
	template *Template
}

// functionHandler calls a registered function with the configuration of a node as its arguments.
type functionHandler struct {
	handler core.Handler
	config  *value.Object
	prompts []keyedTemplate
}

// Prompt is a template in the configuration of a node.
type Prompt struct {
	Key  string
	Text source.Text
}

// maxPrompt limits the size of a prompt file, in bytes.
const maxPrompt = 1 << 20

// PromptOf returns a prompt. If text is the name of a .md or .txt file without white space, the
// prompt is the content of the file: "see notes.md" is a prompt and not the name of a file.
func PromptOf(f *files.Finder, text source.Text, key string) Prompt {
	name := strings.TrimSpace(text.Value)
	if !slices.Contains([]string{".md", ".txt"}, path.Ext(name)) || strings.ContainsAny(name, " \t\r\n") {
		return Prompt{key, text}
	}
	content, _ := f.Read(source.At(name, text.Pos), key, maxPrompt)
	return Prompt{key, source.At(content, source.Position{File: name, Line: 1, Column: 1})}
}

// Function compiles a node whose handler is the function registered under the name of its kind;
// ok is false if there is none. The arguments of the function are the configuration of the node,
// with its prompts rendered.
func Function(kind string, n *core.Node, env core.Env, prompts []Prompt) (made core.Compiled, ds source.Diagnostics, ok bool) {
	if env.Tool == nil {
		return core.Compiled{}, nil, false
	}
	h, ok := env.Tool(kind)
	if !ok {
		return core.Compiled{}, nil, false
	}
	made, ds = bind(h, n, env, prompts)
	return made, ds, true
}

func bind(h core.Handler, n *core.Node, env core.Env, prompts []Prompt) (core.Compiled, source.Diagnostics) {
	var ds source.Diagnostics
	if b, ok := h.(core.Binder); ok {
		h, ds = b.Bind(n, env)
	}
	texts := NewSet(n, env)
	config, _ := n.Config.Plain().(*value.Object)
	c := &functionHandler{handler: h, config: config}
	for _, p := range prompts {
		if p.Text.Value != "" {
			c.prompts = append(c.prompts, keyedTemplate{p.Key, texts.Template(p.Text, p.Key)})
		}
	}
	if ds = append(ds, texts.Found...); ds.Failed(false) {
		return core.Compiled{}, ds
	}
	return core.Compiled{Handler: c, Reads: texts.Reads, Nodes: texts.Nodes, AnyInput: true}, ds
}

// Handle calls the function.
func (c *functionHandler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	shared := in.Shared()
	// The prompt is the first argument, because a function with one parameter gets the first.
	args := value.NewObject(c.config.Len() + shared.Args.Len())
	for _, p := range c.prompts {
		s, err := p.template.Render(in)
		if err != nil {
			return core.Result{}, fmt.Errorf("%s: %w", p.key, err)
		}
		args.Set(p.key, s)
	}
	for _, given := range []*value.Object{c.config, shared.Args} {
		for key, v := range given.All() {
			if _, ok := args.Get(key); !ok {
				args.Set(key, v)
			}
		}
	}
	shared.Args = args
	return c.handler.Handle(ctx, core.NewInput(in.Run(), in.Node(), in.Attempt(), shared))
}
