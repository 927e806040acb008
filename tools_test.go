package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// document returns a workflow of one tool node with the given lines.
func document(lines string) string {
	return `name: t
state: {schema: {a: {}, b: {}, list: {type: array, merge: array_append}}}
graph:
  nodes:
    - id: n
      kind: tool
      impl: f
      ` + strings.ReplaceAll(lines, "\n", "\n      ") + "\n"
}

type point struct {
	X    int64 `json:"x"`
	Y    *float64
	Tags []string `json:"tags"`
}

func TestAddTool(t *testing.T) {
	inputs := map[string]any{"a": value.ObjectOf("x", big, "y", 2.5), "list": []any{big, int64(2)}}
	tests := []struct {
		name  string
		fn    any
		lines string
		want  string // state and output, or the error
	}{
		{"struct", func(_ context.Context, p point) (int64, error) { return p.X + int64(*p.Y), nil }, "args: {x: 9007199254740993, y: 2.0}\nwrites: [b]", `b=9007199254740995`},
		{"pointer", func(p *point) (string, error) { return fmt.Sprint(p.X, p.Tags), nil }, "args: {x: $.a.x, tags: [p, q]}\nwrites: [b]", `b="9007199254740993 [p q]"`},
		{"map", func(m map[string]any) (string, error) { return fmt.Sprintf("%T %v", m["x"], m["x"]), nil }, "args: {x: 9007199254740993}\nwrites: [b]", `b="int64 9007199254740993"`},
		{"the only argument", func(_ context.Context, list []int64) int64 { return list[0] + list[1] }, "args: {list: $.list}\nwrites: [b]", `b=9007199254740995`},
		{"item", func(n int64) []int64 { return []int64{2 * n} }, "for_each: {source: $.list}\nwrites: [list]", `list=[9007199254740993,2,18014398509481986,4]`},
		{"item beside args", func(in struct{ N, Plus int64 }) []int64 { return []int64{in.N + in.Plus} }, "for_each: {source: $.list}\nargs: {n: $item, plus: 1}\nwrites: [list]", `list=[9007199254740993,2,9007199254740994,3]`},
		{"edge output", func() point { return point{X: big} }, "writes: []", `output={"x":9007199254740993,"Y":null,"tags":null}`},
		{"several writes", func() map[string]any { return map[string]any{"a": 1, "b": []int{2}} }, "writes: [a, b]", `a=1 b=[2]`},
		{"several writes of a struct", func() struct {
			A int `json:"a"`
			B string
		} {
			return struct {
				A int `json:"a"`
				B string
			}{1, "x"}
		}, "writes: [a, b]", `writes "B", which the state does not declare`},
		{"several writes of a number", func() int { return 1 }, "writes: [a, b]", `the node writes a, b, so the function must return an object`},
		{"error", func() error { return errGone }, "writes: []", "node n: gone"},
		{"nothing", func() {}, "writes: []", ""},
		{"handler", core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			v, _ := in.Arg("x")
			return core.Write("b", v), nil
		}), "args: {x: $.a.x}\nwrites: [b]", `b=9007199254740993`},
		{"handler's shape", func(_ context.Context, in core.Input) (core.Result, error) {
			return core.Send(in.Node()), nil
		}, "writes: []", `output="n"`},
		{"the whole input", func(in core.Input) (string, error) {
			v, ok := in.Arg("x")
			return fmt.Sprintln(in.Node(), v, ok), nil
		}, "args: {x: 2, y: 3}\nwrites: [b]", `b="n 2 true\n"`},
		{"a result of typed arguments", func(_ context.Context, p point) (core.Result, error) {
			return core.Result{Delta: map[string]any{"b": p.X}, EdgeOutput: "sent", HasEdgeOutput: true}, nil
		}, "args: {x: $.a.x}\nwrites: [b]", `b=9007199254740993 list=[9007199254740993,2] output="sent"`},
		{"a result that is a failure", func(core.Input) core.Result {
			return core.Result{Status: core.Fail, Note: "too few"}
		}, "writes: [b]", `node n: too few`},
		{"unknown argument of a result", func(point) core.Result { return core.Result{} }, "args: {x: 1, z: 2}\nwrites: [b]", `args: unknown key "z" (`},
		{"unknown argument", func(p point) int { return 0 }, "args: {x: 1, z: 2}\nwrites: [b]", `t.yaml:8:20: error: node n: args: unknown key "z" (`},
		{"two for one", func(n int) int { return 0 }, "args: {x: 1, z: 2}\nwrites: [b]", `args: the function takes one argument of type int`},
		{"arguments for none", func() int { return 0 }, "args: {x: 1}\nwrites: [b]", `args: the function takes no arguments`},
		{"wrong argument", func(n int) int { return n }, "args: {x: $.list}\nwrites: [b]", `node n: x: array [9007199254740993,2] does not fit int`},
		{"wrong member", func(p point) int { return 0 }, "args: {x: 1.5}\nwrites: [b]", `node n: args: x: number 1.5 does not fit int64`},
		{"too large", func(n int8) int8 { return n }, "args: {x: 300}\nwrites: [b]", `integer 300 does not fit int8`},
		{"panic", func() int { panic("boom") }, "writes: [b]", `node n: panic: boom`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := wavefold.NewEngine()
			if err := e.AddTool("f", tt.fn); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "t.yaml")
			if err := os.WriteFile(path, []byte(document(tt.lines)), 0o600); err != nil {
				t.Fatal(err)
			}
			got := runDocument(t, e, path, inputs)
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func runDocument(t *testing.T, e *wavefold.Engine, path string, inputs map[string]any) string {
	t.Helper()
	g, err := e.Load(path)
	if err != nil {
		return err.Error()
	}
	var options []wavefold.RunOption
	for k, v := range inputs {
		options = append(options, wavefold.Set(k, v))
	}
	r, err := g.Run(t.Context(), options...)
	if err != nil {
		return err.Error()
	}
	var parts []string
	for k, v := range r.State.All() {
		parts = append(parts, k+"="+value.JSON(v))
	}
	if n, _ := r.Node("n"); !value.IsMissing(n.Output) {
		parts = append(parts, "output="+value.JSON(n.Output))
	}
	return strings.Join(parts, " ")
}

