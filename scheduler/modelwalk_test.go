package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// routedOf builds a walk whose edges a model picks from lines: nodes `id shown=x,y`, edges `a -> b
// when=text max=2`. The walk begins at the first node.
func routedOf(t testing.TB, text string) *core.Workflow {
	t.Helper()
	w := &core.Workflow{Mode: core.ModeWalk, Name: source.Text{Value: "routed"}, OpenInputs: true, Walk: &core.Walk{Router: source.Text{Value: core.RouterModel}}}
	nodes := map[string]*core.Node{}
	node := func(id string) *core.Node {
		if nodes[id] == nil {
			nodes[id] = &core.Node{ID: source.Text{Value: id}, Kind: source.Text{Value: "stage"}}
			w.Nodes = append(w.Nodes, nodes[id])
		}
		return nodes[id]
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 3 || words[1] != "->" {
			n := node(words[0])
			for _, s := range words[1:] {
				switch key, value, _ := strings.Cut(s, "="); key {
				case "shown":
					n.ViewMembers = []source.Text{}
					for name := range strings.SplitSeq(value, ",") {
						n.ViewMembers = append(n.ViewMembers, source.Text{Value: name})
					}
				case "attempts":
					n.OnError = &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: number(t, value), RetryOn: source.Text{Value: "transient"}}
				default:
					t.Fatalf("unknown setting %q", s)
				}
			}
			continue
		}
		e := &core.Edge{From: node(words[0]).ID, To: node(words[2]).ID}
		for _, s := range words[3:] {
			switch key, value, _ := strings.Cut(s, "="); key {
			case "when":
				e.When = &source.Text{Value: strings.ReplaceAll(value, "~", " ")}
			case "max":
				e.MaxIterations = number(t, value)
			default:
				t.Fatalf("unknown setting %q", s)
			}
		}
		w.Edges = append(w.Edges, e)
	}
	w.Walk.Entry = w.Nodes[0].ID
	return w
}

// oracle is a router that answers from a list: the index of a choice, "none", "bad" for an unusable
// answer, "to:ID" for the first choice with that target, "fail" for an error.
type oracle struct {
	answers []string
	asked   []core.RouteQuestion
}

func (o *oracle) Route(_ context.Context, q core.RouteQuestion) (core.RouteAnswer, error) {
	o.asked = append(o.asked, q)
	word := o.answers[min(len(o.asked), len(o.answers))-1]
	a := core.RouteAnswer{Choice: core.NoRoute, Raw: word}
	switch to, named := strings.CutPrefix(word, "to:"); {
	case named:
		a.Choice = slices.IndexFunc(q.Choices, func(c core.RouteChoice) bool { return c.Target == to })
	case word == "bad":
		a.Unusable = true
	case word == "fail":
		return a, errors.New("no answer")
	case word != "none":
		if _, err := fmt.Sscan(word, &a.Choice); err != nil {
			panic(err)
		}
	}
	return a, nil
}

// stages registers a handler that follows a script. A step consists of words: a status, k=v for a
// member of its output, eval:name=true|false, error=text, fatal=text.
func stages(t testing.TB, does script) *core.Registry {
	t.Helper()
	var mu sync.Mutex
	calls := map[string]int{}
	reg := core.NewRegistry(std.Kinds()...)
	if err := reg.AddTool("stage", core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		id := in.Node()
		mu.Lock()
		n := calls[id]
		calls[id]++
		mu.Unlock()
		if len(does[id]) == 0 {
			return core.Send(map[string]any{"ran": id}), nil
		}
		return routedStep(does[id][min(n, len(does[id])-1)], in)
	})); err != nil {
		t.Fatal(err)
	}
	return reg
}

func routedStep(text string, in core.Input) (core.Result, error) {
	sent := value.NewObject(0)
	r := core.Result{EdgeOutput: sent, HasEdgeOutput: true}
	for word := range strings.FieldsSeq(text) {
		key, val, ok := strings.Cut(word, "=")
		name, isEval := strings.CutPrefix(key, "eval:")
		switch {
		case !ok:
			if err := r.Status.UnmarshalText([]byte(key)); err != nil {
				panic(err)
			}
		case isEval:
			if r.Routing == nil {
				r.Routing = &core.Routing{Evals: value.NewObject(1)}
			}
			r.Routing.Evals.Set(name, value.ObjectOf("name", name, "kind", "value", "pass", val == "true"))
		case key == "error":
			return r, errors.New(val)
		case key == "fatal":
			return r, core.FailRun(errors.New(val))
		case key == "note":
			r.Note = val
		case key == "previous":
			sent.Set(val, in.Previous())
		default:
			sent.Set(key, val)
		}
	}
	return r, nil
}

