package template

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// maxFile limits the size of a template file, in bytes.
const maxFile = 1 << 20

// Kind is the kind "template".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    "template",
	Doc:     "Renders text with values in it.",
	Compile: compile,
	Partial: true,
})

type config struct {
	Text *source.Text `wavefold:"text" doc:"the template; either this or file"`
	File *source.Text `wavefold:"file" doc:"a file with the template, below the workflow's folder"`
	Into source.Text  `wavefold:"into" doc:"the field that gets the result; by default the only declared write, else the edges"`
}

func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	texts := templates.NewSet(n, env)
	t, ds := c.compile(n, env, texts)
	ds = append(ds, texts.Found...)
	to, found := setting.TargetOf(n, c.Into, n.Subject())
	if ds = append(ds, found...); ds.Failed(false) {
		return core.Compiled{Reads: texts.Reads, Nodes: texts.Nodes}, ds
	}
	ds = append(ds, setting.UnusedArgs(n, "the template may contain {{NAME}}", texts.Names...)...)
	return core.Compiled{Handler: &renderer{t, to}, Reads: texts.Reads, Nodes: texts.Nodes, Results: to.Type(value.StringType)}, ds
}

// compile compiles the template in the document or in its file. Findings in a file have the
// name and lines of the file.
func (c *config) compile(n *core.Node, env core.Env, texts *templates.Set) (*templates.Template, source.Diagnostics) {
	var ds source.Diagnostics
	switch {
	case c.Text != nil && c.File != nil:
		ds.Errorf(source.CodeBadValue, c.File.Pos, "%s: text and file exclude each other", n.Subject())
	case c.Text != nil:
		return texts.Template(*c.Text, "text"), nil
	case c.File == nil:
		ds.Errorf(source.CodeMissingKey, n.Config.Pos, `%s: key "text" or "file" is missing`, n.Subject())
	default:
		f := &files.Finder{Env: env, Subject: n.Subject()}
		content, ok := f.Read(*c.File, "file", maxFile)
		if !ok {
			return nil, f.Found
		}
		start := source.Position{File: c.File.Value, Line: 1, Column: 1}
		return texts.Template(source.At(content, start), "file"), nil
	}
	return nil, ds
}

// renderer is a compiled node. It is immutable.
type renderer struct {
	text *templates.Template
	to   setting.Target
}

// Handle renders the template.
func (r *renderer) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if ctx.Err() != nil {
		return core.Result{}, context.Cause(ctx)
	}
	s, err := r.text.Render(in)
	if err != nil {
		return core.Result{}, fmt.Errorf("template: %w", err)
	}
	return r.to.Result(s), nil
}
