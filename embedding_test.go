package wavefold_test

// The examples of docs/embedding.md. TestEmbeddingPage checks that every piece of Go on
// that page occurs in this file, so that it compiles, and that an example prints each
// output on the page.

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/docstest"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/store/file"
)

type Sale struct {
	ID     int64   `json:"id"`
	Region string  `json:"region"`
	Amount float64 `json:"amount"`
}

var ErrNegative = errors.New("the amount is negative")

func readSales(context.Context) ([]Sale, error) {
	return []Sale{{9007199254740993, "north", 20}, {2, "south", 5}, {3, "north", 7.5}}, nil
}

func tax(_ context.Context, s Sale) (float64, error) {
	if s.Amount < 0 {
		return 0, fmt.Errorf("sale %d: %w", s.ID, ErrNegative)
	}
	return s.Amount / 5, nil
}

func Example_batch() {
	ctx := context.Background()

	sales := wavefold.NewField[[]Sale]("sales")
	taxes := wavefold.NewField[[]float64]("taxes", wavefold.Append)
	total := wavefold.NewField[float64]("total")

	g := wavefold.New("taxes",
		wavefold.Source("read", sales, readSales),                  // func(ctx) ([]Sale, error)
		wavefold.Each("tax", sales, taxes, tax, wavefold.Limit(8)), // func(ctx, Sale) (float64, error)
		wavefold.Map("total", taxes, total, func(_ context.Context, taxes []float64) (float64, error) {
			sum := 0.0
			for _, t := range taxes {
				sum += t
			}
			return sum, nil
		}),
	)
	r, err := g.Run(ctx)
	fmt.Println(r.Status, total.Get(r), err)
	// Output:
	// success 6.5 <nil>
}

func Example_fields() {
	ctx := context.Background()
	seen := wavefold.NewField[map[string]int]("seen", wavefold.Merge, wavefold.Default(map[string]int{"before": 1}))
	last := wavefold.NewField[time.Time]("last")
	longest := wavefold.NewField[string]("longest", wavefold.Reduce(func(old, written string) (string, error) {
		if len(written) > len(old) {
			return written, nil
		}
		return old, nil
	}))
	g := wavefold.New("fields", wavefold.Declare(last),
		wavefold.Source("a", seen, func(context.Context) (map[string]int, error) { return map[string]int{"a": 1}, nil }),
		wavefold.Source("b", seen, func(context.Context) (map[string]int, error) { return map[string]int{"b": 2}, nil }),
		wavefold.Source("short", longest, func(context.Context) (string, error) { return "wave", nil }),
		wavefold.Source("long", longest, func(context.Context) (string, error) { return "wavefold", nil }),
	)
	r, err := g.Run(ctx)
	fmt.Println(seen.Get(r), longest.Get(r), err)
	if _, ok := last.Lookup(r); !ok {
		fmt.Println("last has no value")
	}
	// Output:
	// map[a:1 b:2 before:1] wavefold <nil>
	// last has no value
}

func Example_order() {
	ctx := context.Background()
	say := func(words ...any) func(context.Context) error {
		return func(context.Context) error { fmt.Println(words...); return nil }
	}
	count := wavefold.NewField[int]("count")

	g := wavefold.New("order", wavefold.Concurrency(1),
		wavefold.Source("count", count, func(context.Context) (int, error) { return 3, nil }),
		wavefold.Do("many", say("many"), wavefold.After("count"), wavefold.When("$.count > 10")),
		wavefold.Do("few", say("few"), wavefold.After("count"), wavefold.Else()),
		wavefold.Do("upload", func(context.Context) error { return errors.New("no network") }, wavefold.After("few")),
		wavefold.Do("alert", say("upload failed, alert sent"), wavefold.After("upload"), wavefold.On(wavefold.Failed)),
		wavefold.Do("tidy", say("tidied up"), wavefold.After("many", "upload"), wavefold.AllDone()),
	)
	r, err := g.Run(ctx)
	fmt.Println(r.Status, err)
	many, _ := r.Node("many")
	fmt.Println(many.Status, "because", many.Reason)
	// Output:
	// few
	// upload failed, alert sent
	// tidied up
	// failed node upload: no network
	// skipped because the condition on count -> many is false: $.count > 10
}

