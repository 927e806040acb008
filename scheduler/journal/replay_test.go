package journal

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// kindOf is a kind of node with a fixed compiled form.
type kindOf struct {
	name     string
	compiled core.Compiled
}

func (k kindOf) Name() string   { return k.name }
func (k kindOf) Keys() []string { return nil }
func (k kindOf) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return k.compiled, nil
}

// timed returns a plan of the nodes day, which waits for a day, sub, a nested run of the node work
// with a timeout of an hour, and a. They are declared in the given order.
func timed(t *testing.T, order ...string) *plan.Plan {
	t.Helper()
	h := core.HandlerFunc(nil)
	inner := &core.Workflow{Name: text("inner"), Nodes: []*core.Node{{ID: text("work"), Handler: h}}}
	w := &core.Workflow{Name: text("w")}
	for _, id := range order {
		n := &core.Node{ID: text(id)}
		switch id {
		case "day":
			n.Kind = text("pause")
		case "sub":
			n.Kind, n.Timeout = text("inner"), &source.Located[time.Duration]{Value: time.Hour}
		default:
			n.Handler = h
		}
		w.Nodes = append(w.Nodes, n)
	}
	p, ds := plan.Compile(w, core.NewRegistry(kindOf{"inner", core.Compiled{Frame: &core.Frame{Workflow: inner}}},
		kindOf{"pause", core.Compiled{Wait: &core.Wait{Duration: 24 * time.Hour}}}), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// batches runs a machine that is answered by f, and returns its journal.
func batches(t *testing.T, k *Codec, o machine.Options, answers ...func(c machine.Command) *machine.Event) []*Batch {
	t.Helper()
	m, err := machine.New(k.Plan, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	var list []*Batch
	var open []machine.Command
	var issuer Issuer
	b := &Batch{}
	for i := 0; ; i++ {
		commands := m.Next()
		open = append(open, commands...)
		b.N, b.At, b.Issued = uint64(i+1), m.Now(), issuer.Issued(commands)
		list = append(list, b)
		if i == len(answers) {
			return list
		}
		b = &Batch{}
		for _, c := range open {
			if e := answers[i](c); e != nil {
				var x Encoded
				if err := k.AppendEvent(&x, &c, e); err != nil {
					t.Fatal(err)
				}
				b.Add(&x)
				m.Apply(e)
			}
		}
	}
}

func replayed(t *testing.T, k *Codec, o machine.Options, list []*Batch) *Replay {
	t.Helper()
	r, err := NewReplay(k, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		if err := r.Batch(b); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func done(node string, at time.Duration) func(c machine.Command) *machine.Event {
	return func(c machine.Command) *machine.Event {
		if c.Op != machine.OpRun || c.Node.ID != node {
			return nil
		}
		return &machine.Event{ID: c.ID, Ended: int64(at)}
	}
}

// describe lists open commands.
func describe(open []Open) string {
	s := ""
	for _, o := range open {
		name := o.Path()
		if o.ID.Node >= 0 {
			name = o.Call.Name(o.Node)
		}
		s += fmt.Sprintf("%s %s", o.Op, name)
		if o.Due > 0 {
			s += fmt.Sprintf(" due %s", time.Duration(o.Due))
		}
		s += "; "
	}
	return s
}

// The time without a process counts for waits and not for timeouts, at the same place of the journal
// each time it is replayed.
func TestResumedMark(t *testing.T) {
	k := &Codec{Plan: timed(t, "day", "sub", "a")}
	o := machine.Options{Concurrency: 4}
	list := batches(t, k, o, done("a", 10*time.Minute))
	r := replayed(t, k, o, list)
	if got, want := describe(r.Open()), "timer day due 24h0m0s; deadline sub due 1h0m0s; run sub/work; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for range 2 {
		r.Mark(&Mark{Kind: store.MarkResumed, Down: 5 * time.Hour})
		r.Mark(&Mark{Kind: store.MarkAsked, Down: 5 * time.Hour})
	}
	if got, want := describe(r.Open()), "timer day due 24h0m0s; deadline sub due 11h0m0s; run sub/work; "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if now := time.Duration(r.Machine().Now()); now != 10*time.Hour+10*time.Minute {
		t.Errorf("it is %s", now)
	}
}

func TestDivergence(t *testing.T) {
	k := &Codec{Plan: timed(t, "day", "sub", "a")}
	o := machine.Options{Concurrency: 4}
	list := batches(t, k, o, done("work", 1), done("a", 2))
	list[1].Issued++
	r, err := NewReplay(k, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Batch(list[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.Batch(list[2]); err == nil || err.Error() != "batch 3 follows batch 1" {
		t.Errorf("a gap: %v", err)
	}
	err = r.Batch(list[1])
	if d, ok := errors.AsType[*DivergedError](err); !ok || d.Batch != 2 || d.Node != "sub/work" {
		t.Errorf("got %v", err)
	}
	// With a limit of one, the first batch issues less.
	r, err = NewReplay(k, nil, machine.Options{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Batch(list[0]); err == nil || err.Error() != "batch 1 of the journal issued other commands at node sub/work than this version of the engine" {
		t.Errorf("got %v", err)
	}
}

// IDs of nested runs used to depend on the place of a node in the document.
func TestOrderOfDeclarationDoesNotCount(t *testing.T) {
	ids := map[string]int64{}
	for _, order := range [][]string{{"day", "sub", "a"}, {"a", "sub", "day"}} {
		m, err := machine.New(timed(t, order...), nil, machine.Options{Concurrency: 4})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Next() {
			if c.Op == machine.OpRun {
				name := c.Call.Name(c.Node)
				if before, ok := ids[name]; ok && before != c.ID.Frame {
					t.Errorf("%s is in frame %d, and in %d in the other order", name, before, c.ID.Frame)
				}
				ids[name] = c.ID.Frame
			}
		}
	}
	if len(ids) != 2 || ids["sub/work"] == 0 {
		t.Errorf("got %v", ids)
	}
}
