package nodestest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// good is a kind without faults. It writes its text and the field "in" to the field "out".
type good struct {
	keys []string
	// compile and handle replace the parts of the kind.
	compile func(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics)
	handle  core.HandlerFunc
}

type config struct {
	Text  source.Text `wavefold:"text,required"`
	Times source.Int  `wavefold:"times,min=1"`
}

func (g good) Name() string { return "good" }

func (g good) Keys() []string {
	if g.keys != nil {
		return g.keys
	}
	return source.KeyNames(config{})
}

func (g good) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	if g.compile != nil {
		return g.compile(n, env)
	}
	var c config
	ds := source.Decode(n.Config, &c)
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	if g.handle != nil {
		return core.Compiled{Handler: g.handle}, ds
	}
	return core.Compiled{Handler: core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		if ctx.Err() != nil {
			return core.Result{}, context.Cause(ctx)
		}
		v, _ := in.Get("in")
		return core.Write("out", []any{c.Text.Value, v}), nil
	})}, ds
}

// hang logs "ready" and waits for the context.
func hang(ctx context.Context, in core.Input) (core.Result, error) {
	in.Logger().Info("ready")
	<-ctx.Done()
	return core.Result{}, ctx.Err()
}

var case1 = Case{Name: "case", Node: `{"text": "hello", "times": 2, "writes": ["out"]}`, Want: `{"out":["hello",[1]]}`,
	Input: core.Shared{View: core.NewView([]string{"in"}, []any{[]any{int64(1)}})}}

func TestGoodKindPasses(t *testing.T) {
	Run(t, good{}, case1)
	hanging := case1
	hanging.Hangs = true
	Run(t, good{handle: hang}, hanging)
}

// write returns a handler that writes v.
func write(v any) core.HandlerFunc {
	return func(ctx context.Context, _ core.Input) (core.Result, error) { return core.Write("out", v), ctx.Err() }
}

// faulty lists kinds with one fault each, and the message that the suite must report. No fault hangs,
// because the test would take as long as patience.
var faulty = map[string]struct {
	kind good
	says string
}{
	"loose decoding": {good{compile: func(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
		return core.Compiled{Handler: write("x")}, nil
	}}, `no UNKNOWN_KEY`},
	"findings without a place": {good{compile: func(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
		var c config
		ds := source.Decode(n.Config, &c)
		if c.Times.Value < 1 {
			ds.Errorf(source.CodeBadValue, source.Position{}, "times is too small")
		}
		return core.Compiled{Handler: write("x")}, ds
	}}, "a finding without place"},
	"changes the node": {good{compile: func(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
		made, ds := good{}.Compile(n, env)
		n.Config.Set(source.At("seen", n.Pos), source.Tree(true, n.Pos))
		return made, ds
	}}, "compiling changed the node"},
	"makes nothing": {good{compile: func(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
		_, ds := good{}.Compile(n, env)
		return core.Compiled{}, ds
	}}, "exactly one of"},
	"panics on a wrong shape": {good{compile: func(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
		if v := n.Config.Get("text"); v != nil {
			_ = v.Scalar.(string)
		}
		return good{}.Compile(n, env)
	}}, "interface conversion"},
	"hides a key":         {good{keys: []string{"text"}}, `"times" is accepted but not listed`},
	"optional key first":  {good{keys: []string{"times", "text"}}, `lists the required "text" after "times"`},
	"claims a common key": {good{keys: []string{"text", "times", "reads"}}, "belongs to every node"},
	"fails":               {good{handle: func(context.Context, core.Input) (core.Result, error) { return core.Result{}, errors.New("no luck") }}, "the handler failed: no luck"},
	"wrong result":        {good{handle: write("x")}, `want {"out":["hello",[1]]}`},
	"ignores its context": {good{handle: func(context.Context, core.Input) (core.Result, error) {
		return core.Write("out", []any{"hello", []any{int64(1)}}), nil
	}}, "called with a cancelled context"},
	"needs an input": {good{handle: func(ctx context.Context, in core.Input) (core.Result, error) {
		v, _ := in.Get("in")
		return core.Write("out", v.([]any)[0]), ctx.Err()
	}}, "interface conversion"},
	"writes what is not its own": {good{handle: func(ctx context.Context, _ core.Input) (core.Result, error) {
		return core.Write("other", int64(1)), ctx.Err()
	}}, `writes "other"`},
	"keeps its result": {good{handle: write([]any{"hello", []any{int64(1)}})}, "shares values with the next one"},
	"changes its input": {good{handle: func(ctx context.Context, in core.Input) (core.Result, error) {
		if v, ok := in.Shared().View.Get("in"); ok {
			v.([]any)[0] = "mine"
		}
		return core.Result{}, ctx.Err()
	}}, "changed its input"},
}

// faultVar is the environment variable with the name of the fault, for a child of TestFaultyKindsFail.
const faultVar = "WAVEFOLD_TEST_FAULT"

// TestFaultyKindsFail runs the suite on each faulty kind in a separate process, because the suite
// must fail there.
func TestFaultyKindsFail(t *testing.T) {
	if f, ok := faulty[os.Getenv(faultVar)]; ok {
		Run(t, f.kind, case1)
		return
	}
	for name, f := range faulty {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaultyKindsFail$")
			cmd.Env = append(os.Environ(), faultVar+"="+name, "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), f.says) {
				t.Errorf("the suite must fail and say %q, got %v:\n%s", f.says, err, out)
			}
		})
	}
}

func TestTreePositions(t *testing.T) {
	v := Tree(t, "{\"a\": [1,\n  {\"b\": \"x: y, z\"}, null],\n \"c\": 2.5}")
	tests := []struct {
		what string
		got  source.Position
		want string
	}{
		{"mapping", v.Pos, "1:1"}, {"key a", v.Keys[0].Pos, "1:2"}, {"list", v.Get("a").Pos, "1:7"},
		{"first", v.Get("a").Items[0].Pos, "1:8"}, {"inner mapping", v.Get("a").Items[1].Pos, "2:3"},
		{"text", v.Get("a").Items[1].Get("b").Pos, "2:9"}, {"null", v.Get("a").Items[2].Pos, "2:21"},
		{"key c", v.Keys[1].Pos, "3:2"}, {"number", v.Get("c").Pos, "3:7"},
	}
	for _, tt := range tests {
		if got := tt.got.String(); got != File+":"+tt.want {
			t.Errorf("%s: got %s, want %s", tt.what, got, tt.want)
		}
	}
	if got := value.JSON(v.Plain()); got != `{"a":[1,{"b":"x: y, z"},null],"c":2.5}` {
		t.Errorf("got %s", got)
	}
}