func Example_errors() {
	ctx := context.Background()
	sales, taxes := wavefold.NewField[[]Sale]("sales"), wavefold.NewField[[]float64]("taxes", wavefold.Append)
	g := wavefold.New("taxes", wavefold.Each("tax", sales, taxes, tax,
		wavefold.Retry(3, wavefold.Backoff{Base: time.Millisecond, Exponential: true}),
		wavefold.Timeout(30*time.Second),
		wavefold.MaxFailures(10)))
	r, err := g.Run(ctx, sales.Is([]Sale{{1, "north", 10}, {2, "south", -1}, {3, "north", 30}}))

	fmt.Println(errors.Is(err, ErrNegative)) // your own error
	fmt.Println(taxes.Get(r))                // what went well is there
	tax, _ := r.Node("tax")
	fmt.Println(tax.Items, tax.Failed, tax.Attempts)
	// Output:
	// true
	// [2 6]
	// 3 1 5
}

func Example_manyRuns() {
	ctx := context.Background()
	name, hi := wavefold.NewField[string]("name"), wavefold.NewField[string]("greeting")
	g := wavefold.New("hello", wavefold.Map("greet", name, hi,
		func(_ context.Context, n string) (string, error) { return "hello " + n, nil }))

	var wg sync.WaitGroup
	for _, who := range []string{"Ada", "Grace"} {
		wg.Go(func() {
			r, err := g.Run(ctx, name.Is(who), wavefold.WithConcurrency(2))
			fmt.Println(hi.Get(r), err)
		})
	}
	wg.Wait()
	// Unordered output:
	// hello Ada <nil>
	// hello Grace <nil>
}

func Example_pipeline() {
	ctx := context.Background()
	lines, words := wavefold.NewField[[]string]("lines"), wavefold.NewField[[]int]("words", wavefold.Append)
	g := wavefold.New("words",
		wavefold.Pipeline("count", lines, wavefold.Pipe(
			wavefold.Stage("split", func(_ context.Context, line string) ([]string, error) { return strings.Fields(line), nil }),
			wavefold.Stage("length", func(_ context.Context, w []string) (int, error) { return len(w), nil }).Into(words),
		), wavefold.Limit(4)))
	r, err := g.Run(ctx, lines.Is([]string{"one", "two words", "three of them"}))
	fmt.Println(words.Get(r), err)
	// Output:
	// [1 2 3] <nil>
}

func Example_loop() {
	ctx := context.Background()
	x := wavefold.NewField[float64]("x")
	g := wavefold.New("root of two",
		wavefold.Loop("refine", wavefold.Body{
			wavefold.Map("step", x, x, func(_ context.Context, x float64) (float64, error) { return (x + 2/x) / 2, nil }),
		}, wavefold.Until("abs($.x * $.x - 2) < 0.000001"), wavefold.MaxIters(50), wavefold.FailExhausted()))
	r, err := g.Run(ctx, x.Is(1))
	fmt.Printf("%.4f after %d rounds, %v\n", x.Get(r), r.Units()[0].Rows, err)
	// Output:
	// 1.4142 after 4 rounds, <nil>
}

func Example_sub() {
	ctx := context.Background()
	region, report := wavefold.NewField[string]("region"), wavefold.NewField[[]string]("report", wavefold.Append)
	inner := wavefold.New("one region", wavefold.Map("write", region, report,
		func(_ context.Context, region string) ([]string, error) { return []string{"report of " + region}, nil }))

	regions, reports := wavefold.NewField[[]string]("regions"), wavefold.NewField[[]string]("reports", wavefold.Append)
	g := wavefold.New("all regions",
		wavefold.Sub("headquarters", inner, region.Is("headquarters"), wavefold.Out(report, reports)),
		wavefold.Sub("each", inner, wavefold.Over(regions, region), wavefold.Out(report, reports), wavefold.Limit(2)))
	r, err := g.Run(ctx, regions.Is([]string{"north", "south"}))
	fmt.Printf("%q %v\n", reports.Get(r), err)
	// Output:
	// ["report of headquarters" "report of north" "report of south"] <nil>
}

