package scheduler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// walkOf builds a walk from lines. A node is `id settings…`, an edge `a -> b settings…`;
// nodes named in edges only are stages. Settings are key=value; values have no blanks,
// and a ~ in them stands for one.
func walkOf(t testing.TB, text string) *core.Workflow {
	t.Helper()
	w := &core.Workflow{Mode: core.ModeWalk, Name: source.Text{Value: "walk"}, Walk: &core.Walk{}}
	nodes := map[string]*core.Node{}
	node := func(id string) *core.Node {
		if nodes[id] == nil {
			kind := "stage"
			if id == "start" || id == "exit" {
				kind = id
			}
			nodes[id] = &core.Node{ID: source.Text{Value: id}, Kind: source.Text{Value: kind}}
			w.Nodes = append(w.Nodes, nodes[id])
		}
		return nodes[id]
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case len(words) > 2 && words[1] == "->":
			e := &core.Edge{From: node(words[0]).ID, To: node(words[2]).ID}
			for _, s := range words[3:] {
				edgeSetting(t, e, s)
			}
			w.Edges = append(w.Edges, e)
		case words[0] == "graph":
			for _, s := range words[1:] {
				graphSetting(t, w, s)
			}
		default:
			for _, s := range words[1:] {
				nodeSetting(t, node(words[0]), s)
			}
		}
	}
	return w
}

func number(t testing.TB, s string) *source.Int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return &source.Int{Value: n}
}

func graphSetting(t testing.TB, w *core.Workflow, s string) {
	t.Helper()
	key, val, _ := strings.Cut(s, "=")
	switch key {
	case "retry_target":
		w.Walk.RetryTarget.Value = val
	case "fallback":
		w.Walk.FallbackRetryTarget.Value = val
	case "max_visits":
		w.Walk.MaxVisits = number(t, val)
	case "max_retries":
		w.Walk.MaxRetries = number(t, val)
	case "stall":
		d, _ := time.ParseDuration(val)
		w.Walk.StallTimeout = &source.Located[time.Duration]{Value: d}
	case "field":
		name, merge, _ := strings.Cut(val, ":")
		w.Fields = append(w.Fields, core.FieldDecl{Name: source.Text{Value: name}, Merge: source.Text{Value: merge}, Default: value.Missing})
	default:
		t.Fatalf("unknown setting %q", s)
	}
}

func nodeSetting(t testing.TB, n *core.Node, s string) {
	t.Helper()
	key, value, _ := strings.Cut(s, "=")
	switch key {
	case "kind":
		n.Kind.Value = value
		if value == "parallel" {
			n.Parallel = &core.Parallel{}
		}
	case "gate":
		n.GoalGate = true
	case "target":
		n.RetryTarget.Value = value
	case "fallback":
		n.FallbackRetryTarget.Value = value
	case "max_visits":
		n.MaxVisits = number(t, value)
	case "allow_partial":
		n.AllowPartial = true
	case "auto_status":
		n.AutoStatus = true
	case "random":
		n.Random = true
	case "attempts":
		n.OnError = &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: number(t, value)}
	case "timeout":
		d, _ := time.ParseDuration(value)
		n.Timeout = &source.Located[time.Duration]{Value: d}
	case "writes":
		n.Writes = append(n.Writes, source.Text{Value: value})
	case "join":
		name, arg, _ := strings.Cut(strings.TrimSuffix(value, ")"), "(")
		n.Join = core.JoinOf(source.Text{Value: name})
		switch name {
		case core.JoinKOfN:
			n.Join.Count = number(t, arg)
		case core.JoinQuorum:
			f, _ := strconv.ParseFloat(arg, 64)
			n.Join.Fraction = &source.Located[float64]{Value: f}
		}
	case "max_parallel":
		n.Parallel.MaxParallel = number(t, value)
	case "error_policy":
		n.Parallel.ErrorPolicy.Value = value
	default:
		t.Fatalf("unknown setting %q", s)
	}
}

func edgeSetting(t testing.TB, e *core.Edge, s string) {
	t.Helper()
	key, value, _ := strings.Cut(s, "=")
	value = strings.ReplaceAll(value, "~", " ")
	switch key {
	case "when":
		e.When = &source.Text{Value: value}
	case "label":
		e.Label.Value = value
	case "weight":
		e.Weight = *number(t, value)
	case "restart":
		e.LoopRestart = true
	default:
		t.Fatalf("unknown setting %q", s)
	}
}

