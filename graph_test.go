package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// line returns the line number of the caller.
func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

// Findings of the builder are reported once, even if several are on one line.
func TestFindingsOnce(t *testing.T) {
	ds := wavefold.New("g", wavefold.Do("a", nil), wavefold.Do("b", nil), wavefold.Do("c", nil)).Findings()
	if len(ds) != 3 {
		t.Errorf("%d findings: %v", len(ds), ds)
	}
}

// Every finding refers to the line of the program that caused it.
func TestFindingsPointAtGoLines(t *testing.T) {
	n, s := wavefold.NewField[int]("n"), wavefold.NewField[string]("s")
	list := wavefold.NewField[[]int]("list")
	last, lastLine := wavefold.NewField[[]int]("last"), line()
	one := func(_ context.Context, n int) (int, error) { return n, nil }
	do := func(context.Context) error { return nil }
	twin, twinLine := wavefold.NewField[string]("n"), line()
	wrongDefault, defaultLine := wavefold.NewField[int]("wd", wavefold.Default("five")), line()
	textSum, sumLine := wavefold.NewField[string]("ts", wavefold.Sum), line()
	channel, channelLine := wavefold.NewField[chan int]("ch"), line()
	reducer, reducerLine := wavefold.NewField[int]("rd", wavefold.Reduce(func(a, b string) (string, error) { return a + b, nil })), line()
	tests := []struct {
		name  string
		parts []wavefold.Part
		line  int
		want  string
	}{
		{"bad id", []wavefold.Part{wavefold.Do("fetch-diff", do)}, line(), `BAD_ID`},
		{"twice", []wavefold.Part{wavefold.Do("a", do),
			wavefold.Do("a", do)}, line(), `DUPLICATE_ID`},
		{"unknown predecessor", []wavefold.Part{wavefold.Do("load", do), wavefold.Do("a", do, wavefold.After("lod"))}, line(), `did you mean "load"?`},
		{"no function", []wavefold.Part{wavefold.Do("a", nil)}, line(), `Do has no function`},
		{"bad expression", []wavefold.Part{wavefold.Source("m", n, constant(1)),
			wavefold.Map("a", n, s, func(context.Context, int) (string, error) { return "", nil },
				wavefold.When("$.n >")), wavefold.Do("z", do)}, line(), `EXPR_SYNTAX`},
		{"unknown field in when", []wavefold.Part{wavefold.Source("m", n, constant(1)), wavefold.Do("z", do,
			wavefold.After("m"), wavefold.When("$.nn > 1"))}, line(), `EXPR_NAME`},
		{"when on nothing", []wavefold.Part{wavefold.Declare(n), wavefold.Do("z", do, wavefold.When("$.n > 1"))}, line(), `When has no edge to apply to`},
		{"limit on one", []wavefold.Part{wavefold.Do("z", do, wavefold.Limit(4))}, line(), `option Limit means nothing to Do here (it is for [Each Expand ForEach Func Node Sub Pipeline StreamPipeline])`},
		{"limit without items", []wavefold.Part{wavefold.Func("z", nil, nil, nothing, wavefold.Limit(4))}, line(), `Limit, MaxFailures and Collect are for a fan-out`},
		{"bad limit", []wavefold.Part{wavefold.ForEach("z", list, func(context.Context, int) error { return nil }, wavefold.Limit(0))}, line(), `for_each.concurrency: want a whole number of at least 1`},
		{"too many attempts", []wavefold.Part{wavefold.Do("z", do, wavefold.Retry(21))}, line(), `want 1 to 20, got 21`},
		{"no merge", []wavefold.Part{wavefold.Each("e", list, last, one)}, line(), fmt.Sprintf(`declare it with wavefold.Append or wavefold.Union (%s:%d)`, here(), lastLine)},
		{"cycle", []wavefold.Part{wavefold.Do("a", do, wavefold.After("b")),
			wavefold.Do("b", do, wavefold.After("a"))}, line(), `a -> b -> a`},
		{"two fields of one name", []wavefold.Part{wavefold.Declare(n, twin)}, twinLine, `state field "n" is declared twice`},
		{"default of another type", []wavefold.Part{wavefold.Declare(wrongDefault)}, defaultLine, `default: want integer, got string "five"`},
		{"merge of another type", []wavefold.Part{wavefold.Declare(textSum)}, sumLine, `merge sum cannot work on type string`},
		{"type without JSON", []wavefold.Part{wavefold.Declare(channel)}, channelLine, `chan int has no JSON form`},
		{"reducer of another type", []wavefold.Part{wavefold.Declare(reducer)}, reducerLine, `the reducer folds string, but the field holds int`},
		{"unknown kind", []wavefold.Part{wavefold.Node("z", "comand", nil)}, line(), `unknown kind "comand"`},
		{"unknown key of a kind", []wavefold.Part{wavefold.Node("z", "wait", map[string]any{"duraton": "1s"})}, line(), `did you mean "duration"?`},
		{"condition in a loop", []wavefold.Part{wavefold.Loop("l", wavefold.Body{wavefold.Do("z", do, wavefold.When("true"))}, wavefold.MaxIters(1))}, line(), `option When means nothing to Do here`},
		{"loop without end", []wavefold.Part{wavefold.Loop("l", wavefold.Body{wavefold.Do("z", do)})}, line(), `needs until or max_iters`},
		{"loop in a loop", []wavefold.Part{wavefold.Loop("l", wavefold.Body{wavefold.Do("z", do), wavefold.Loop("m", nil)}, wavefold.MaxIters(2))}, line(), `its parts must be nodes`},
		{"sub of nothing", []wavefold.Part{wavefold.Sub("z", nil)}, line(), `Sub has no graph`},
		{"option inside From", []wavefold.Part{wavefold.Do("a", do), wavefold.Do("z", do, wavefold.From("a", wavefold.MaxIters(2)))}, line(), `option MaxIters means nothing`},
		{"zero field", []wavefold.Part{wavefold.Declare(wavefold.Field[int]{}), wavefold.Do("z", do)}, 0, `a field was not made by NewField`},
		{"nothing at all", nil, 0, `the graph has no nodes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := wavefold.New("g", append(tt.parts, wavefold.Do("end", do))...)
			if tt.parts == nil {
				g = wavefold.New("g")
			}
			err := g.Compile()
			ds, ok := source.AsDiagnostics(err)
			if !ok {
				t.Fatalf("got %v, want findings", err)
			}
			for _, d := range ds {
				if strings.Contains(d.Error(), tt.want) && strings.HasSuffix(d.Pos.File, "graph_test.go") && (int(d.Pos.Line) == tt.line || tt.line == 0) {
					return
				}
			}
			t.Errorf("got\n%v\nwant %s at line %d", err, tt.want, tt.line)
		})
	}
}

// here returns the path of this file as it appears in positions.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return file
}

func TestAllFindingsAtOnce(t *testing.T) {
	n := wavefold.NewField[int]("n")
	g := wavefold.New("g", wavefold.Do("a-b", nil, wavefold.Limit(1)), wavefold.Source("s", n, constant(1), wavefold.After("nowhere"), wavefold.When("$.x")))
	r, err := g.Run(t.Context())
	ds, _ := source.AsDiagnostics(err)
	for _, want := range []source.Code{source.CodeBadID, source.CodeMissingKey, source.CodeUnknownKey, source.CodeUnknownNode} {
		if !ds.Has(want) {
			t.Errorf("%s is not among\n%v", want, ds)
		}
	}
	if r == nil || r.Status != core.RunFailed || r.Err == nil || len(r.Nodes()) != 0 || n.Get(r) != 0 {
		t.Errorf("the result of a run that did not begin: %+v", r)
	}
	if _, err := g.Save(); err == nil {
		t.Error("a graph with errors was saved")
	}
}

func TestInputsThatDoNotFit(t *testing.T) {
	n := wavefold.NewField[int]("count")
	g := wavefold.New("g", wavefold.Sink("s", n, func(context.Context, int) error { return nil }))
	for _, tt := range []struct {
		in   wavefold.Input
		want string
	}{
		{wavefold.Set("cuont", 1), `unknown input "cuont" (did you mean "count"?)`},
		{wavefold.Set("count", "many"), `input "count": want integer, got string "many"`},
		{wavefold.Set("count", int8(3)), ``},
		{wavefold.NewField[string]("count").Is("x"), `input "count": want integer`},
	} {
		r, err := g.Run(t.Context(), tt.in)
		if tt.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || r == nil || r.State.Len() != 0 {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

func TestPipelineAndLoop(t *testing.T) {
	type row struct {
		ID   int64
		Text string
	}
	rows, lengths := wavefold.NewField[[]row]("rows"), wavefold.NewField[[]int]("lengths", wavefold.Append)
	x := wavefold.NewField[float64]("x", wavefold.Default(1))
	var ids []int64
	g := wavefold.New("units",
		wavefold.Source("load", rows, constant([]row{{big, "one"}, {big + 1, ""}, {big + 2, "three"}})),
		wavefold.Pipeline("p", rows, wavefold.Pipe(
			wavefold.Stage("check", func(_ context.Context, r row) (row, error) {
				if r.Text == "" {
					return r, errGone
				}
				return r, nil
			}),
			wavefold.Pipe(
				wavefold.Stage("id", func(_ context.Context, r row) (row, error) { ids = append(ids, r.ID); return r, nil }),
				wavefold.Stage("length", func(_ context.Context, r row) (int, error) { return len(r.Text), nil }).Into(lengths),
			)), wavefold.Limit(1), wavefold.OnError(wavefold.Skip)),
		wavefold.Loop("halve", wavefold.Body{
			wavefold.Map("half", x, x, func(_ context.Context, x float64) (float64, error) { return x / 2, nil }),
		}, wavefold.Until("$.x < 0.2"), wavefold.MaxIters(10)),
	)
	r, err := g.Run(t.Context())
	if !errors.Is(err, errGone) {
		t.Errorf("got error %v", err)
	}
	if !slices.Equal(lengths.Get(r), []int{3, 5}) || !slices.Equal(ids, []int64{big, big + 2}) {
		t.Errorf("lengths %v, ids %v", lengths.Get(r), ids)
	}
	if x.Get(r) != 0.125 {
		t.Errorf("x is %v", x.Get(r))
	}
	if u := r.Units(); len(u) != 2 || u[1].Reason != "until" || u[1].Rows != 3 {
		t.Errorf("units: %+v", u)
	}
}

func TestLoopThatIsExhausted(t *testing.T) {
	n := wavefold.NewField[int]("n", wavefold.Default(0))
	body := wavefold.Body{wavefold.Map("add", n, n, func(_ context.Context, n int) (int, error) { return n + 1, nil })}
	for _, tt := range []struct {
		options []wavefold.Option
		want    string
	}{
		{[]wavefold.Option{wavefold.MaxIters(3)}, ""},
		{[]wavefold.Option{wavefold.MaxIters(3), wavefold.Until("$.n > 5")}, ""},
		{[]wavefold.Option{wavefold.MaxIters(3), wavefold.Until("$.n > 5"), wavefold.FailExhausted()}, "halve"},
	} {
		r, err := wavefold.New("g", wavefold.Loop("halve", body, tt.options...)).Run(t.Context())
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || n.Get(r) != 3 {
			t.Errorf("got n=%d, %v", n.Get(r), err)
		}
	}
}

// region returns a graph that is used as a node.
func region() (g *wavefold.Graph, name wavefold.Field[string], factor wavefold.Field[int64], lines wavefold.Field[[]string]) {
	name, factor = wavefold.NewField[string]("name"), wavefold.NewField[int64]("factor", wavefold.Default(1))
	lines = wavefold.NewField[[]string]("lines", wavefold.Append)
	g = wavefold.New("region", wavefold.Map2("report", name, factor, lines, func(_ context.Context, name string, f int64) ([]string, error) {
		if name == "" {
			return nil, errGone
		}
		return []string{fmt.Sprintf("%s*%d", name, f)}, nil
	}))
	return g, name, factor, lines
}

func TestSub(t *testing.T) {
	g, name, factor, lines := region()
	names, k := wavefold.NewField[[]string]("names"), wavefold.NewField[int64]("k")
	out := wavefold.NewField[[]string]("out", wavefold.Append)
	outer := wavefold.New("outer",
		wavefold.Source("k", k, constant(big)),
		wavefold.Sub("one", g, name.Is("$.not a path"), wavefold.In(factor, k), wavefold.Out(lines, out)),
		wavefold.Sub("many", g, wavefold.Over(names, name), wavefold.Out(lines, out), wavefold.Limit(2), wavefold.After("one")),
	)
	if got := edges(outer); got != "k->one, one->many" {
		t.Errorf("edges %s", got)
	}
	r, err := outer.Run(t.Context(), names.Is([]string{"a", "b", "c"}))
	if want := []string{"$.not a path*9007199254740993", "a*1", "b*1", "c*1"}; err != nil || !slices.Equal(out.Get(r), want) {
		t.Errorf("got %q, %v, want %q", out.Get(r), err, want)
	}
	if _, ok := r.State.Get("lines"); ok {
		t.Error("the inner state is visible outside")
	}
	_, err = outer.Run(t.Context(), names.Is([]string{"a", "", "c"}))
	if !errors.Is(err, errGone) || !strings.Contains(err.Error(), "node many[1]/report: gone") {
		t.Errorf("got %v", err)
	}
}

// Collect and OutEach collect the results of items, including items that write a value
// of their own type to a slice of that type.
func TestCollect(t *testing.T) {
	g, name, _, lines := region()
	names, all := wavefold.NewField[[]string]("names"), wavefold.NewField[[][]string]("all")
	lengths, none := wavefold.NewField[[]int]("lengths", wavefold.SetOnce), wavefold.NewField[[]int]("none")
	outer := wavefold.New("outer",
		wavefold.Sub("many", g, wavefold.Over(names, name), wavefold.OutEach(lines, all), wavefold.Limit(2)),
		wavefold.Func("count", nil, []wavefold.AnyField{lengths}, func(_ context.Context, in core.Input) (core.Result, error) {
			item, _ := in.Item()
			return core.Write("lengths", len(item.(string))), nil
		}, wavefold.Items("$.names"), wavefold.Collect(lengths), wavefold.Limit(4)),
		wavefold.Func("nothing", nil, []wavefold.AnyField{none}, func(context.Context, core.Input) (core.Result, error) {
			return core.Result{}, nil
		}, wavefold.Items("$.names"), wavefold.Collect(none)))
	r, err := outer.Run(t.Context(), names.Is([]string{"a", "bb", "ccc"}))
	if got, want := fmt.Sprint(all.Get(r), lengths.Get(r), none.Get(r)), "[[a*1] [bb*1] [ccc*1]] [1 2 3] []"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	_, err = wavefold.New("plain", wavefold.Func("f", nil, []wavefold.AnyField{none}, nil, wavefold.Collect(none))).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "Limit, MaxFailures and Collect are for a fan-out") {
		t.Errorf("got %v", err)
	}
}

// An inner run never holds a slot of the outer one while it waits: with one slot in
// total, three levels of graphs complete.
func TestNestedWithLimitOne(t *testing.T) {
	g, name, _, lines := region()
	for _, wrapper := range []string{"middle", "outer", "outermost"} {
		n, l := wavefold.NewField[string]("name"), wavefold.NewField[[]string]("lines", wavefold.Append)
		g = wavefold.New(wrapper, wavefold.Concurrency(1),
			wavefold.Sub("first", g, wavefold.In(name, n), wavefold.Out(lines, l)),
			wavefold.Sub("second", g, wavefold.In(name, n), wavefold.Out(lines, l), wavefold.After("first")))
		name, lines = n, l
	}
	r, err := g.Run(t.Context(), name.Is("x"), wavefold.WithMaxInFlight(1), wavefold.WithConcurrency(1))
	if got := lines.Get(r); err != nil || len(got) != 8 {
		t.Errorf("got %v, %v", got, err)
	}
}

// A nested graph has the same default concurrency as a graph that runs on its own.
func TestNestedGraphIsParallel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))) // the default concurrency
	var both sync.WaitGroup
	both.Add(2)
	meet := func(context.Context) error { both.Done(); both.Wait(); return nil }
	inner := wavefold.New("inner", wavefold.Do("a", meet), wavefold.Do("b", meet))
	if _, err := wavefold.New("outer", wavefold.Sub("s", inner)).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestGraphsOfOneName(t *testing.T) {
	do := wavefold.Do("d", func(context.Context) error { return nil })
	a, b := wavefold.New("same", do), wavefold.New("same", do)
	err := wavefold.New("g", wavefold.Sub("x", a), wavefold.Sub("y", b)).Compile()
	if err == nil || !strings.Contains(err.Error(), `another sub-workflow is named "same" too`) {
		t.Errorf("got %v", err)
	}
	err = wavefold.New("same", wavefold.Sub("x", a)).Compile()
	if err == nil || !strings.Contains(err.Error(), `graph "same": another one inside or around it has the name too`) {
		t.Errorf("got %v", err)
	}
}

// everything returns a graph with everything that a document can express.
func everything() *wavefold.Graph {
	g, name, factor, lines := region()
	type order struct {
		ID    int64    `json:"id"`
		Tags  []string `json:"tags,omitempty"`
		Price float64
	}
	who := wavefold.NewField[string]("who", wavefold.Default("Ada"), wavefold.Describe("whom to greet"))
	orders := wavefold.NewField[[]order]("orders", wavefold.Default([]order{{big, nil, 1.5}, {2, []string{"x"}, 3}}))
	ids := wavefold.NewField[[]int64]("ids", wavefold.Append)
	seen := wavefold.NewField[[]order]("seen", wavefold.UnionBy("id"))
	best, once, hits := wavefold.NewField[float64]("best", wavefold.Max), wavefold.NewField[string]("once", wavefold.SetOnce), wavefold.NewField[int64]("hits", wavefold.Count)
	out := wavefold.NewField[[]string]("out", wavefold.Append)
	return wavefold.New("everything", wavefold.Describe("all of it"), wavefold.Concurrency(4), wavefold.MaxInFlight(6),
		wavefold.Each("id", orders, ids, func(_ context.Context, o order) (int64, error) { return o.ID, nil },
			wavefold.Limit(2), wavefold.MaxFailures(1), wavefold.Phase("first")),
		wavefold.Pipeline("p", orders, wavefold.Pipe(
			wavefold.Stage("a", func(_ context.Context, o order) (order, error) { o.Price *= 2; return o, nil }),
			wavefold.Stage("b", func(_ context.Context, o order) (order, error) { return o, nil }).Into(seen)), wavefold.Limit(2), wavefold.After("id")),
		wavefold.Func("best", wavefold.Fields(seen), wavefold.Fields(best, once, hits), func(_ context.Context, in core.Input) (core.Result, error) {
			v, _ := in.Get("seen")
			return core.Result{Delta: map[string]any{"best": value.JSON(v) != "", "once": "first", "hits": nil}, Note: "x"}, nil
		}, wavefold.Args(map[string]any{"from": "$.who", "n": 3}), wavefold.Retry(2, wavefold.Backoff{Base: 1}), wavefold.OnError(wavefold.Skip)),
		wavefold.Sub("sub", g, wavefold.In(name, who), factor.Is(big), wavefold.Out(lines, out), wavefold.Phase("second")),
		wavefold.Node("pause", "wait", map[string]any{"duration": "1ms"}, wavefold.After("sub"), wavefold.When(`$.who == "Ada"`)),
		wavefold.Do("other", func(context.Context) error { return nil }, wavefold.From("sub", wavefold.Else())),
		wavefold.Do("always", func(context.Context) error { return nil }, wavefold.After("best"), wavefold.On(wavefold.Done), wavefold.AllDone(), wavefold.Priority(3)),
		wavefold.Do("alarm", func(context.Context) error { return nil }, wavefold.From("best", wavefold.On(wavefold.Failed), wavefold.Handles())),
		wavefold.Do("some", func(context.Context) error { return nil }, wavefold.After("best", "always", "id"), wavefold.KOfN(2), wavefold.Race()),
		wavefold.Do("half", func(context.Context) error { return nil }, wavefold.After("best", "always"), wavefold.Quorum(0.5)),
		wavefold.Do("any", func(context.Context) error { return nil }, wavefold.After("best", "always"), wavefold.AnyOf()),
		wavefold.Loop("l", wavefold.Body{wavefold.Do("body", func(context.Context) error { return nil })}, wavefold.MaxIters(2), wavefold.FailExhausted()),
	)
}

func TestSaveLoadSave(t *testing.T) {
	g := everything()
	files, err := g.SaveAll()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := wavefold.NewEngine()
	if err := e.Bind(g); err != nil {
		t.Fatal(err)
	}
	loaded, err := e.Load(filepath.Join(dir, "everything.yaml"))
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, files["everything.yaml"])
	}
	again, err := loaded.Save()
	if err != nil || string(again) != string(files["everything.yaml"]) {
		t.Errorf("saved again: %v\n%s\nwant\n%s", err, again, files["everything.yaml"])
	}
	first, err1 := g.Run(t.Context())
	second, err2 := loaded.Run(t.Context())
	if a, b := value.JSON(first.State), value.JSON(second.State); a != b || first.Status != second.Status || fmt.Sprint(err1) != fmt.Sprint(err2) {
		t.Errorf("built %s %v\n%s\nloaded %s %v\n%s", first.Status, err1, a, second.Status, err2, b)
	}
	for _, n := range first.Nodes() {
		if m, ok := second.Node(n.ID); !ok || m.Status != n.Status || m.Reason != n.Reason {
			t.Errorf("node %s: %s (%s), loaded %s (%s)", n.ID, n.Status, n.Reason, m.Status, m.Reason)
		}
	}
}

func TestBindChecksTheDocument(t *testing.T) {
	g, _, _, _ := region()
	data, err := g.Save()
	if err != nil {
		t.Fatal(err)
	}
	e := wavefold.NewEngine()
	if err := e.Bind(g); err != nil {
		t.Fatal(err)
	}
	if err := e.Bind(g); err == nil {
		t.Error("bound twice")
	}
	for _, tt := range []struct{ old, new, want string }{
		{"reads: [name, factor]", "reads: [name]", `the function reads field "factor" (add it: reads: [factor])`},
		{"writes: [lines]", "writes: []", `the function writes field "lines"`},
		{"name: {type: string}", "name: {type: boolean}", `field "name" is of type boolean, but the function's type is string`},
		{"impl: region.report", "impl: region.reprot", `did you mean "region.report"?`},
	} {
		text := strings.Replace(string(data), tt.old, tt.new, 1)
		if text == string(data) {
			t.Fatalf("%q is not in\n%s", tt.old, data)
		}
		w, ds := e.Parse("region.yaml", []byte(text))
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		_, ds = e.Compile(w, false)
		if !strings.Contains(ds.Error(), tt.want) || !strings.Contains(ds.Error(), "region.yaml:") {
			t.Errorf("got %v, want %s", ds, tt.want)
		}
	}
}

func TestSaveErrors(t *testing.T) {
	n := wavefold.NewField[int]("n", wavefold.Reduce(func(a, b int) (int, error) { return a*10 + b, nil }))
	g := wavefold.New("g", wavefold.Source("a", n, constant(1)), wavefold.Source("b", n, constant(2)))
	r, err := g.Run(t.Context())
	if n.Get(r) != 12 || err != nil {
		t.Errorf("got %d, %v", n.Get(r), err)
	}
	if _, err := g.Save(); err == nil || !strings.Contains(err.Error(), "field n") {
		t.Errorf("got %v", err)
	}
}

func TestStrategies(t *testing.T) {
	obj := wavefold.NewField[map[string]int]("obj", wavefold.Merge)
	least, text := wavefold.NewField[uint8]("least", wavefold.Min), wavefold.NewField[string]("text", wavefold.Max)
	set := wavefold.NewField[[]string]("set", wavefold.Union)
	g := wavefold.New("g",
		wavefold.Source("o1", obj, constant(map[string]int{"a": 1, "b": 1})), wavefold.Source("o2", obj, constant(map[string]int{"b": 2})),
		wavefold.Source("l1", least, constant(uint8(7))), wavefold.Source("l2", least, constant(uint8(3))),
		wavefold.Source("t1", text, constant("b")), wavefold.Source("t2", text, constant("a")),
		wavefold.Source("s1", set, constant([]string{"x", "y"})), wavefold.Source("s2", set, constant([]string{"y", "z"})))
	r, err := g.Run(t.Context())
	if got, want := value.JSON(r.State), `{"obj":{"a":1,"b":2},"least":3,"text":"b","set":["x","y","z"]}`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// With a barrier, a node waits for the slowest node of the previous level, even in
// another branch.
func TestWithBarrier(t *testing.T) {
	for _, tt := range []struct {
		options []wavefold.RunOption
		want    time.Duration
	}{
		{nil, 0},
		{[]wavefold.RunOption{wavefold.WithBarrier()}, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var begins time.Duration
			start := time.Now()
			do := func(f func()) func(context.Context) error {
				return func(context.Context) error { f(); return nil }
			}
			g := wavefold.New("g", wavefold.Do("fast", do(func() {})), wavefold.Do("slow", do(func() { time.Sleep(time.Second) })),
				wavefold.Do("next", do(func() { begins = time.Since(start) }), wavefold.After("fast")))
			if _, err := g.Run(t.Context(), append(tt.options, wavefold.WithConcurrency(4))...); err != nil || begins != tt.want {
				t.Errorf("with %d options next begins after %s, want %s: %v", len(tt.options), begins, tt.want, err)
			}
		})
	}
}

// With backpressure, a run starts no new work while its listener is far behind.
func TestWithBackpressure(t *testing.T) {
	const items = 40_000
	in := wavefold.NewField[[]int]("items", wavefold.Default(make([]int, items)))
	for _, bounded := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var done, seen, behind atomic.Int64
			g := wavefold.New("g", wavefold.Declare(in), wavefold.ForEach("each", in, func(context.Context, int) error { done.Add(1); return nil }))
			options := []wavefold.RunOption{wavefold.WithGrace(time.Hour), wavefold.WithListener(func(e core.Event) {
				if e.Type == core.ItemFinished {
					time.Sleep(time.Millisecond)
					behind.Store(max(behind.Load(), done.Load()-seen.Add(1)))
				}
			})}
			if bounded {
				options = append(options, wavefold.WithBackpressure())
			}
			if _, err := g.Run(t.Context(), options...); err != nil || seen.Load() != items || bounded != (behind.Load() <= 2<<14) {
				t.Errorf("bounded %t: %v: %d items seen, up to %d behind", bounded, err, seen.Load(), behind.Load())
			}
		})
	}
}