func routed(t testing.TB, graph string, does script, o *oracle, inputs map[string]any, opts scheduler.Options) (*core.Report, []core.Event) {
	t.Helper()
	p, ds := plan.Compile(routedOf(t, graph), stages(t, does), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	var events []core.Event
	opts.Listener = func(e core.Event) { events = append(events, e) }
	if o != nil {
		opts.Router = o
	}
	r, err := scheduler.Run(t.Context(), p, inputs, opts)
	if r == nil {
		t.Fatal(err)
	}
	return r, events
}

func TestModelWalks(t *testing.T) {
	for _, c := range []struct {
		name, graph string
		does        script
		answers     string
		inputs      map[string]any
		want        string
		calls       int // questions to the router
	}{
		{"no edge ends the walk", `a`, nil, "", nil, "a: success", 0},
		{"one unconditional edge needs no model", `
			a -> b
			b -> c`, nil, "", nil, "a b c: success", 0},
		{"rule 1: two conditions to one target are two choices", `
			a -> pr when=green
			a -> pr when=hopeless
			a -> stop when=neither`, nil, "1", nil, "a pr: success", 1},
		{"rule 2: a lone conditional edge costs a call", `a -> b when=worth~it`, nil, "0", nil, "a b: success", 1},
		{"rule 3: spent edges are dropped first", `
			look -> work when=more max=1
			look -> out
			work -> look`, nil, "0", nil, "look work look out: success", 1},
		{"rule 4: none without a fallback ends the walk", `a -> b when=worth~it`, nil, "none", nil, "a: success", 1},
		{"rule 4: none with a fallback takes it", `
			a -> b when=worth~it
			a -> c`, nil, "none", nil, "a c: success", 1},
		{"a fallback's own number is an answer", `
			a -> b when=worth~it
			a -> c`, nil, "1", nil, "a c: success", 1},
		{"rule 5: an unusable answer is none", `
			a -> b when=x
			a -> c when=y`, nil, "bad", nil, "a: success", 1},
		{"rule 5: a number nobody offered is none", `
			a -> b when=x
			a -> c`, nil, "7", nil, "a c: success", 1},
		{"rule 6: an error fails the run", `
			a -> b when=x
			a -> c`, nil, "fail", nil, "a: failed error", 1},
		{"rule 8: twins count together", `
			t -> f max=1
			t -> f when=again max=3
			f -> t max=9`, nil, "0", nil, "t f t f t f t: success", 3},
		{"rule 9: a bound of n means n follows", `tick -> tick max=3`, nil, "", nil, "tick tick tick tick: success", 0},
		{"rule 10: a bound on the way back ends in refine", `
			draft -> judge
			judge -> refine when=poor
			judge -> publish when=good
			refine -> judge max=2`, nil, "to:refine", nil, "draft judge refine judge refine judge refine: success", 3},
		{"rule 11: a ring of bounded edges and no leaf", `
			a -> b max=2
			b -> a max=2`, nil, "", nil, "a b a b a: success", 0},
		{"rule 25: a failed node does not stop the walk", `
			a -> b
			b -> c`, script{"b": {"fail note=oh"}}, "", nil, "a b c: failed error", 0},
		{"rule 25: only the last visit counts", `
			a -> b
			b -> a max=1`, script{"a": {"fail", "success"}}, "", nil, "a b a b: success", 0},
		{"rule 25: what breaks in a node fails the run at once", `a -> b`, script{"a": {"fatal=boom"}}, "", nil, "a: failed error", 0},
		{"rule 31: a dry run ends at the first condition", `
			a -> b
			b -> c when=x max=1
			b -> d`, nil, "", map[string]any{"dryRun": true}, "a b: success", 0},
		{"rule 31: true as a text is not a dry run", `
			a -> c when=x
			a -> d`, nil, "0", map[string]any{"dryRun": "true"}, "a c: success", 1},
		{"an empty condition is none", `
			a -> b when=~`, nil, "", nil, "a b: success", 0},
		{"the cap of visits", `a -> a max=1000`, nil, "", nil, strings.Repeat("a ", 199) + "a: failed visit_limit", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &oracle{answers: strings.Fields(c.answers)}
			r, _ := routed(t, c.graph, c.does, o, c.inputs, scheduler.Options{})
			if got := walked(r); got != c.want {
				t.Errorf("walked %s, want %s (%v)", got, c.want, r.Err)
			}
			if len(o.asked) != c.calls {
				t.Errorf("asked %d times, want %d", len(o.asked), c.calls)
			}
		})
	}
}