// script lists what each node does in each execution; the last entry is repeated. A step consists
// of words such as "fail", "label=Ship", "k=v" (context), "next=a,b", "took=1s", "write=f:v",
// "error=text", "transient=text".
type script map[string][]string

// play runs a walk in virtual time and returns its report and events. A ~ in the strings of
// outcomes means a space.
func play(t *testing.T, w *core.Workflow, does script, o scheduler.Options) (r *core.Report, events []core.Event) {
	t.Helper()
	var mu sync.Mutex // branches of a parallel node call the handler at the same time
	calls := map[string]int{}
	reg := core.NewRegistry(std.Kinds()...)
	if err := reg.AddTool("stage", core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		id := in.Node()
		mu.Lock()
		n := calls[id]
		calls[id]++
		mu.Unlock()
		if len(does[id]) == 0 {
			return core.Result{}, nil
		}
		return step(ctx, does[id][min(n, len(does[id])-1)])
	})); err != nil {
		t.Fatal(err)
	}
	p, ds := plan.Compile(w, reg, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	o.Listener = func(e core.Event) { events = append(events, e) }
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	synctest.Test(t, func(t *testing.T) {
		r, _ = scheduler.Run(t.Context(), p, nil, o)
	})
	return r, events
}

func step(ctx context.Context, text string) (core.Result, error) {
	r := core.Result{Routing: &core.Routing{Context: map[string]any{}}}
	var err error
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		value = strings.ReplaceAll(value, "~", " ")
		switch {
		case key == "partial":
			r.Status = core.PartialSuccess
		case key == "panic":
			panic("oh")
		case !ok:
			if e := r.Status.UnmarshalText([]byte(key)); e != nil {
				panic(e)
			}
		case key == "label":
			r.Routing.PreferredLabel = value
		case key == "next":
			r.Routing.SuggestedNext = strings.Split(value, ",")
		case key == "note":
			r.Note = value
		case key == "category":
			r.Routing.Category = core.Category(value)
		case key == "fatal":
			err = core.FailRun(errors.New(value))
		case key == "error":
			err = errors.New(value)
		case key == "transient":
			err = core.Retryable(errors.New(value))
		case key == "write":
			f, v, _ := strings.Cut(value, ":")
			if r.Delta == nil {
				r.Delta = map[string]any{}
			}
			r.Delta[f] = []any{v}
		case key == "took":
			d, _ := time.ParseDuration(value)
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return core.Result{}, ctx.Err()
			}
		default:
			r.Routing.Context[key] = value
		}
	}
	return r, err
}

// walked formats the result of a walk on one line: its path, the status and, if it failed, the
// class.
func walked(r *core.Report) string {
	s := strings.Join(r.Path, " ") + ": " + string(r.Status)
	if f, ok := errors.AsType[*core.Failure](r.Err); ok {
		s += " " + f.Class
	}
	return s
}