func Example_untyped() {
	ctx := context.Background()
	sales, best := wavefold.NewField[[]Sale]("sales"), wavefold.NewField[string]("best")
	g := wavefold.New("untyped",
		wavefold.Source("read", sales, readSales),
		wavefold.Func("best", wavefold.Fields(sales), wavefold.Fields(best),
			func(_ context.Context, in core.Input) (core.Result, error) {
				list, _ := in.Get("sales") // a []Sale of our own
				sums := map[string]float64{}
				for _, s := range list.([]Sale) {
					sums[s.Region] += s.Amount
				}
				regions := []string{"north", "south"}
				sort.Slice(regions, func(i, j int) bool { return sums[regions[i]] > sums[regions[j]] })
				in.Logger().Info("compared", "regions", len(regions))
				return core.Write("best", regions[0]), nil
			}),
		wavefold.Node("pause", "wait", map[string]any{"duration": "1ms"}, wavefold.After("best")))
	r, err := g.Run(ctx)
	fmt.Println(best.Get(r), err)
	// Output:
	// north <nil>
}

const taxYAML = `
name: tax
inputs:
  amount: {type: number, required: true}
state:
  schema:
    tax: {type: number}
graph:
  nodes:
    - id: tax
      kind: tool
      impl: tax
      args: {amount: $input.amount, rate: 0.2}
      writes: [tax]
`

type TaxArgs struct {
	Amount float64 `json:"amount"`
	Rate   float64 `json:"rate"`
}

func Example_document() {
	ctx := context.Background()

	e := wavefold.NewEngine()
	err := e.AddTool("tax", func(_ context.Context, in TaxArgs) (float64, error) { return in.Amount * in.Rate, nil })
	if err != nil {
		panic(err)
	}
	w, findings := e.Parse("tax.yaml", []byte(taxYAML)) // or e.Load(path) for a file
	if err := findings.Err(false); err != nil {
		panic(err)
	}
	r, err := e.Graph(w).Run(ctx, wavefold.Set("amount", 50))
	fmt.Println(wavefold.NewField[float64]("tax").Get(r), err)

	typo := strings.Replace(taxYAML, "rate:", "rat:", 1)
	w, _ = e.Parse("tax.yaml", []byte(typo))
	_, err = e.Graph(w).Run(ctx, wavefold.Set("amount", 50))
	fmt.Println(err)
	// Output:
	// 10 <nil>
	// tax.yaml:13:37: error: node tax: args: unknown key "rat" (did you mean "rate"? known keys: amount, rate) [UNKNOWN_KEY]
}

type noticeConfig struct {
	Urgent bool        `wavefold:"urgent" doc:"mark the notice as urgent"`
	Topic  source.Text `wavefold:"topic,required" doc:"what the notice is about"`
}

var notice = core.NewKind(core.KindOf[noticeConfig]{
	Name: "notice",
	Doc:  "Writes a notice about a topic.",
	Compile: func(n *core.Node, env core.Env, c *noticeConfig) (core.Compiled, source.Diagnostics) {
		var findings source.Diagnostics
		if len(n.Writes) != 1 {
			findings.Errorf(source.CodeMissingKey, n.ID.Pos, "%s: want one field to write, found %d", n.Subject(), len(n.Writes))
			return core.Compiled{}, findings
		}
		field, text := n.Writes[0].Value, "about "+c.Topic.Value
		if c.Urgent {
			text = "urgent: " + text
		}
		handle := func(context.Context, core.Input) (core.Result, error) { return core.Write(field, text), nil }
		return core.Compiled{Handler: core.HandlerFunc(handle)}, findings
	},
})

const noticeYAML = `
name: notices
state:
  schema:
    out: {type: string}
graph:
  nodes:
    - {id: warn, kind: notice, topic: disk space, urgent: true, writes: [out]}
`

