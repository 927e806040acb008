package agent

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// commandTool is a tool that runs a program. The program reads the arguments from standard
// input, and its standard output is the result. A commandTool is immutable.
type commandTool struct {
	path, name string
	args       []string
	dir        string
	inherit    program.Inherit
	env        []variable
}

// variable is an environment variable: a template, or a secret.
type variable struct {
	name   string
	text   *templates.Template
	secret secret.Value
}

// call runs the program once. Secrets of the program are masked in its output, because
// messages to a model leave this machine and the model may repeat them in its answers.
func (p *commandTool) call(ctx context.Context, in core.Input, input *value.Object) (string, error) {
	doc, err := value.AppendJSON(nil, input)
	if err != nil {
		return "", err
	}
	c := program.Command{Path: p.path, Name: p.name, Args: p.args, Dir: p.dir, Inherit: p.inherit,
		Env: program.Environment(in), Mark: program.Mark(in), Notes: program.Notes(in), Stdin: append(doc, '\n'), Log: in.Logger()}
	var secrets []string
	for _, v := range p.env {
		val, err := v.value(in)
		if err != nil {
			return "", fmt.Errorf("%s: env.%s: %w", p.name, v.name, err)
		}
		if v.secret.IsSecret() {
			secrets = append(secrets, val)
		}
		c.Env = append(c.Env, v.name+"="+val)
	}
	c.Mask = secret.NewMasker(secrets...)
	out, err := program.Run(ctx, c)
	return c.Mask.Text(strings.TrimRight(string(out.Stdout), "\r\n")), err
}

func (v variable) value(in core.Input) (string, error) {
	if v.secret.IsSecret() {
		return v.secret.Read(os.LookupEnv)
	}
	return v.text.Render(in)
}
