package schedulertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/projection"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// TestPropertyRerun resumes paused runs so that random nodes run again, while some of their questions are open and
// others were answered. Questions of what runs again are withdrawn and asked again, answers to them do not count,
// and the run ends as if nothing had run twice.
func TestPropertyRerun(t *testing.T) {
	tally := map[string]int{}
	for _, seed := range seeds(graphs() / 5) {
		var faults []string
		var g fmt.Stringer
		synctest.Test(t, func(t *testing.T) {
			x := &rerunning{t: t, seed: seed, tally: tally, store: memory.New(nil), asked: map[string]int{}, least: map[string]int{}, given: map[string]string{}, dropped: map[string]bool{}}
			if seed%3 == 0 {
				g = x.flow()
			} else {
				g = x.graph()
			}
			faults = x.faults
		})
		if len(faults) > 0 {
			t.Fatalf("seed %d:\n%s\n%s", seed, strings.Join(faults, "\n"), g)
		}
	}
	t.Log(tally)
	for _, what := range []string{"flows", "dags", "walks", "withdrawn in flows", "withdrawn in dags", "withdrawn in walks", "answers dropped", "queued"} {
		if tally[what] == 0 && *seedFlag == 0 && graphs() >= 1000 { // a smaller sample may lack one by chance
			t.Errorf("the runs had none of this: %s", what)
		}
	}
}

// rerunning is a run in several processes. Each process continues the run after a pause.
type rerunning struct {
	t       *testing.T
	seed    uint64
	kind    string
	tally   map[string]int
	store   *memory.Store
	plan    *plan.Plan
	events  []core.Event      // of all processes
	asked   map[string]int    // the numbers of questions, by name
	least   map[string]int    // the numbers that they must have at least when they are asked again
	given   map[string]string // the questions that were answered, by the person who did
	dropped map[string]bool   // the people whose answers must not count
	reruns  int
	faults  []string
}

func (x *rerunning) fault(format string, args ...any) {
	x.faults = append(x.faults, fmt.Sprintf(format, args...))
}

func (x *rerunning) draw(n int, parts ...any) int {
	return int(digest(x.seed, "rerun", fmt.Sprint(parts...)) % uint64(n))
}

// flow runs a flow until it ends, and compares it with the rules.
func (x *rerunning) flow() fmt.Stringer {
	g := GenerateFlow(x.seed)
	g.Silly, g.Leave, g.Fail = 0, 0, 0
	x.plan = compileFlow(x.t, g)
	x.kind = "flows"
	x.tally[x.kind]++
	r := x.untilEnd(nil, func() {}, func(q *core.Question) inbox.Answer {
		word, note := g.decision(q.Node, q.Visit)
		return inbox.Answer{Choice: word, Note: note}
	})
	if r != nil {
		_, faults := flowDifferences(g, r, x.newest())
		x.faults = append(x.faults, faults...)
	}
	return g
}

// graph runs a dag or a walk until it ends, and compares it with the oracle.
func (x *rerunning) graph() fmt.Stringer {
	g := dags(Shape{Elements: 4})(x.seed)
	if x.kind = "dags"; x.seed%3 == 1 {
		g, x.kind = GenerateWalk(x.seed), "walks"
	}
	x.tally[x.kind]++
	want, run := oracleOf(g), &Run{Recorder: &Recorder{}}
	r := x.untilEnd(g.Values(), func() {
		rec := &Recorder{}
		x.plan = MustCompile(x.t, g, rec)
		if run.Recorder.seen == nil {
			run.Recorder.seen, run.Recorder.unitOf = map[Execution]string{}, rec.unitOf
		}
		maps.Copy(rec.seen, run.Recorder.seen)
		run.Recorder, run.Plan = rec, x.plan
	}, func(q *core.Question) inbox.Answer { return inbox.Answer{Choice: q.Choices[0].Key} })
	if r == nil {
		return g
	}
	run.Events = x.newest()
	run.ended(r, want)
	if want == nil {
		want = OracleWalk(g, 0, run.Events)
	}
	want.Recorder, run.Recorder = &Recorder{}, &Recorder{} // nodes were executed several times
	x.faults = append(x.faults, Differences(want, run)...)
	return g
}