func TestRouteView(t *testing.T) {
	o := &oracle{answers: []string{"0"}}
	routed(t, `
		p shown=x,gone
		r shown=y
		p -> q
		q -> r
		r -> s when=go`, script{"p": {"x=1 secret=2 eval:ok=false fail"}, "q": {"a=1 b=2"}, "r": {"y=3 evals=mine eval:e=true"}},
		o, map[string]any{"issue": map[string]any{"id": 7}, "dryRun": false}, scheduler.Options{})
	q := o.asked[0]
	// Rules 20-24: p and r show the members that they declare, with null for missing ones, and q
	// shows all. The checks are shown next to them and replace a member of the same name.
	want := `{"p":{"x":"1","gone":null,"evals":{"ok":{"name":"ok","kind":"value","pass":false}}},"q":{"a":"1","b":"2"},"r":{"y":"3","evals":{"e":{"name":"e","kind":"value","pass":true}}}}`
	got, err := value.AppendJSON(nil, q.View)
	if err != nil || string(got) != want {
		t.Errorf("view\n%s\nwant\n%s (%v)", got, want, err)
	}
	inputs, _ := value.AppendJSON(nil, q.Inputs)
	if string(inputs) != `{"dryRun":false,"issue":{"id":7}}` {
		t.Errorf("inputs %s", inputs)
	}
	if !reflect.DeepEqual(q.Failed, []string{"p"}) || q.Node != "r" || q.Visit != 1 || q.Fallback != core.NoRoute {
		t.Errorf("question %+v", q)
	}
}

func TestRouteContext(t *testing.T) {
	// Rule 19: the last result of a node counts, and later nodes see all of it.
	r, _ := routed(t, `
		a shown=x
		a -> b
		b -> a max=1`, script{"a": {"x=1 more=2", "x=3"}}, nil, map[string]any{"k": "v"}, scheduler.Options{})
	c, _ := r.State.Get(core.ContextField)
	got, _ := value.AppendJSON(nil, c)
	if want := `{"input":{"k":"v"},"a":{"x":"3"},"b":{"ran":"b"}}`; string(got) != want {
		t.Errorf("context %s, want %s", got, want)
	}
}

func TestRouteEvents(t *testing.T) {
	o := &oracle{answers: []string{"0", "none", "bad", "bad"}}
	_, events := routed(t, `
		a -> b when=x
		a -> c
		b -> d when=y
		b -> a max=1
		c -> e when=z
		d -> e`, nil, o, nil, scheduler.Options{})
	var got []string
	for _, e := range events {
		if e.Type != core.EdgeChosen {
			continue
		}
		unusable, _ := e.Values.Get("unusable")
		got = append(got, fmt.Sprintf("%s->%s %s: %s, %v", e.From, e.To, e.Step, e.Reason, unusable == true))
		answer, _ := e.Values.Get("answer")
		view, _ := e.Values.Get("view")
		if choices, _ := e.Values.Get("choices"); len(choices.([]any)) == 0 || answer == "" || len(view.(string)) != 16 {
			t.Errorf("%s: choices %v, answer %v, view %v", got[len(got)-1], choices, answer, view)
		}
	}
	if want := []string{"a->b model: x, false", "b->a fallback: only path, false", "a->c fallback: only path, true", "c->(end) none: invalid route target, true"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestRetriesKnowWhatWentBefore(t *testing.T) {
	r, _ := routed(t, `a attempts=3`, script{"a": {"retry note=first", "retry note=second previous=p", "success previous=p"}}, nil, nil, scheduler.Options{})
	a, _ := r.Node("a")
	if got, _ := value.AppendJSON(nil, a.Output); string(got) != `{"p":"second"}` || a.Attempts != 3 || a.Visits != 1 {
		t.Errorf("sent %s after %d attempts in %d visits", got, a.Attempts, a.Visits)
	}
}

// BenchmarkModelWalk measures a step of a walk whose edges a model picks, without the model: a step
// that needs no question, a step that is answered immediately, and a step of a walk whose context
// grows with every step.
func BenchmarkModelWalk(b *testing.B) {
	const hops = 1000
	var long strings.Builder
	for i := range hops {
		fmt.Fprintf(&long, "n%d -> n%d\n", i, i+1)
	}
	for name, graph := range map[string]string{
		"plain": fmt.Sprintf("a -> b\nb -> a max=%d", hops/2),
		"long":  long.String(),
		"asked": fmt.Sprintf("a shown=ran\na -> b when=x\nb -> a when=y max=%d", hops/2),
	} {
		b.Run(name, func(b *testing.B) {
			w := routedOf(b, graph)
			w.Walk.MaxSteps = number(b, "2000")
			p, ds := plan.Compile(w, stages(b, nil), plan.Options{})
			if p == nil {
				b.Fatal(ds)
			}
			first := core.RouterFunc(func(context.Context, core.RouteQuestion) (core.RouteAnswer, error) { return core.RouteAnswer{}, nil })
			b.ReportAllocs()
			for b.Loop() {
				if r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1, Router: first}); err != nil || len(r.Path) < hops {
					b.Fatal(err, len(r.Path))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*hops), "ns/hop")
		})
	}
}
