package workflow

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

const experience = "experience"

// Experience is the kind "experience": a nested workflow with the keys that documents of another
// system use.
var Experience = core.NewKind(core.KindOf[experienceConfig]{
	Name:    experience,
	Doc:     "Runs another workflow as a node of this one, in the words of another system.",
	Before:  isolated,
	Compile: compileExperience,
	Partial: true,
})

type experienceConfig struct {
	Impl  source.Text `wavefold:"impl,required" doc:"the other workflow, a file or a folder with an experience.yaml, below this workflow's folder"`
	Scope source.Text `wavefold:"state_scope,oneof=isolated|shared" doc:"isolated, which is the default; shared is an error"`
}

// isolated rejects state_scope: shared.
func isolated(n *core.Node, _ core.Env) (made core.Compiled, done bool, ds source.Diagnostics) {
	if scope := n.Config.Get("state_scope"); scope != nil && scope.Scalar == "shared" {
		ds.Errorf(source.CodeBadValue, scope.Pos, "%s: state_scope: a nested run has a state of its own, so shared is not possible", n.Subject()).
			WithHint("remove it; give the nested run values with args, and name the fields it is to fill in writes")
	}
	return core.Compiled{}, false, ds
}

// compileExperience loads the other workflow as the kind "workflow" does. A Go function
// registered under the name of the kind replaces the nested run.
func compileExperience(n *core.Node, env core.Env, c *experienceConfig) (core.Compiled, source.Diagnostics) {
	if made, found, ok := templates.Function(experience, n, env, nil); ok {
		return made, found
	}
	l := &loader{env: env, subject: n.Subject(), key: "impl", name: c.Impl, folders: true}
	inner, ds := l.load()
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	return core.Compiled{Frame: &core.Frame{Workflow: inner, Optional: true, Send: true}}, ds
}
