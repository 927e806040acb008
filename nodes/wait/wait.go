package wait

import (
	"time"

	"github.com/wavefold/wavefold/core"
)

// Kind is the kind "wait". The zero Kind is ready to use.
type Kind struct{}

var _ core.Kind = Kind{}

type config struct {
	Duration time.Duration `wavefold:"duration,required" doc:"how long to wait, such as 30s"`

	subject string
}

func (c *config) DecodeSubject(*core.Value) string { return c.subject }

// Name returns "wait".
func (Kind) Name() string { return "wait" }

// Keys lists the kind's own keys.
func (Kind) Keys() []string { return core.KeyNames(config{}) }

// Compile reads the duration. Where nodes may lack settings, a node without a duration fails
// when it is visited.
func (Kind) Compile(n *core.Node, env core.Env) (core.Compiled, core.Diagnostics) {
	c := config{subject: "node " + n.ID.Value}
	if env.Late && n.Config.Get("duration") == nil {
		return core.Compiled{Lacks: "there is no duration"}, nil
	}
	ds := core.Decode(n.Config, &c)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	for _, w := range n.Writes {
		ds.Warnf(core.CodeUnused, w.Pos, "%s: a wait writes nothing, field %q stays as it is", c.subject, w.Value)
	}
	return core.Compiled{Wait: &core.Wait{Duration: c.Duration}}, ds
}