func Example_ownKind() {
	ctx := context.Background()

	e := wavefold.NewEngine(notice)
	w, _ := e.Parse("notices.yaml", []byte(noticeYAML))
	r, err := e.Graph(w).Run(ctx)
	fmt.Println(wavefold.NewField[string]("out").Get(r), err)

	wrong := strings.Replace(noticeYAML, "topic: disk space, urgent: true, ", "urgent: very, ", 1)
	w, _ = e.Parse("notices.yaml", []byte(wrong))
	_, err = e.Graph(w).Run(ctx)
	fmt.Println(err)
	// Output:
	// urgent: about disk space <nil>
	// notices.yaml:8:7: error: node warn: key "topic" is missing [MISSING_KEY]
	// notices.yaml:8:40: error: node warn: urgent: want true or false, found string "very" [WRONG_TYPE]
}

type Draft struct {
	Text  string `json:"text"`
	Score int    `json:"score"`
}

func Example_article() {
	ctx := context.Background()
	write := func(_ context.Context, topic string) (Draft, error) { return Draft{topic, 1}, nil }
	improve := func(_ context.Context, d Draft) (Draft, error) { return Draft{d.Text, min(d.Score+3, 9)}, nil }
	check := func(_ context.Context, d Draft, v *wavefold.Visit) (string, error) {
		if d.Score < 9 {
			v.GuardsFailed = []string{"quality"}
			return "", nil
		}
		return fmt.Sprintf("%s, %d", d.Text, d.Score), nil
	}
	alert := func(context.Context) error { return nil }

	topic, d, published := wavefold.NewField[string]("topic"), wavefold.NewField[Draft]("draft"), wavefold.NewField[string]("published")
	w := wavefold.NewWalk("article",
		wavefold.Map("write", topic, d, write, wavefold.Entry()),     // func(ctx, string) (Draft, error)
		wavefold.Map("refine", d, d, improve),                        // func(ctx, Draft) (Draft, error)
		wavefold.Step("check", d, published, check),                  // func(ctx, Draft, *Visit) (string, error)
		wavefold.Do("alert", alert, wavefold.DefaultNext("refine"))). // func(ctx) error
		Sequential("write", "refine").
		LoopUntil("refine", "check", wavefold.CondOutput(func(d Draft) bool { return d.Score >= 7 }).Named("good"), 4).
		OnGuardFail("check", "refine", wavefold.Priority(1)).
		OnError("check", "alert").
		Always("check", wavefold.End)
	r, err := w.Graph().Run(ctx, topic.Is("waves"))
	fmt.Println(r.Path, published.Get(r), err)
	// Output:
	// [write refine refine check refine check] waves, 9 <nil>
}

const fixDOT = `
digraph fix {
  goal = "a sum of four"
  start     [shape=Mdiamond]
  exit      [shape=Msquare]
  implement [type=implement, goal="$.goal"]
  test      [type=test, sum="$.context.sum", goal_gate=true, max_visits=4]
  start -> implement -> test
  test -> exit [condition="outcome=success"]
  test -> implement
}
`

func Example_walk() {
	ctx := context.Background()
	e := wavefold.NewEngine()
	implement := func(_ context.Context, in core.Input) (core.Result, error) {
		goal, _ := in.Arg("goal")
		fmt.Println("visit", in.Visit(), "attempt", in.Attempt(), goal)
		if in.Attempt() == 1 {
			return core.Result{}, errors.New("the compiler is busy") // another attempt may help
		}
		return core.Result{Routing: &core.Routing{Context: map[string]any{"sum": 2 + in.Visit()}}}, nil
	}
	test := func(args struct{ Sum int }) core.Result {
		if args.Sum != 4 {
			return core.Result{Status: core.Fail, Note: fmt.Sprintf("want 4, got %d", args.Sum)} // final: the edges decide
		}
		return core.Result{}
	}
	if err := errors.Join(e.AddTool("implement", implement), e.AddTool("test", test)); err != nil {
		panic(err)
	}
	w, findings := e.Parse("fix.dot", []byte(fixDOT))
	if err := findings.Err(false); err != nil {
		panic(err)
	}
	for _, n := range w.Nodes { // what DOT cannot say, such as a retry policy of your own
		if n.ID.Value == "implement" {
			attempts, base := source.At(3, n.Pos), source.At(time.Millisecond, n.Pos)
			n.OnError = &core.OnError{Policy: source.At("retry", n.Pos), Attempts: &attempts, Base: &base}
		}
	}
	r, err := e.Graph(w).Run(ctx)
	fmt.Println(r.Path, err)
	// Output:
	// visit 1 attempt 1 a sum of four
	// visit 1 attempt 2 a sum of four
	// visit 2 attempt 1 a sum of four
	// visit 2 attempt 2 a sum of four
	// [start implement test implement test exit] <nil>
}

