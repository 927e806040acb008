package workflow

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/registered"
)

// Experience is the kind "experience": a nested workflow in the words of the system whose
// documents have it. The zero Experience is ready to use.
type Experience struct{}

var _ core.Kind = Experience{}

const experience = "experience"

type experienceConfig struct {
	Impl  core.Text `wavefold:"impl,required" doc:"the other workflow, a file or a folder with an experience.yaml, below this workflow's folder"`
	Scope core.Text `wavefold:"state_scope,oneof=isolated|shared" doc:"isolated, which is the default; shared is an error"`

	subject string
}

func (c *experienceConfig) DecodeSubject(*core.Value) string { return c.subject }

// Name returns "experience".
func (Experience) Name() string { return experience }

// Keys lists the kind's own keys.
func (Experience) Keys() []string { return core.KeyNames(experienceConfig{}) }

// Compile loads the other workflow as the kind "workflow" does. A Go function that is
// registered under the name of the kind does the work instead.
func (Experience) Compile(n *core.Node, env core.Env) (core.Compiled, core.Diagnostics) {
	c := experienceConfig{subject: "node " + n.ID.Value}
	ds := core.Decode(n.Config, &c)
	if c.Scope.Value == "shared" {
		ds.Errorf(core.CodeBadValue, c.Scope.Pos, "%s: state_scope: a nested run has a state of its own, so shared is not possible", c.subject).
			WithHint("remove it; give the nested run values with args, and name the fields it is to fill in writes")
	}
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	if made, found, ok := registered.Node(experience, n, env, nil); ok {
		return made, append(ds, found...)
	}
	l := &loader{env: env, subject: c.subject, key: "impl", name: c.Impl, folders: true}
	inner, found := l.load()
	if ds = append(ds, found...); ds.Failed(false) {
		return core.Compiled{}, ds
	}
	return core.Compiled{Frame: &core.Frame{Workflow: inner, Optional: true, Send: true}}, ds
}