func TestWalks(t *testing.T) {
	for _, c := range []struct {
		name, graph string
		does        script
		want        string
	}{
		{"rule 18: a failure with an unconditional edge goes on", `
			start -> a
			a -> b
			b -> exit`, script{"a": {"fail"}}, "start a b exit: success"},
		{"a6.1: conditions by weight", `
			start -> a
			a -> z when=true weight=1
			a -> b when=true
			a -> c
			z -> exit
			b -> exit
			c -> exit`, nil, "start a z exit: success"},
		{"a6.1: equal weights by name of the target, not by order", `
			start -> a
			a -> z when=outcome=='success'
			a -> b when=true
			z -> exit
			b -> exit`, nil, "start a b exit: success"},
		{"a6.2: preferred label, first in order of the file", `
			start -> a
			a -> z label=[S]~Ship
			a -> b label=ship
			a -> c weight=9
			z -> exit
			b -> exit
			c -> exit`, script{"a": {"label=SHIP"}}, "start a z exit: success"},
		{"a6.2: an edge with a condition is not found by its label", `
			start -> a
			a -> z label=ship when=false
			a -> b
			z -> exit
			b -> exit`, script{"a": {"label=ship"}}, "start a b exit: success"},
		{"a6.3: suggested ids in their order", `
			start -> a
			a -> z
			a -> b weight=5
			a -> c
			z -> exit
			b -> exit
			c -> exit`, script{"a": {"next=nowhere,c,z"}}, "start a c exit: success"},
		{"a6.4: the heaviest, then the first by name", `
			start -> a
			a -> z weight=2
			a -> b weight=2
			a -> c
			z -> exit
			b -> exit
			c -> exit`, nil, "start a b exit: success"},
		{"rule 20: a success without an edge", "start -> a\na -> exit when=false", nil, "start a: failed no_route"},
		{"rule 20: a stage without edges that is not the exit", "start -> a\nstart -> exit weight=-1", nil, "start a: failed no_route"},
		{"rule 19: a failure without an edge goes to its target", `
			start -> a
			a target=fix
			a -> exit when=outcome=='success'
			fix -> exit`, script{"a": {"fail"}}, "start a fix exit: success"},
		{"rule 19: the targets in their order, those that do not exist passed over", `
			graph retry_target=c fallback=d
			start -> a
			a target=nowhere fallback=b
			a -> exit when=outcome=='success'
			b -> exit
			c -> exit
			d -> exit`, script{"a": {"fail"}}, "start a b exit: success"},
		{"rule 19: the graph's target", `
			graph retry_target=c
			start -> a
			a -> exit when=outcome=='success'
			c -> exit`, script{"a": {"fail"}}, "start a c exit: success"},
		{"rule 19: no target", "start -> a\na -> exit when=outcome=='success'", script{"a": {"fail"}}, "start a: failed no_route"},
		{"rule 17: a conditional is transparent", `
			start -> test
			gate kind=conditional
			test -> gate
			gate -> exit when=outcome=='success'
			gate -> fix when=outcome=='fail'
			fix -> test`, script{"test": {"fail", "success"}}, "start test gate fix test gate exit: success"},
		{"rule 17: the failure class through a conditional", `
			start -> test
			gate kind=conditional
			test -> gate
			gate -> exit when=$.context.failure_class=='transient_infra'
			gate -> fix
			fix -> exit`, script{"test": {"error=connection~refused"}}, "start test gate exit: success"},
		{"rule 17: the label through a conditional", `
			start -> test
			gate kind=conditional
			test -> gate
			gate -> a label=left
			gate -> b label=right
			gate -> c weight=9
			a -> exit
			b -> exit
			c -> exit`, script{"test": {"label=right"}}, "start test gate b exit: success"},
		{"rule 22: a gate never visited does not block", `
			start -> a
			g gate
			a -> exit
			a -> g weight=-1
			g -> exit`, nil, "start a exit: success"},
		{"rules 23, 24: the last outcome counts, and the walk goes back to the target", `
			start -> plan
			check gate target=build
			plan -> build
			build -> check
			check -> exit`, script{"check": {"fail", "success"}}, "start plan build check build check exit: success"},
		{"rule 23: a partial success passes", "start -> check\ncheck gate\ncheck -> exit", script{"check": {"partial"}}, "start check exit: success"},
		{"rule 23: skipped does not pass", "start -> check\ncheck gate\ncheck -> exit", script{"check": {"skipped"}}, "start check: failed goal_gate"},
		{"rule 27: skipped does not pass, auto_status or not", "start -> check\ncheck gate auto_status\ncheck -> exit", script{"check": {"skipped"}}, "start check: failed goal_gate"},
		{"rule 27: auto_status satisfies a gate", "start -> check\ncheck gate auto_status\ncheck -> exit", script{"check": {"fail"}}, "start check exit: success"},
		{"rule 25: the gate that ended first", `
			start -> g1
			g1 gate target=one
			g2 gate target=two
			g1 -> g2
			g2 -> exit
			one -> exit
			two -> exit`, script{"g1": {"fail note=x", "success"}, "g2": {"fail note=y"}, "one": {"next=exit"}},
			"start g1 g2" + strings.Repeat(" one", core.DefaultMaxJumps) + ": failed goal_gate"},
		{"rule 26: a target that is the exit is none", "start -> g\ng gate target=exit\ng -> exit", script{"g": {"fail"}}, "start g: failed goal_gate"},
		{"rule 28: N visits are allowed", `
			start -> a
			a max_visits=3
			a -> a when=$.context['internal.node_visit_count']<9
			a -> exit`, nil, "start a a a: failed visit_limit"},
		{"rule 28: the node's limit replaces the graph's", `
			graph max_visits=2
			start -> a
			a max_visits=4
			a -> a when=$visits<4
			a -> exit`, nil, "start a a a a exit: success"},
		{"a11: the third failure of one kind stops the run, successes between or not", `
			start -> a
			a -> b
			b -> a
			b -> exit weight=-1`, script{"a": {"fail note=line~1:~deadbeef01", "success", "fail note=Line~22:~deadbeef02", "fail note=line~333:~deadbeef03"}},
			"start a b a b a b a: failed failure_cycle"},
		{"a11: failures that may pass do not count", `
			start -> a
			a max_visits=5
			a -> a
			a -> exit weight=-1`, script{"a": {"error=timeout"}}, "start a a a a a: failed visit_limit"},
		{"rule 43: a restart forgets the context", `
			start -> a
			a -> b when=$visits==1
			a -> c when=$visits==2
			b -> a restart
			c -> exit when=!$.context.k`, script{"a": {"k=v", ""}}, "start a b a c exit: success"},
		{"rule 43: a restart forgets gates", `
			start -> g
			g gate
			g -> a when=$visits==1
			g -> exit
			a -> b restart
			b -> exit`, script{"g": {"fail"}}, "start g a b exit: success"},
		{"rule 43: a failure does not cross", "start -> a\na -> start2 restart\nstart2 -> exit", script{"a": {"fail"}}, "start a: failed restart_blocked"},
		{"rule 43: one that may pass does", "start -> a\na -> b restart\nb -> exit", script{"a": {"error=timeout"}}, "start a b exit: success"},
		{"rule 44: the exit is success, whatever failed on the way", "start -> a\na -> b\nb -> exit", script{"a": {"fail"}, "b": {"partial"}}, "start a b exit: success"},
		{"rule 1: two requests to be run again are one visit", "start -> w\nw attempts=3\nw -> exit when=outcome=='success'", script{"w": {"retry", "retry", "success"}}, "start w exit: success"},
		{"rule 12: outcome is never retry", "start -> w\nw attempts=2\nw -> a when=outcome=='retry'\nw -> exit when=outcome!='retry'\na -> exit", script{"w": {"retry"}}, "start w exit: success"},
		{"rule 9: a failure's context is there before edges are looked at", "start -> a\na -> exit when=$.context.k=='v'", script{"a": {"fail k=v"}}, "start a exit: success"},
		{"rule 9: the last attempt's context is kept, those before are dropped", "start -> a\na attempts=2\na -> exit when=$.context.k=='2'&&!$.context.j", script{"a": {"retry k=1 j=1", "retry k=2"}}, "start a exit: success"},
		{"a panic is a failure", "start -> a\na attempts=3\na -> exit", script{"a": {"panic"}}, "start a exit: success"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := play(t, walkOf(t, c.graph), c.does, scheduler.Options{})
			if got := walked(r); got != c.want {
				t.Errorf("walked %s, want %s (%v)", got, c.want, r.Err)
			}
		})
	}
}