// untilEnd runs and resumes until the run has ended. prepare is called before each process, and answer says
// what a person answers. The report is nil if something is wrong.
func (x *rerunning) untilEnd(inputs map[string]any, prepare func(), answer func(*core.Question) inbox.Answer) *core.Report {
	options := scheduler.Options{Run: "test", Concurrency: 1 + x.draw(8, "limit"), Recording: &scheduler.Recording{Store: x.store}, Listener: x.hear}
	prepare()
	r, err := scheduler.Run(x.t.Context(), x.plan, inputs, options)
	for n := 1; ; n++ {
		if r == nil || n > 300 {
			x.fault("process %d: %v", n, err)
			return nil
		}
		paused, ok := errors.AsType[*core.PausedError](err)
		if !ok || len(x.faults) > 0 {
			return r
		}
		open := x.open(paused)
		again := x.reruns < 3 && x.draw(2, "rerun", n) == 0
		for i := range open {
			if q := &open[i]; again && x.draw(3, "before", n, i) == 0 || !again && (i == 0 || x.draw(3, "answer", n, i) == 0) {
				x.post(q, answer(&q.Question))
			}
		}
		recording := scheduler.Recording{Store: x.store}
		if again {
			recording.RerunFrom = []string{x.plan.Nodes[x.draw(len(x.plan.Nodes), "node", n)].ID}
			x.drop(recording.RerunFrom, open)
		}
		prepare()
		st, err2 := scheduler.OpenStored(x.t.Context(), x.store, "test")
		if err2 != nil {
			x.t.Fatal(err2)
		}
		options.Recording = &recording
		r, err = scheduler.Resume(x.t.Context(), st, x.plan, options)
	}
}

// hear notes an event of a process. An answer that was dropped must not be among them.
func (x *rerunning) hear(e core.Event) {
	x.events = append(x.events, e)
	if by, ok := e.Values.Get("by"); ok && e.Type == core.NodeAnswered && x.dropped[fmt.Sprint(by)] {
		x.fault("%s is answered by %s, whose answer was dropped", e.Node, by)
	}
}

// open returns the open questions, which the store must know, each with a number that was not used for another one.
func (x *rerunning) open(paused *core.PausedError) []core.PendingQuestion {
	st, err := inbox.Questions(x.t.Context(), x.store, "test")
	if err != nil {
		x.t.Fatal(err)
	}
	names := func(list []core.PendingQuestion) []string {
		var out []string
		for _, q := range list {
			out = append(out, questionName(q.Node, q.Visit, q.Attempt, q.Generation))
		}
		slices.Sort(out)
		return out
	}
	if want, got := names(paused.Questions), names(st.Open); !slices.Equal(want, got) {
		x.fault("the store says that %q wait, want %q", got, want)
	}
	if len(st.Queued) != len(paused.Queued) {
		x.fault("the store says that %d questions are queued, want %d", len(st.Queued), len(paused.Queued))
	}
	x.tally["queued"] += len(st.Queued)
	for s, err := range x.store.List(x.t.Context(), store.Query{}) {
		if err != nil || s.Waiting != len(st.Open) {
			x.fault("the list of runs says that %d wait, want %d: %v", s.Waiting, len(st.Open), err)
		}
	}
	for _, q := range paused.Questions {
		name := inbox.Name(&q.Question)
		if q.Generation < x.least[name] {
			x.fault("%s waits with number %d, want %d or more", name, q.Generation, x.least[name])
		}
		x.asked[name] = max(1, q.Generation)
	}
	return paused.Questions
}

// post answers a question.
func (x *rerunning) post(q *core.PendingQuestion, a inbox.Answer) {
	a.Node, a.Visit, a.Attempt, a.By = q.Node, q.Visit, q.Attempt, fmt.Sprint("person ", len(x.given))
	if _, err := inbox.Post(x.t.Context(), x.store, "test", a); err != nil {
		x.fault("%s cannot be answered: %v", inbox.Name(&q.Question), err)
	}
	x.given[a.By] = q.Node
}

// drop notes what does not count any longer if nodes run again.
func (x *rerunning) drop(nodes []string, open []core.PendingQuestion) {
	x.reruns++
	again := journal.Affected(x.plan, nodes)
	for name, number := range x.asked {
		if node, _, _ := strings.Cut(name, "#"); journal.Covers(again, node) {
			x.least[name] = number + 1
		}
	}
	for by, node := range x.given {
		if journal.Covers(again, node) {
			x.dropped[by] = true
			x.tally["answers dropped"]++
		}
	}
	for i := range open {
		if journal.Covers(again, open[i].Node) {
			x.tally["withdrawn in "+x.kind]++
		}
	}
}

// newest returns the events of the newest part of the journal, which must follow the rules.
func (x *rerunning) newest() (events []core.Event) {
	err := projection.Newest(x.t.Context(), x.store, "test", func(*journal.Head) (*plan.Plan, error) { return x.plan, nil }, func(e *core.Event) error {
		events = append(events, *e)
		return nil
	})
	if err != nil {
		x.fault("the events of the journal: %v", err)
	}
	x.faults = append(x.faults, violations(x.plan, events)...)
	return events
}
