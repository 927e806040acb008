package wavefold_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// says returns an agent that answers with a text and its prompt.
func says(text string) wavefold.AgentSpec {
	return wavefold.AgentSpec{Run: func(_ context.Context, c core.AgentCall) (string, error) { return text + "(" + c.UserPrompt + ")", nil }}
}

// letter is a flow in which two approvals are reached at once: ask first, then also.
func letter() *wavefold.Graph {
	return wavefold.NewFlow("letter",
		wavefold.FlowStart("start", "dear"),
		wavefold.FlowAgent("write", says("w")),
		wavefold.FlowApproval("ask", "Send it?"),
		wavefold.FlowApproval("also", "Print it?"),
		wavefold.FlowAgent("send", says("s")),
		wavefold.FlowAgent("drop", says("d")),
		wavefold.FlowFunc("note", func(_ context.Context, in any) (any, error) { return map[string]any{"n": in}, nil }),
		wavefold.FlowFunc("after", func(_ context.Context, in any) (any, error) { return core.FlowText(in) + "!", nil }),
		wavefold.Connect("start", "write"),
		wavefold.Connect("write", "ask"), wavefold.Connect("write", "note"), wavefold.Connect("write", "also"),
		wavefold.Connect("note", "after"),
		wavefold.Connect("ask", "send", "approve"), wavefold.Connect("ask", "drop", "reject"),
		wavefold.Connect("also", "send", "approve"),
	)
}

func current(r *wavefold.FlowResult) string {
	node := "-"
	if r.CurrentNodeID != nil {
		node = *r.CurrentNodeID
	}
	return fmt.Sprintf("%s %t %s %v", r.Status, r.WaitingForInput, node, r.Queued)
}

// TestFlowPausesAndGoesOn answers approvals in one process: one at a time, the queue after the branch.
func TestFlowPausesAndGoesOn(t *testing.T) {
	var mu sync.Mutex
	live := 0
	run, err := letter().StartFlow(t.Context(), wavefold.WithFlowLog(func(wavefold.FlowEntry) { mu.Lock(); live++; mu.Unlock() }))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Wait()
	if got := current(r); err != nil || got != "paused true ask [also]" {
		t.Fatalf("%s, %v", got, err)
	}
	for _, wrong := range []string{"", "maybe", "do not reject", "approve reject"} {
		if r, err = run.Answer(t.Context(), wavefold.Decision{Decision: wrong}); !errors.Is(err, wavefold.ErrDecision) || current(r) != "paused true ask [also]" {
			t.Errorf("%q: %s, %v", wrong, current(r), err)
		}
	}
	r, err = run.Answer(t.Context(), wavefold.Decision{Decision: "REJECT", Note: "not yet"})
	if got := current(r); err != nil || got != "paused true also []" {
		t.Fatalf("%s, %v", got, err)
	}
	r, err = run.Answer(t.Context(), wavefold.Decision{Decision: "approve"})
	if got := current(r); err != nil || got != "completed false - []" {
		t.Fatalf("%s, %v", got, err)
	}
	if again, err := run.Answer(t.Context(), wavefold.Decision{Decision: "reject"}); err != nil || current(again) != current(r) {
		t.Errorf("answered again: %s, %v", current(again), err)
	}
	want := `{"start":"dear","previous_output":"s(w(dear))","write":"w(dear)","note":{"n":"w(dear)"},"ask_approval":{"decision":"reject","note":"not yet"},` +
		`"drop":"d(w(dear))","after":"{\"n\":\"w(dear)\"}!","also_approval":{"decision":"approve","note":""},"send":"s(w(dear))"}`
	if got := value.JSON(r.State); got != want {
		t.Errorf("state\n%s\nwant\n%s", got, want)
	}
	var entries []string
	for _, e := range r.Logs {
		if !slices.Contains([]string{core.LogStepStart, core.LogStartPrompt}, e.Type) || e.NodeID == "ask" {
			entries = append(entries, e.NodeID+" "+e.Type)
		}
	}
	if got, want := strings.Join(entries, ", "), "write llm_response, ask step_start, ask wait_input, note llm_response, ask input_received, drop llm_response, after llm_response, also wait_input, also input_received, send llm_response"; got != want {
		t.Errorf("log %s\nwant %s", got, want)
	}
	mu.Lock()
	defer mu.Unlock()
	if live != len(r.Logs) || r.Logs[0].Timestamp == "" {
		t.Errorf("%d entries were heard, %d are in the log", live, len(r.Logs))
	}
}