// a3: selection=random draws by weight, where a weight below 1 counts as 1. The preference of the
// node comes first.
func TestRandomSelection(t *testing.T) {
	const graph = `
		start -> a
		a random
		a -> x weight=4
		a -> y
		a -> z weight=-7 label=z
		x -> exit
		y -> exit
		z -> exit`
	taken := map[string]int{}
	for range 300 {
		r, events := play(t, walkOf(t, graph), nil, scheduler.Options{})
		taken[r.Path[2]]++
		for _, e := range events {
			if e.Type == core.EdgeChosen && e.From == "a" && e.Step != core.StepRandom {
				t.Fatalf("%s -> %s was chosen by %s", e.From, e.To, e.Step)
			}
		}
	}
	if taken["y"] == 0 || taken["z"] == 0 || taken["x"] <= taken["y"] || taken["x"] <= taken["z"] {
		t.Errorf("of 300 walks the edges took %v, want 200, 50 and 50 or so", taken)
	}
	if r, _ := play(t, walkOf(t, graph), script{"a": {"label=z"}}, scheduler.Options{}); walked(r) != "start a z exit: success" {
		t.Errorf("walked %s, and a preferred z", walked(r))
	}
}

// branches returns a walk that forks into a, b and c, which meet at m.
func branches(settings string) string {
	return `
		start -> fork
		fork kind=parallel ` + settings + `
		fork -> a
		fork -> b
		fork -> c
		a -> m
		b -> m
		c -> m
		fork -> rescue when=outcome=='fail'
		rescue -> exit
		m -> exit`
}

