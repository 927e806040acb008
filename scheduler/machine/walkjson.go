package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// walkJSON is a walk in a snapshot.
type walkJSON struct {
	Live    []*visit        `json:"live,omitempty"`
	Next    int32           `json:"next"`
	Nodes   []visited       `json:"nodes"`
	Fields  []*core.Object  `json:"fields"`
	Start   []anyJSON       `json:"start"`
	Spoilt  map[int32]int32 `json:"spoilt,omitempty"`
	Path    []int32         `json:"path"`
	Last    stage           `json:"last"`
	Told    toldStages      `json:"told,omitzero"`
	Idle    int             `json:"idle,omitempty"`
	Active  int64           `json:"active,omitempty"`
	Watched int32           `json:"watched,omitempty"`
	Due     int64           `json:"due,omitempty"`
	Failure *core.Failure   `json:"failure,omitempty"`
	FailAt  int32           `json:"fail_at"`
	Ended   bool            `json:"ended,omitempty"`

	outcomeMemory
	modelMemory
}

func (t *walk) dump() (*walkJSON, error) {
	j := &walkJSON{Live: t.live, Next: t.next, Nodes: t.nodes, Spoilt: t.spoilt, Path: t.path, Last: t.last, Told: t.told, Idle: t.idle, Active: t.active,
		Watched: t.watched, Due: t.due, Failure: t.failure, FailAt: t.failAt, Ended: t.ended}
	t.way.dump(j)
	for _, v := range t.live {
		if v.Fork == nil {
			continue
		}
		if err := v.Fork.save(t.f.p); err != nil {
			return nil, err
		}
	}
	for i, c := range t.fields {
		dump, err := c.Dump()
		if err != nil {
			return nil, err
		}
		start, err := core.Canonical(t.start[i])
		if err != nil {
			return nil, err
		}
		j.Fields, j.Start = append(j.Fields, dump), append(j.Start, anyJSON{start})
	}
	return j, nil
}

// save makes the writes of the branches ready for a snapshot, each by itself: a branch that
// has branches may write a field twice.
func (k *fork) save(p *plan.Plan) error {
	for i := range k.Branches {
		b := &k.Branches[i]
		b.Saved = nil
		for at := range b.writes {
			w, err := (&Outcome{Writes: b.writes[at : at+1]}).toJSON(p)
			if err != nil {
				return err
			}
			b.Saved = append(b.Saved, w)
		}
	}
	return nil
}

// restore brings a walk back.
func (t *walk) restore(j *walkJSON) error {
	f := t.f
	if j == nil || len(j.Nodes) != len(f.p.Nodes) || len(j.Fields) != len(f.p.Schema.Fields) || len(j.Start) != len(j.Fields) {
		return fmt.Errorf("it was taken of another workflow")
	}
	t.next, t.path, t.last, t.idle, t.active = j.Next, j.Path, j.Last, j.Idle, j.Active
	t.spoilt, t.watched, t.due, t.failure, t.failAt, t.ended = j.Spoilt, j.Watched, j.Due, j.Failure, j.FailAt, j.Ended
	t.told = j.Told
	t.way.restore(j)
	t.nodes = j.Nodes
	for i := range j.Fields {
		start, err := f.p.Schema.Fields[i].Restore(j.Start[i].v)
		if err != nil {
			return err
		}
		t.start = append(t.start, start)
		t.fields = append(t.fields, t.column(i))
		if err := t.fields[i].Load(j.Fields[i]); err != nil {
			return err
		}
	}
	for _, v := range j.Live {
		if err := t.restoreVisit(v); err != nil {
			return err
		}
		t.live = append(t.live, v)
	}
	f.setTask(0, t)
	return nil
}

// restoreVisit connects a visit of a snapshot with what it belongs to.
func (t *walk) restoreVisit(v *visit) error {
	if v == nil || v.Node < 0 || int(v.Node) >= len(t.nodes) {
		return fmt.Errorf("a visit is of a node that is not there")
	}
	v.t = t
	for _, u := range t.live { // those that have branches come before them
		if u.N == v.Parent {
			v.parent = u
		}
	}
	switch {
	case v.Parent >= 0 && v.parent == nil:
		return fmt.Errorf("a branch of visit %d, which is not there", v.Parent)
	case v.Fork == nil:
		return nil
	}
	p := t.parallel(v)
	if p == nil || len(v.Fork.Branches) != len(p.Branches) {
		return fmt.Errorf("node %s has other branches", t.id(v.Node))
	}
	v.Fork.most = p.MaxParallel
	for i := range v.Fork.Branches {
		b := &v.Fork.Branches[i]
		for k := range b.Saved {
			o, err := b.Saved[k].outcome(t.f.p)
			if err != nil {
				return err
			}
			b.writes = append(b.writes, o.Writes...)
		}
		b.Saved = nil
	}
	return nil
}

// reissue issues what was in flight and sets the timers again.
func (t *walk) reissue() {
	if t.ended {
		return
	}
	if t.w.StallTimeout > 0 {
		t.askWatch()
	}
	for _, v := range t.live {
		n := &t.f.p.Nodes[v.Node]
		switch {
		case v.Fork != nil:
			if n.Timeout > 0 && !v.Fork.Expired {
				t.watchFork(v)
			}
		case v.Phase == routing:
			t.way.ask(v)
		default:
			reissue(v)
			if v.Lost && v.inFlight(n) {
				t.f.m.command(Command{Op: OpGiveUp, ID: v.id(), Plan: t.f.p, Node: n})
			}
		}
	}
}
