package tool

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Kind is the kind "tool". Its nodes usually write state.
var Kind = core.NewKind(core.KindOf[config]{
	Name:        "tool",
	Doc:         "Runs code of yours: a Go function, or a file in the workflow's folder.",
	WritesState: true,
	Compile:     compile,
	Partial:     true,
})

type config struct {
	Impl      source.Text    `wavefold:"impl,required" doc:"a registered Go function, or a file below the workflow's folder"`
	PassEnv   program.Passed `wavefold:"pass_env" doc:"the variables that a file gets of the environment, in place of all; PATH, HOME, LANG and TMPDIR in any case"`
	MaxOutput setting.Bytes  `wavefold:"max_output" doc:"limit on what a file prints (10MB)"`
}

// compile finds the function or file that impl names.
func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	var ds source.Diagnostics
	if n.Lost.Has("impl") {
		return core.Compiled{}, nil
	}
	if env.Tool != nil {
		if h, ok := env.Tool(c.Impl.Value); ok {
			if b, ok := h.(core.Binder); ok {
				var found source.Diagnostics
				h, found = b.Bind(n, env)
				ds = append(ds, found...)
			}
			if c.PassEnv.Given {
				ds.Warnf(source.CodeIgnored, n.Config.Get("pass_env").Pos, "%s: pass_env has no effect: %s is a Go function, which has the environment of this program", n.Subject(), c.Impl.Value)
			}
			ds = append(ds, setting.NoEffect(n, "a Go function", "max_output")...)
			made := core.Compiled{Handler: h, AnyInput: true}
			made.Stream, made.Streams = core.StreamsOf(h, n)
			return made, ds
		}
	}
	f := &finder{Finder: files.Finder{Env: env, Subject: n.Subject()}, impl: c.Impl}
	call, ok := f.find()
	ds = append(ds, f.Found...)
	if !ok {
		return core.Compiled{}, ds
	}
	ds = append(ds, program.CheckArgs(n, n.Subject())...)
	inherit, found := c.PassEnv.Inherit(n.Subject(), env, program.Owner{})
	if ds = append(ds, found...); ds.Failed(false) {
		return core.Compiled{}, ds
	}
	call.maxOutput, call.inherit = int(c.MaxOutput), inherit
	return core.Compiled{Handler: call, Effects: true, Environments: inherit.Described("")}, ds
}

// fileTool runs a file. It is immutable.
type fileTool struct {
	name      string // as the document calls it
	path      string
	args      []string
	dir       string
	inherit   program.Inherit
	maxOutput int
}

// Handle runs the program once.
func (p *fileTool) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	doc, err := program.Document(in)
	if err != nil {
		return core.Result{}, fmt.Errorf("%s: %w", p.name, err)
	}
	out, err := program.Run(ctx, program.Command{
		Path: p.path, Name: p.name, Args: p.args, Dir: p.dir, Inherit: p.inherit, Env: program.Environment(in), Mark: program.Mark(in), Notes: program.Notes(in), Keep: program.Keep(in),
		Stdin: doc, MaxOutput: p.maxOutput, Log: in.Logger(),
	})
	if err != nil {
		return core.Result{}, err
	}
	r, err := program.ParseResult(out.Stdout, in.Logger())
	if err != nil {
		return core.Result{}, fmt.Errorf("%s: %w", p.name, err)
	}
	return r, nil
}