func TestParallelNodes(t *testing.T) {
	results := func(r *core.Report) string {
		c, _ := r.State.Get(core.ContextField)
		list, _ := c.(*value.Object).Get(core.ContextParallelResults)
		s := ""
		for _, b := range list.([]any) {
			id, _ := b.(*value.Object).Get("id")
			status, _ := b.(*value.Object).Get("status")
			s += " " + id.(string) + ":" + status.(string)
		}
		return s
	}
	for _, c := range []struct {
		name, graph string
		does        script
		want        string
		took        time.Duration
	}{
		{"a10: wait_all", branches(""), script{"b": {"took=1s"}}, "start fork m exit: success a:success b:success c:success", time.Second},
		{"a10: wait_all never fails", branches(""), script{"a": {"fail"}, "b": {"fail"}, "c": {"fail took=2s"}}, "start fork m exit: success a:fail b:fail c:fail", 0},
		{"rule 30: wait_all is never early", branches(""), script{"a": {"fail"}, "b": {"took=3s"}}, "start fork m exit: success a:fail b:success c:success", 3 * time.Second},
		{"rule 30: first_success gives the others up", branches("join=first_success"), script{"a": {"took=3s"}, "b": {"took=1s"}, "c": {"took=2s"}}, "start fork m exit: success a:fail b:success c:fail", time.Second},
		{"rule 30: those never begun are skipped", branches("join=first_success max_parallel=1"), nil, "start fork m exit: success a:success b:skipped c:skipped", 0},
		{"a10: k_of_n", branches("join=k_of_n(2)"), script{"a": {"took=3s"}, "b": {"took=1s"}, "c": {"took=2s"}}, "start fork m exit: success a:fail b:success c:success", 2 * time.Second},
		{"rule 30: k_of_n fails as soon as that is certain", branches("join=k_of_n(2)"), script{"a": {"took=3s"}, "b": {"took=1s fail"}, "c": {"took=2s fail"}}, "start fork rescue exit: success a:fail b:fail c:fail", 0},
		{"a10: partial and skipped count neither way", branches("join=k_of_n(2)"), script{"a": {"partial"}, "b": {"skipped"}, "c": {"took=1s"}}, "start fork rescue exit: success a:partial_success b:skipped c:fail", 0},
		{"a10: K = 0 succeeds", branches("join=k_of_n(0)"), script{"a": {"fail"}}, "start fork m exit: success a:skipped b:skipped c:skipped", 0},
		{"a10: quorum", branches("join=quorum(0.5)"), script{"a": {"took=1s"}, "b": {"took=1s fail"}, "c": {"took=2s"}}, "start fork m exit: success a:success b:fail c:success", 2 * time.Second},
		{"rule 29: branches have their attempts", `
			start -> fork
			fork kind=parallel join=k_of_n(2)
			a attempts=2
			fork -> a
			fork -> b
			a -> m
			b -> m
			m -> exit`, script{"a": {"retry", "success"}}, "start fork m exit: success a:success b:success", 0},
		{"error_policy fail_fast", branches("error_policy=fail_fast"), script{"a": {"took=1s fail"}, "b": {"took=9s"}, "c": {"took=9s"}}, "start fork m exit: success a:fail b:fail c:fail", 0},
		{"max_parallel", branches("max_parallel=1"), script{"a": {"took=1s"}, "b": {"took=1s"}, "c": {"took=1s"}}, "start fork m exit: success a:success b:success c:success", 3 * time.Second},
		{"a timeout of the whole", branches("timeout=1s"), script{"b": {"took=9s"}}, "start fork rescue exit: success a:success b:fail c:success", time.Second},
		{"rule 31: they meet at the first node by name behind all of them", `
			start -> fork
			fork kind=parallel
			fork -> a
			fork -> b
			a -> z
			b -> z
			a -> m
			b -> m
			m -> exit
			z -> exit`, nil, "start fork m exit: success a:success b:success", 0},
		{"branches within branches", `
			start -> fork
			fork kind=parallel
			inner kind=parallel join=first_success
			fork -> inner
			fork -> c
			inner -> x
			inner -> y
			inner -> m
			c -> m
			m -> exit`, script{"x": {"fail"}}, "start fork m exit: success inner:success c:success", 0},
		{"rule 32: a failed join goes to the target", `
			start -> fork
			fork kind=parallel join=k_of_n(2) target=rescue
			fork -> a
			fork -> b
			a -> exit
			b -> exit
			rescue -> exit`, script{"a": {"error=no"}, "b": {"took=1s"}}, "start fork rescue exit: success a:fail b:fail", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := play(t, walkOf(t, c.graph), c.does, scheduler.Options{})
			if got := walked(r) + results(r); got != c.want {
				t.Errorf("walked %s, want %s (%v)", got, c.want, r.Err)
			}
			if c.took > 0 && r.Duration != c.took {
				t.Errorf("took %s, want %s", r.Duration, c.took)
			}
		})
	}
}