const poemDOT = `
digraph poem {
  goal = "a haiku about rivers"
  start [shape=Mdiamond]
  write [prompt="Write $goal."]
  check [shape=tab, prompt="Is it good? End with {\"outcome\": ..., \"preferred_next_label\": ...}."]
  exit  [shape=Msquare]
  start -> write -> check
  check -> exit  [label="Publish"]
  check -> write [label="Write again"]
}
`

// drafts replaces a model.
func drafts() func(ctx context.Context, prompt string) (string, error) {
	asked := 0
	return func(_ context.Context, prompt string) (string, error) {
		asked++
		fmt.Println(asked, prompt)
		if asked == 2 {
			return `Five, six, five. {"preferred_next_label": "Write again"}`, nil
		}
		return `{"preferred_next_label": "Publish"}`, nil
	}
}

func Example_agent() {
	ctx, ask := context.Background(), drafts()

	e := wavefold.NewEngine()
	handle := func(ctx context.Context, in core.Input) (core.Result, error) {
		prompt, _ := in.Arg("prompt")
		reply, err := ask(ctx, prompt.(string))
		result, _ := core.ParseDirective(reply)
		return result, err
	}
	if err := errors.Join(e.AddTool("agent", handle), e.AddTool("prompt", handle)); err != nil {
		panic(err)
	}
	w, findings := e.Parse("poem.dot", []byte(poemDOT))
	if err := findings.Err(false); err != nil {
		panic(err)
	}
	r, err := e.Graph(w).Run(ctx)
	fmt.Println(r.Status, err)
	// Output:
	// 1 Write a haiku about rivers.
	// 2 Is it good? End with {"outcome": ..., "preferred_next_label": ...}.
	// 3 Write a haiku about rivers.
	// 4 Is it good? End with {"outcome": ..., "preferred_next_label": ...}.
	// success <nil>
}

const reviewDOT = `
digraph review {
  start [shape=Mdiamond]
  gate  [shape=hexagon, label="Ship it?", timeout=24h, human.default_choice=hold]
  ship  [shape=parallelogram, script="echo shipped"]
  hold  [shape=parallelogram, script="echo held back"]
  exit  [shape=Msquare]
  start -> gate
  gate -> ship [label="[S] Ship"]
  gate -> hold [label="[H] Hold"]
  ship -> exit
  hold -> exit
}
`

func Example_gate() {
	ctx := context.Background()
	e := wavefold.NewEngine()
	w, findings := e.Parse("review.dot", []byte(reviewDOT))
	if err := findings.Err(false); err != nil {
		panic(err)
	}
	// In a service this would send the question to a chat, and wait for the answer or ctx.
	ask := human.Func(func(_ context.Context, q core.Question) (core.Answer, error) {
		for _, c := range q.Choices {
			fmt.Println(q.Text, c.Key, c.Label, "->", c.Target)
		}
		return core.Answer{Text: "ship"}, nil
	})
	r, err := e.Graph(w).Run(ctx, wavefold.WithInterviewer(ask))
	fmt.Println(r.Path, err)
	// Output:
	// Ship it? S [S] Ship -> ship
	// Ship it? H [H] Hold -> hold
	// [start gate ship exit] <nil>
}