// TestFlowSnapshot restores a paused run from JSON, in a graph that was built again.
func TestFlowSnapshot(t *testing.T) {
	run, err := letter().StartFlow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, _ := run.Wait()
	for range 3 { // pause by pause
		data, err := run.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(data, &plain); err != nil {
			t.Fatal(err)
		}
		if data, err = json.Marshal(plain); err != nil {
			t.Fatal(err)
		}
		restored, err := letter().RestoreFlow(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		back, _ := restored.Wait()
		if a, b := value.JSON(r.State), value.JSON(back.State); current(back) != current(r) || len(back.Logs) != len(r.Logs) || len(a) != len(b) {
			t.Fatalf("restored as %s with %d entries and %s, was %s with %d and %s", current(back), len(back.Logs), b, current(r), len(r.Logs), a)
		}
		if run = restored; !back.WaitingForInput {
			break
		}
		if r, err = run.Answer(t.Context(), wavefold.Decision{Decision: "approve"}); err != nil {
			t.Fatal(err)
		}
	}
	if current(r) != "completed false - []" {
		t.Error(current(r))
	}
	data, _ := run.Snapshot(t.Context())
	other := wavefold.NewFlow("letter", wavefold.FlowStart("start", "other"), wavefold.FlowAgent("write", says("w")), wavefold.Connect("start", "write"))
	if _, err := other.RestoreFlow(t.Context(), data); !errors.Is(err, wavefold.ErrOtherFlow) {
		t.Errorf("the snapshot of another flow: %v", err)
	}
	older := []byte(`{"runId":"1","status":"paused","logs":[{"nodeId":"a","type":"llm_request","content":{"a":1}}],"state":{"last_output":"x"},"waitingForInput":true}`)
	if _, err := letter().RestoreFlow(t.Context(), older); !errors.Is(err, wavefold.ErrNoSnapshot) {
		t.Errorf("a record of an older format was restored: %v", err)
	}
	if r, err := wavefold.ReadFlowRecord(older); err != nil || r.Logs[0].Content != `{"a":1}` || current(r) != "paused true - []" {
		t.Errorf("a record of an older format is read as %+v, %v", r, err)
	}
}

// atOnce is a store that holds back answers until all of them have come.
type atOnce struct {
	*memory.Store
	wait int32 // the number of answers that have not come yet
	all  chan struct{}
}

func (s *atOnce) Post(ctx context.Context, run string, m store.Message) error {
	if atomic.AddInt32(&s.wait, -1) == 0 {
		close(s.all)
	}
	select {
	case <-s.all:
	case <-time.After(time.Minute): // of virtual time: somebody does not answer
	}
	return s.Store.Post(ctx, run, m)
}

// TestFlowAnsweredTwice answers one approval from many places at once: one answer counts, and the others are told
// who has given it. None of them is taken for the next approval.
func TestFlowAnsweredTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people = 8
		s := &atOnce{Store: memory.New(nil), wait: people, all: make(chan struct{})}
		run, err := letter().StartFlow(t.Context(), wavefold.WithStore(s))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		var mu sync.Mutex
		var winners, conflicts []string
		for i := range people {
			group.Go(func() {
				me := fmt.Sprint("person ", i)
				_, err := run.Answer(t.Context(), wavefold.Decision{Decision: "reject", By: me})
				mu.Lock()
				defer mu.Unlock()
				switch answered, ok := errors.AsType[*inbox.AnsweredError](err); {
				case err == nil:
					winners = append(winners, me)
				case ok && answered.Answer.By != me:
					conflicts = append(conflicts, err.Error())
				default:
					t.Errorf("%s: %v", me, err)
				}
			})
		}
		group.Wait()
		if len(winners) != 1 || len(conflicts) != people-1 {
			t.Fatalf("the answers of %q count, conflicts: %q", winners, conflicts)
		}
		for _, c := range conflicts {
			if !strings.HasPrefix(c, "answered already by "+winners[0]+" at ") || !strings.HasSuffix(c, ": r (reject)") {
				t.Errorf("conflict %q, the winner is %s", c, winners[0])
			}
		}
		if r, err := run.Wait(); err != nil || current(r) != "paused true also []" {
			t.Errorf("%s, %v", current(r), err)
		}
	})
}