func TestBranchesWriteInTheirOrder(t *testing.T) {
	r, _ := play(t, walkOf(t, `
		graph field=log:array_append
		start -> fork
		fork kind=parallel join=k_of_n(2)
		a writes=log
		b writes=log
		c writes=log
		fork -> c
		fork -> b
		fork -> a
		a -> m
		b -> m
		c -> m
		m -> exit`), script{"a": {"took=1s write=log:a k=v"}, "b": {"took=9s write=log:b"}, "c": {"took=2s write=log:c"}}, scheduler.Options{})
	if log, _ := r.State.Get("log"); fmt.Sprint(log) != "[c a]" {
		t.Errorf("log is %v, want [c a]: in the order of the branches, without the one that was given up", log)
	}
	if c, _ := r.State.Get(core.ContextField); value.Equal(c, nil) || has(c, "k") {
		t.Errorf("the context of a branch was merged back: %v", c)
	}
}

func has(o any, key string) bool {
	_, ok := o.(*value.Object).Get(key)
	return ok
}

func TestStalledWalk(t *testing.T) {
	const graph = "graph stall=10s\nstart -> a\na -> exit"
	r, _ := play(t, walkOf(t, graph), script{"a": {"took=20s"}}, scheduler.Options{})
	if got := walked(r); got != "start a: failed stalled" || r.Duration != 10*time.Second {
		t.Errorf("walked %s in %s", got, r.Duration)
	}
	r, _ = play(t, walkOf(t, "graph stall=10s\nstart -> a\na -> b\nb -> c\nc -> exit"), script{"a": {"took=6s"}, "b": {"took=6s"}, "c": {"took=6s"}}, scheduler.Options{})
	if got := walked(r); got != "start a b c exit: success" {
		t.Errorf("walked %s", got)
	}
	w := walkOf(t, graph)
	w.Nodes[1].Handler = core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		for range 5 {
			time.Sleep(6 * time.Second)
			in.Logger().Info("still at it")
		}
		return core.Result{}, nil
	})
	r, _ = play(t, w, nil, scheduler.Options{})
	if got := walked(r); got != "start a exit: success" {
		t.Errorf("a node that logs was taken for dead: %s", got)
	}
}

func TestWalkThatDoesNothing(t *testing.T) {
	r, _ := play(t, walkOf(t, "start -> a\na kind=conditional\nb kind=conditional\na -> b\nb -> a\nb -> exit weight=-1"), nil, scheduler.Options{})
	if !strings.HasSuffix(walked(r), "failed visit_limit") {
		t.Errorf("the walk ended %v", r.Err)
	}
}

// BenchmarkWalk measures a walk that cycles between two stages that do nothing.
func BenchmarkWalk(b *testing.B) {
	const hops = 1000
	w := walkOf(b, fmt.Sprintf("start -> a\na -> b\nb -> a when=$visits<%d\nb -> exit", hops/2))
	reg := core.NewRegistry(std.Kinds()...)
	if err := reg.AddTool("stage", core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })); err != nil {
		b.Fatal(err)
	}
	p, ds := plan.Compile(w, reg, plan.Options{})
	if p == nil {
		b.Fatal(ds)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1}); err != nil || len(r.Path) != hops+2 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*hops), "ns/hop")
}

func TestFailRunStopsAWalkWithBranches(t *testing.T) {
	r, _ := play(t, walkOf(t, branches("")), script{"a": {"took=1s fatal=boom"}, "b": {"took=9s"}}, scheduler.Options{})
	if got := walked(r); got != "start fork: failed error" || r.Duration != time.Second {
		t.Errorf("walked %s in %s", got, r.Duration)
	}
}