// Models see the arguments of a typed function, and none if the function accepts any.
func TestArgumentsOfTools(t *testing.T) {
	e := wavefold.NewEngine()
	for name, fn := range map[string]any{
		"typed": func(point) core.Result { return core.Result{} },
		"none":  func() int { return 0 },
		"any":   func(core.Input) int { return 0 },
	} {
		if err := e.AddTool(name, fn); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"typed": 3, "none": 0, "any": -1} {
		h, _ := e.Registry().Tool(name)
		got := -1
		if typ := h.(core.Described).Arguments(); typ != nil {
			got = len(typ.Properties)
		}
		if got != want {
			t.Errorf("%s: %d arguments, want %d", name, got, want)
		}
	}
}

func TestInvalidTools(t *testing.T) {
	e := wavefold.NewEngine()
	var none func() error
	for _, tt := range []struct {
		name string
		fn   any
		want string
	}{
		{"f", nil, "got <nil>"},
		{"f", 3, "got int"},
		{"f", none, "the function is nil"},
		{"f", func(a, b int) {}, "want a function such as"},
		{"f", func(...int) {}, "want a function such as"},
		{"f", func(*core.Input) int { return 0 }, "want core.Input, got *core.Input"},
		{"f", func() *core.Result { return nil }, "want core.Result, got *core.Result"},
		{"f", func() (int, int) { return 0, 0 }, "want a function such as"},
		{"f", func(chan int) {}, "chan int has no JSON form"},
		{"", func() {}, "a tool needs a name"},
	} {
		if err := e.AddTool(tt.name, tt.fn); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%T: got %v, want %s", tt.fn, err, tt.want)
		}
	}
	if err := errors.Join(e.AddTool("f", func() {}), e.AddTool("g", func() {})); err != nil {
		t.Error(err)
	}
	if err := e.AddTool("f", func() {}); err == nil || !strings.Contains(err.Error(), "registered twice") {
		t.Errorf("got %v", err)
	}
}
