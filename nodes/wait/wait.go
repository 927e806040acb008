package wait

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Kind is the kind "wait".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    "wait",
	Doc:     "Waits for a fixed time.",
	Before:  before,
	Compile: compile,
})

type config struct {
	Duration time.Duration `wavefold:"duration,required" doc:"how long to wait, such as 30s"`
}

// before compiles a node without a duration, in a mode in which nodes may lack settings. The node
// fails when it is visited.
func before(n *core.Node, env core.Env) (made core.Compiled, done bool, ds source.Diagnostics) {
	if env.Late && n.Config.Get("duration") == nil {
		return core.Compiled{Lacks: "there is no duration"}, true, nil
	}
	return core.Compiled{}, false, nil
}

func compile(n *core.Node, _ core.Env, c *config) (core.Compiled, source.Diagnostics) {
	ds := append(setting.UnusedWrites(n, "a wait writes nothing"), setting.UnusedArgs(n, setting.NoArgs)...)
	return core.Compiled{Wait: &core.Wait{Duration: c.Duration}}, ds
}
