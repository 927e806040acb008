package plan

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/dot"
)

// roleKind is a kind with a role in a walk.
type roleKind struct {
	name string
	role core.Role
}

func (k roleKind) Name() string { return k.name }
func (roleKind) Keys() []string { return []string{"script", "text", "prompt"} }
func (k roleKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Role: k.role, Handler: core.HandlerFunc(nothing)}, nil
}

const describedWalk = `digraph ship {
	graph [goal="ship it", default_max_retries=1, max_node_visits=5, retry_target=build, stall_timeout=10m]
	start [shape=Mdiamond]
	exit [shape=Msquare]
	build [shape=parallelogram, script="make", label="Build it", retry_policy=aggressive]
	check [shape=parallelogram, script="make test", goal_gate=true, retry_target=build, max_visits=3, allow_partial=true]
	fork [shape=component, join_policy="k_of_n(1)", max_parallel=2, error_policy=fail_fast]
	a [shape=parallelogram, script="a"]
	b [shape=parallelogram, script="b"]
	meet [shape=hexagon, label="Ship?"]
	start -> build -> check
	check -> fork [condition="outcome=success", weight=2]
	check -> build [label="again", loop_restart=true]
	fork -> a
	fork -> b
	fork -> exit [condition="outcome=fail"]
	a -> meet
	b -> meet
	meet -> exit [label="[Y] Yes"]
	meet -> build [freeform=true]
}`

// Programs read the description of a walk, because plan --json prints it.
func TestDescribeWalk(t *testing.T) {
	w, ds := dot.Parse("ship.dot", []byte(describedWalk), dot.Options{})
	if err := ds.Err(false); err != nil {
		t.Fatal(err)
	}
	reg := core.NewRegistry(roleKind{"start", core.RoleStart}, roleKind{"exit", core.RoleExit}, roleKind{"parallel", core.RoleParallel},
		roleKind{"human", core.RoleHuman}, roleKind{"script", core.RoleStage})
	p, ds := Compile(w, reg, Options{Lint: lint})
	if p == nil {
		t.Fatal(ds)
	}
	got, err := json.MarshalIndent(p.Describe(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/ship.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