// An answer that comes while the one before it is carried out is for the approval that was asked when it was given.
func TestFlowAnsweredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run, err := letter().StartFlow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(); err != nil {
			t.Fatal(err)
		}
		data, err := run.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		restored, err := letter().RestoreFlow(t.Context(), data, wavefold.WithListener(func(core.Event) { time.Sleep(10 * time.Millisecond) }))
		if err != nil {
			t.Fatal(err)
		}
		var late error
		var group sync.WaitGroup
		group.Go(func() {
			time.Sleep(time.Millisecond)
			_, late = restored.Answer(t.Context(), wavefold.Decision{Decision: "approve"})
		})
		r, err := restored.Answer(t.Context(), wavefold.Decision{Decision: "reject"})
		group.Wait()
		if err != nil || current(r) != "paused true also []" {
			t.Errorf("%s, %v", current(r), err)
		}
		if _, ok := errors.AsType[*inbox.AnsweredError](late); !ok {
			t.Errorf("the second answer: %v", late)
		}
	})
}

// A flow that cannot run has failed, with one entry that names the rule, and no agent was asked.
func TestFlowThatCannotRun(t *testing.T) {
	never := wavefold.AgentSpec{Run: func(context.Context, core.AgentCall) (string, error) { panic("called") }}
	for rule, g := range map[string]*wavefold.Graph{
		"start_missing": wavefold.NewFlow("f", wavefold.FlowAgent("a", never)),
		"start_many":    wavefold.NewFlow("f", wavefold.FlowStart("s", "x"), wavefold.FlowStart("t", "x"), wavefold.FlowAgent("a", never), wavefold.Connect("s", "a")),
		"subagent_cycle": wavefold.NewFlow("f", wavefold.FlowStart("s", "x"), wavefold.FlowAgent("a", never), wavefold.FlowAgent("b", never), wavefold.FlowAgent("c", never),
			wavefold.Connect("s", "a"), wavefold.Delegate("b", "c"), wavefold.Delegate("c", "b")),
	} {
		run, err := g.StartFlow(t.Context())
		if err != nil {
			t.Fatal(rule, err)
		}
		r, err := run.Wait()
		if err == nil || r.Status != wavefold.FlowFailed || len(r.Logs) != 1 || r.Logs[0].NodeID != "system" || r.Logs[0].Type != "error" || !strings.Contains(r.Logs[0].Content, rule) {
			t.Errorf("%s: %+v, %v", rule, r, err)
		}
	}
}

// A ring is stopped by the limit of arrivals, which names it, and so are many branches of one node.
func TestFlowBounds(t *testing.T) {
	calls := 0
	ring := wavefold.NewFlow("ring", wavefold.FlowStart("s", "x"),
		wavefold.FlowFunc("a", func(_ context.Context, in any) (any, error) { calls++; return in, nil }), wavefold.FlowFunc("b", func(_ context.Context, in any) (any, error) { return in, nil }),
		wavefold.Connect("s", "a"), wavefold.Connect("a", "b"), wavefold.Connect("b", "a"))
	run, err := ring.StartFlow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Wait()
	if last := r.Logs[len(r.Logs)-1]; err == nil || r.Status != wavefold.FlowFailed || last.Type != "error" || !strings.Contains(last.Content, "1000 arrivals") || !strings.Contains(last.Content, "in the ring b -> a -> b") || calls != 500 {
		t.Errorf("%d calls: %+v, %v", calls, last, err)
	}
	if run, err = ring.StartFlow(t.Context(), wavefold.WithMaxVisits(5)); err != nil {
		t.Fatal(err)
	}
	if r, err = run.Wait(); err == nil || !strings.Contains(err.Error(), "the flow has made 5 arrivals, as many as it may; the next one is at a, in the ring a -> b -> a") {
		t.Errorf("%v, %v", r.Status, err)
	}
	parts := []wavefold.FlowPart{wavefold.FlowStart("s", "x")}
	for i := range 10_000 {
		id := fmt.Sprint("n", i)
		parts = append(parts, wavefold.FlowFunc(id, func(context.Context, any) (any, error) { t.Error("called"); return nil, nil }), wavefold.Connect("s", id))
	}
	if run, err = wavefold.NewFlow("wide", parts...).StartFlow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err = run.Wait(); err == nil || len(r.Logs) != 2 || r.Logs[1].Type != "error" || !strings.HasSuffix(r.Logs[1].Content, "the next one is at n999, which is in no ring: many tokens were sent") {
		t.Errorf("%d entries, %v", len(r.Logs), err)
	}
}