func Example_stored() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, down := context.Background(), true
	total := wavefold.NewField[int]("total")
	g := wavefold.New("nightly",
		wavefold.Source("sum", total, func(context.Context) (int, error) {
			fmt.Println("summing")
			return 6, nil
		}),
		wavefold.Sink("send", total, func(_ context.Context, n int) error {
			if down {
				return errors.New("the server is down")
			}
			fmt.Println("sent", n)
			return nil
		}))

	s, err := file.Open(dir, file.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	_, err = g.Run(ctx, wavefold.WithStore(s), wavefold.WithRunID("monday"))
	fmt.Println(err)

	down = false // hours later, perhaps in another process
	running, err := g.Resume(ctx, "monday", wavefold.WithStore(s))
	if err != nil {
		panic(err)
	}
	r, err := running.Wait()
	fmt.Println(r.Status, err)
	// Output:
	// summing
	// node send: the server is down
	// sent 6
	// success <nil>
}

func Example_save() {
	ctx := context.Background()
	sales, taxes := wavefold.NewField[[]Sale]("sales"), wavefold.NewField[[]float64]("taxes", wavefold.Append)
	g := wavefold.New("taxes", wavefold.Source("read", sales, readSales), wavefold.Each("tax", sales, taxes, tax))

	text, err := g.Save()
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile("taxes.yaml", text, 0o600); err != nil {
		panic(err)
	}
	defer os.Remove("taxes.yaml")

	e := wavefold.NewEngine()
	if err := e.Bind(g); err != nil { // the functions: taxes.read and taxes.tax
		panic(err)
	}
	loaded, err := e.Load("taxes.yaml")
	if err != nil {
		panic(err)
	}
	r, err := loaded.Run(ctx)
	fmt.Println(taxes.Get(r), err)
	// Output:
	// [4 1 1.5] <nil>
}

func Example_events() {
	ctx := context.Background()
	n := wavefold.NewField[int]("n")
	g := wavefold.New("watched", wavefold.Func("work", nil, wavefold.Fields(n),
		func(_ context.Context, in core.Input) (core.Result, error) {
			in.Logger().Info("halfway", "attempt", in.Attempt())
			return core.Write("n", 1), nil
		}))
	_, err := g.Run(ctx, wavefold.WithListener(func(e core.Event) {
		switch e.Type {
		case core.NodeStarted, core.NodeFinished:
			fmt.Println(e.Type, e.Node)
		case core.LogLine:
			fmt.Println(e.Node, "says", e.Log, value.JSON(e.Values))
		}
	}))
	fmt.Println(err)
	// Output:
	// node.started work
	// work says halfway {"attempt":1}
	// node.finished work
	// <nil>
}

func Example_findings() {
	total := wavefold.NewField[float64]("total")
	g := wavefold.New("wrong",
		wavefold.Source("total", total, func(context.Context) (float64, error) { return 1, nil }),
		wavefold.Do("report", func(context.Context) error { return nil }, wavefold.After("totl"), wavefold.When("$.totals > 0")))
	for _, d := range g.Findings() {
		fmt.Println(d.Code, d.Message, "-", d.Hint)
	}
	// Output:
	// EXPR_NAME edge totl -> report: when: unknown field "totals" - did you mean "total"?
	// UNKNOWN_NODE edge totl -> report: unknown node "totl" - did you mean "total"?
}

type Flight struct {
	Carrier string `json:"carrier"`
	Delay   int    `json:"delay"` // minutes
}

// readFlights emits the flights of a file, 1000 at a time.
func readFlights(_ context.Context, file string, emit func([]Flight) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	batch := make([]Flight, 0, 1000)
	for lines := csv.NewReader(f); ; {
		line, err := lines.Read()
		if err == io.EOF {
			return emit(batch)
		}
		if err != nil {
			return err
		}
		delay, err := strconv.Atoi(line[1])
		if err != nil {
			return fmt.Errorf("delay: %w", err)
		}
		if batch = append(batch, Flight{line[0], delay}); len(batch) < cap(batch) {
			continue
		}
		if err := emit(batch); err != nil {
			return err
		}
		batch = batch[:0] // emit has returned, so the batch is free
	}
}

