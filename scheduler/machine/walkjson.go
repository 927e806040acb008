package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
)

// walkJSON is a walk in a snapshot.
type walkJSON struct {
	Live    []visitJSON     `json:"live,omitempty"`
	Next    int32           `json:"next"`
	Nodes   []visited       `json:"nodes"`
	Fields  []*core.Object  `json:"fields"`
	Start   []anyJSON       `json:"start"`
	Spoilt  map[int32]int32 `json:"spoilt,omitempty"`
	Path    []int32         `json:"path"`
	Gates   []goal          `json:"gates,omitempty"`
	Last    stage           `json:"last"`
	Failed  map[string]int  `json:"failed,omitempty"`
	Told    toldStages      `json:"told,omitzero"`
	Idle    int             `json:"idle,omitempty"`
	Active  int64           `json:"active,omitempty"`
	Watched int32           `json:"watched,omitempty"`
	Due     int64           `json:"due,omitempty"`
	Failure *core.Failure   `json:"failure,omitempty"`
	FailAt  int32           `json:"fail_at"`
	Ended   bool            `json:"ended,omitempty"`

	Followed []int32                `json:"followed,omitempty"`
	Evals    map[int32]*core.Object `json:"evals,omitempty"`
}

type visitJSON struct {
	N     int32 `json:"n"`
	Node  int32 `json:"node"`
	Count int   `json:"count"`
	attempt
	Started int64     `json:"started,omitempty"`
	Parent  int32     `json:"parent"` // number of its visit, -1 for none
	Place   int       `json:"place,omitempty"`
	Via     int32     `json:"via"`
	Lost    bool      `json:"lost,omitempty"`
	Fork    *forkJSON `json:"fork,omitempty"`
}

type forkJSON struct {
	Branches []branchJSON `json:"branches"`
	Next     int          `json:"next"`
	Live     int          `json:"live,omitempty"`
	OK       int          `json:"ok,omitempty"`
	Bad      int          `json:"bad,omitempty"`
	Counted  int          `json:"counted,omitempty"`
	Decided  bool         `json:"decided,omitempty"`
	Expired  bool         `json:"expired,omitempty"`
	Status   core.Status  `json:"status,omitempty"`
	Reason   string       `json:"reason,omitempty"`
}

type branchJSON struct {
	Status core.Status   `json:"status"`
	Writes []outcomeJSON `json:"writes,omitempty"` // each by itself: a branch with branches may write a field twice
	Score  anyJSON       `json:"score"`
	Output anyJSON       `json:"output"`
	Note   string        `json:"note,omitempty"`
}

func (t *walk) dump() (*walkJSON, error) {
	j := &walkJSON{Next: t.next, Nodes: t.nodes, Spoilt: t.spoilt, Path: t.path, Gates: t.gates, Last: t.last, Told: t.told, Failed: t.failed, Idle: t.idle, Active: t.active,
		Watched: t.watched, Due: t.due, Failure: t.failure, FailAt: t.failAt, Ended: t.ended,
		Followed: t.followed, Evals: t.evals}
	for _, v := range t.live {
		vj, err := t.dumpVisit(v)
		if err != nil {
			return nil, err
		}
		j.Live = append(j.Live, vj)
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

func (t *walk) dumpVisit(v *visit) (visitJSON, error) {
	j := visitJSON{N: v.n, Node: v.node, Count: v.count, attempt: v.attempt, Started: v.started, Parent: -1, Place: v.place, Via: v.via, Lost: v.lost}
	if v.parent != nil {
		j.Parent = v.parent.n
	}
	k := v.fork
	if k == nil {
		return j, nil
	}
	j.Fork = &forkJSON{Next: k.next, Live: k.live, OK: k.ok, Bad: k.bad, Counted: k.counted, Decided: k.decided, Expired: k.expired, Status: k.status, Reason: k.reason}
	for i := range k.branches {
		b := &k.branches[i]
		bj := branchJSON{Status: b.status, Score: anyJSON{b.score}, Output: anyJSON{b.output}, Note: b.note}
		for i := range b.writes {
			w, err := (&Outcome{Writes: b.writes[i : i+1]}).toJSON(t.f.p)
			if err != nil {
				return j, err
			}
			bj.Writes = append(bj.Writes, w)
		}
		j.Fork.Branches = append(j.Fork.Branches, bj)
	}
	return j, nil
}

// restoreWalk brings a walk back.
func (f *frame) restoreWalk(j *walkJSON) error {
	if j == nil || len(j.Nodes) != len(f.p.Nodes) || len(j.Fields) != len(f.p.Schema.Fields) || len(j.Start) != len(j.Fields) {
		return fmt.Errorf("it was taken of another workflow")
	}
	t := f.newWalk()
	t.next, t.path, t.gates, t.last, t.idle, t.active = j.Next, j.Path, j.Gates, j.Last, j.Idle, j.Active
	t.spoilt, t.watched, t.due, t.failure, t.failAt, t.ended = j.Spoilt, j.Watched, j.Due, j.Failure, j.FailAt, j.Ended
	t.followed, t.evals, t.told = j.Followed, j.Evals, j.Told
	if j.Failed != nil {
		t.failed = j.Failed
	}
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
	for i := range j.Live {
		v, err := t.restoreVisit(&j.Live[i])
		if err != nil {
			return err
		}
		t.live = append(t.live, v)
	}
	f.setTask(0, t)
	return nil
}

func (t *walk) restoreVisit(j *visitJSON) (*visit, error) {
	v := &visit{t: t, n: j.N, node: j.Node, count: j.Count, attempt: j.attempt, started: j.Started, place: j.Place, via: j.Via, lost: j.Lost}
	if j.Node < 0 || int(j.Node) >= len(t.nodes) {
		return nil, fmt.Errorf("a visit of node %d, which is not there", j.Node)
	}
	for _, u := range t.live { // those that have branches come before them
		if u.n == j.Parent {
			v.parent = u
		}
	}
	switch {
	case j.Parent >= 0 && v.parent == nil:
		return nil, fmt.Errorf("a branch of visit %d, which is not there", j.Parent)
	case j.Fork == nil:
		return v, nil
	}
	return v, t.restoreFork(v, j.Fork)
}

func (t *walk) restoreFork(v *visit, j *forkJSON) error {
	p := t.parallel(v)
	if p == nil || len(j.Branches) != len(p.Branches) {
		return fmt.Errorf("node %s has other branches", t.id(v.node))
	}
	v.fork = &fork{next: j.Next, live: j.Live, most: p.MaxParallel, ok: j.OK, bad: j.Bad, counted: j.Counted, decided: j.Decided, expired: j.Expired, status: j.Status, reason: j.Reason}
	for i := range j.Branches {
		b := branch{status: j.Branches[i].Status, score: j.Branches[i].Score.v, output: j.Branches[i].Output.v, note: j.Branches[i].Note}
		for k := range j.Branches[i].Writes {
			o, err := j.Branches[i].Writes[k].outcome(t.f.p)
			if err != nil {
				return err
			}
			b.writes = append(b.writes, o.Writes...)
		}
		v.fork.branches = append(v.fork.branches, b)
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
		n := &t.f.p.Nodes[v.node]
		switch {
		case v.fork != nil:
			if n.Timeout > 0 && !v.fork.expired {
				t.watchFork(v)
			}
		case v.Phase == routing:
			t.askWay(v)
		default:
			reissue(v)
			if v.lost && v.inFlight(n) {
				t.f.m.command(Command{Op: OpGiveUp, ID: v.id(), Plan: t.f.p, Node: n})
			}
		}
	}
}