// A connection whose target is not there ends its branch with a warning, in Run, too.
func TestFlowMissingTarget(t *testing.T) {
	g := wavefold.NewFlow("gap", wavefold.FlowStart("s", "x"), wavefold.FlowAgent("a", says("a")), wavefold.FlowAgent("b", says("b")),
		wavefold.Connect("s", "a"), wavefold.Connect("a", "gone"), wavefold.Connect("a", "b"))
	var logs []string
	r, err := g.Run(t.Context(), nil, wavefold.WithFlowLog(func(e wavefold.FlowEntry) {
		if e.Type == core.LogWarn {
			logs = append(logs, e.NodeID+": "+e.Content)
		}
	}))
	if err != nil || r.Status != core.RunSuccess || !slices.Equal(r.Path, []string{"s", "a", "b"}) || !slices.Equal(logs, []string{`a: Connection target "gone" not found`}) {
		t.Errorf("%v, path %v, %q", err, r.Path, logs)
	}
}

// An approval that is asked while a call fails has no answer, and its question is withdrawn.
func TestFlowFailsWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(nil)
		fails := wavefold.AgentSpec{Run: func(context.Context, core.AgentCall) (string, error) {
			time.Sleep(time.Second)
			return "", errors.New("broken")
		}}
		g := wavefold.NewFlow("fails", wavefold.FlowStart("s", "x"), wavefold.FlowApproval("ask", "?"), wavefold.FlowAgent("a", fails), wavefold.Connect("s", "ask"), wavefold.Connect("s", "a"))
		var reasons []string
		_, err := g.Run(t.Context(), nil, wavefold.WithStore(s), wavefold.WithRunID("r"), wavefold.WithListener(func(e core.Event) {
			if e.Type == core.NodeAnswered {
				reasons = append(reasons, e.Node+": "+e.Reason)
			}
		}))
		if err == nil || !slices.Equal(reasons, []string{"ask: no answer: the attempt was cancelled"}) {
			t.Errorf("%v, %q", err, reasons)
		}
		_, err = inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "ask", Choice: "approve"})
		if want := `the question of node "ask" was withdrawn: the attempt that had asked has ended without an answer; run r ended with failed`; !errors.Is(err, inbox.ErrNoQuestion) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// The list of runs counts the nodes that tokens can reach: no sub-agents, and nothing that is not connected.
func TestFlowCounts(t *testing.T) {
	s := memory.New(nil)
	g := wavefold.NewFlow("count", wavefold.FlowStart("s", "x"), wavefold.FlowAgent("lead", says("l")), wavefold.FlowAgent("helper", says("h")), wavefold.FlowAgent("alone", says("a")),
		wavefold.FlowIf("check", wavefold.Contains("no")), wavefold.FlowAgent("never", says("n")),
		wavefold.Connect("s", "lead"), wavefold.Delegate("lead", "helper"), wavefold.Connect("lead", "check"), wavefold.Connect("check", "never", "condition-0"))
	if _, err := g.Run(t.Context(), nil, wavefold.WithStore(s)); err != nil {
		t.Fatal(err)
	}
	for sum, err := range s.List(t.Context(), store.Query{}) {
		if want := `{"total":4,"done":3,"failed":0,"skipped":0,"running":0,"waiting":0}`; err != nil || string(sum.Counts) != want {
			t.Errorf("got %s, want %s: %v", sum.Counts, want, err)
		}
	}
}