func ExampleStream() {
	defer inFolder("flights.csv", "AA,12\nUA,-3\nAA,40\nB6,0\nUA,5\n")()
	ctx := context.Background()

	file := wavefold.NewField[string]("file")
	flights, late := wavefold.NewStream[Flight]("flights"), wavefold.NewStream[Flight]("late")
	minutes := wavefold.NewField[map[string]int]("minutes")

	g := wavefold.New("delays",
		wavefold.StreamFrom("read", file, flights, readFlights),
		wavefold.StreamFilter("late", flights, late, func(_ context.Context, f Flight) (bool, error) {
			return f.Delay > 0, nil
		}),
		wavefold.StreamFold("minutes", late, minutes, func(_ context.Context, sum map[string]int, rows []Flight) (map[string]int, error) {
			if sum == nil { // the first batch
				sum = map[string]int{}
			}
			for _, f := range rows {
				sum[f.Carrier] += f.Delay
			}
			return sum, nil
		}, wavefold.Retry(3)))
	r, err := g.Run(ctx, file.Is("flights.csv"))
	read, _ := flights.Rows(r)
	fmt.Println(minutes.Get(r), "in", read, "flights,", err)

	// Output:
	// map[AA:52 UA:5] in 5 flights, <nil>
}

func ExampleStream_kinds() {
	defer inFolder("flights.csv", "carrier,delay\nAA,12\nUA,-3\n")()
	ctx := context.Background()
	flights, hours := wavefold.NewStream[Flight]("flights"), wavefold.NewStream[Hours]("hours")

	g := wavefold.New("convert", wavefold.Using(wavefold.NewEngine(std.Kinds()...)), wavefold.Dir("."),
		wavefold.Node("read", "dataset", map[string]any{"source": "flights.csv", "stream": true}, wavefold.Writes(flights)),
		wavefold.StreamMap("hours", flights, hours, func(_ context.Context, f Flight) (Hours, error) {
			return Hours{f.Carrier, float64(f.Delay) / 60}, nil
		}),
		wavefold.Node("save", "sink", map[string]any{"to": "hours.jsonl"}, wavefold.Reads(hours)))
	_, err := g.Run(ctx)
	text, _ := os.ReadFile("hours.jsonl")
	fmt.Printf("%s%v\n", text, err)

	// Output:
	// {"carrier":"AA","hours":0.2}
	// {"carrier":"UA","hours":-0.05}
	// <nil>
}

// Hours is the result for a Flight.
type Hours struct {
	Carrier string  `json:"carrier"`
	Hours   float64 `json:"hours"`
}

// inFolder changes to a new folder with one file. back returns to the previous folder
// and removes the new one.
func inFolder(name, text string) (back func()) {
	home, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	if err := errors.Join(os.Chdir(dir), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		panic(err)
	}
	return func() {
		if err := errors.Join(os.Chdir(home), os.RemoveAll(dir)); err != nil {
			panic(err)
		}
	}
}

// TestEmbeddingPage compares the page with the examples above.
func TestEmbeddingPage(t *testing.T) {
	source, err := os.ReadFile("embedding_test.go")
	if err != nil {
		t.Fatal(err)
	}
	pieces, outputs := 0, 0
	for _, b := range docstest.Blocks(t, "docs/embedding.md") {
		switch b.Lang() {
		case "go":
			pieces++
			file, text := "embedding_test.go", source
			if b.Notes["file"] != "" {
				file = b.Notes["file"]
				if text, err = os.ReadFile(file); err != nil {
					t.Fatal(err)
				}
			}
			if !containsIndented(string(text), b.Text) {
				t.Errorf("%s:%d: this piece does not stand in %s", b.File, b.Line, file)
			}
		case "text":
			outputs++
			var comment strings.Builder
			for line := range strings.Lines(b.Text) {
				comment.WriteString("\t// " + line)
			}
			if !strings.Contains(string(source), "utput:\n"+comment.String()) {
				t.Errorf("%s:%d: no example prints this", b.File, b.Line)
			}
		}
	}
	if pieces < 10 || outputs < 8 {
		t.Errorf("found %d pieces of Go and %d outputs", pieces, outputs)
	}
}

// containsIndented reports whether a source contains a piece of code, indented by up to
// two tabs.
func containsIndented(source, text string) bool {
	for range 3 {
		if strings.Contains(source, text) {
			return true
		}
		text = indent(text)
	}
	return false
}

// indent indents a piece of Go by one tab.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("\t")
		}
		b.WriteString(line)
	}
	return b.String()
}