// TestFlowSubagents tests an agent with two sub-agents. One of them delegates to a sub-agent too, and the other
// fails.
func TestFlowSubagents(t *testing.T) {
	e := wavefold.NewEngine(std.Kinds()...)
	m := llmtest.Script(t,
		llmtest.Answer{Node: "lead", Turn: 1, Calls: []llm.ToolCall{{ID: "1", Name: "ask_facts", Arguments: `{"input":"find"}`}, {ID: "2", Name: "ask_broken", Arguments: `{"input":"x"}`}}},
		llmtest.Answer{Node: "facts", Turn: 1, Calls: []llm.ToolCall{{ID: "1", Name: "ask_deep", Arguments: `{"input":"dig"}`}}},
		llmtest.Answer{Node: "deep", Text: "gold"},
		llmtest.Answer{Node: "facts", Turn: 2, Text: "facts with gold"},
		llmtest.Answer{Node: "broken", Err: errors.New("out of order")},
		llmtest.Answer{Node: "lead", Turn: 2, Text: "done"},
	)
	e.UseModel(m)
	g := e.NewFlow("team", wavefold.FlowStart("s", "go $$5 & <b>"), wavefold.FlowAgent("lead", wavefold.AgentSpec{Name: "Lead", System: "You lead.", Prompt: "Do: {{PREVIOUS_OUTPUT}} {{PREVIOUS_OUTPUT}}", WebSearch: true, Effort: "high"}),
		wavefold.FlowAgent("facts", wavefold.AgentSpec{Name: "Facts", Prompt: "Facts: {{PREVIOUS_OUTPUT}}"}), wavefold.FlowAgent("deep", wavefold.AgentSpec{Name: "Deep"}), wavefold.FlowAgent("broken", wavefold.AgentSpec{}),
		wavefold.Connect("s", "lead"), wavefold.Delegate("lead", "facts", "broken"), wavefold.Delegate("facts", "deep"))
	run, err := g.StartFlow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Wait()
	if err != nil || r.Status != wavefold.FlowCompleted {
		t.Fatal(r.Status, err)
	}
	var events []string
	for _, entry := range r.Logs {
		if strings.HasPrefix(entry.Type, "subagent_") {
			events = append(events, entry.NodeID+" "+entry.Content)
		}
	}
	want := []string{
		`lead {"type":"subagent_call_start","parentNodeId":"lead","subagentNodeId":"facts","subagentName":"Facts","callId":"lead-1-1","depth":1}`,
		`lead {"type":"subagent_call_start","parentNodeId":"lead","subagentNodeId":"deep","subagentName":"Deep","callId":"lead-1-2","parentCallId":"lead-1-1","depth":2}`,
		`lead {"type":"subagent_call_end","parentNodeId":"lead","subagentNodeId":"deep","subagentName":"Deep","callId":"lead-1-2","parentCallId":"lead-1-1","depth":2}`,
		`lead {"type":"subagent_call_end","parentNodeId":"lead","subagentNodeId":"facts","subagentName":"Facts","callId":"lead-1-1","depth":1}`,
		`lead {"type":"subagent_call_start","parentNodeId":"lead","subagentNodeId":"broken","subagentName":"Agent","callId":"lead-1-3","depth":1}`,
		`lead {"type":"subagent_call_error","parentNodeId":"lead","subagentNodeId":"broken","subagentName":"Agent","callId":"lead-1-3","depth":1,"message":"out of order"}`,
	}
	if !slices.Equal(events, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(events, "\n"), strings.Join(want, "\n"))
	}
	first := m.Requests()[0]
	if first.Messages[1].Text != "Do: go $$5 & <b> go $$5 & <b>" || first.Messages[0].Text != "You lead." || first.Model != "gpt-5" || first.Effort != "high" || !slices.Equal(first.Hosted, []string{"web_search"}) {
		t.Errorf("the first request is %+v", first)
	}
	for _, q := range m.Requests() {
		if q.Node == "deep" && (q.Messages[0].Text != core.DefaultAgentSystem || q.Messages[1].Text != "dig" || len(q.Tools) > 0) {
			t.Errorf("the deepest agent was asked %+v", q)
		}
	}
}

// A decision is approve or reject. The loose reading is a separate function.
func TestFlowDecisions(t *testing.T) {
	run, err := letter().StartFlow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := run.Wait()
	if err != nil || before.Status != wavefold.FlowPaused {
		t.Fatalf("%s: %v", before.Status, err)
	}
	for _, word := range []string{"", "yes", "rejected", "do not reject"} {
		r, err := run.Answer(t.Context(), wavefold.Decision{Decision: word})
		if !errors.Is(err, wavefold.ErrDecision) || r.Status != wavefold.FlowPaused || len(r.Logs) != len(before.Logs) {
			t.Errorf("%q: %s, %v, %d entries", word, r.Status, err, len(r.Logs)-len(before.Logs))
		}
	}
	d, err := wavefold.LooseDecision(map[string]any{"decision": "REJECT", "note": "no"})
	if err != nil || d != (wavefold.Decision{Decision: "reject", Note: "no"}) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = wavefold.LooseDecision(nil); err != nil || d.Decision != "approve" {
		t.Errorf("%+v, %v", d, err)
	}
	if r, err := run.Answer(t.Context(), d); err != nil || r.Status == wavefold.FlowFailed {
		t.Errorf("%s: %v", r.Status, err)
	}
}
