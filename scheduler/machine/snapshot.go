package machine

import (
	"encoding/json"

	"github.com/wavefold/wavefold/core"
)

// snapshotVersion is the version of the snapshot format.
//
// A snapshot of another version is an error of its own, see VersionError: it is whole, and the
// program that wrote it can read it.
const snapshotVersion = 5

// machineJSON is a whole machine. What follows from the rest is left out: folded
// values, ready sets, slots held. It is as large as the state and the progress
// of what is under way, not as the history.
type machineJSON struct {
	Version   int                 `json:"version"`
	Plan      string              `json:"plan"`  // its fingerprint
	Order     string              `json:"order"` // in which its parts are numbered
	Options   Options             `json:"options"`
	Now       int64               `json:"now"`
	Seq       int64               `json:"seq"`
	Dropped   int                 `json:"dropped,omitempty"`
	Cancelled bool                `json:"cancelled,omitempty"`
	Finished  bool                `json:"finished,omitempty"`
	Frames    []*frameJSON        `json:"frames"` // that have not ended, outer ones first
	Emit      []*core.Event       `json:"emit,omitempty"`
	Claims    map[string]claimant `json:"claims,omitempty"`
}

type frameJSON struct {
	ID        int64                 `json:"id"`
	Path      string                `json:"path,omitempty"`
	Parent    int64                 `json:"parent"`
	Owner     ID                    `json:"owner"`
	Inputs    *core.Object          `json:"inputs,omitempty"`
	Limit     int                   `json:"limit"`
	Barrier   bool                  `json:"barrier,omitempty"`
	Level     int32                 `json:"level,omitempty"`
	LevelLeft int32                 `json:"level_left,omitempty"`
	Stopped   bool                  `json:"stopped,omitempty"`
	FailedRun bool                  `json:"failed_run,omitempty"`
	Deadline  int64                 `json:"deadline,omitempty"`
	Expired   bool                  `json:"expired,omitempty"`
	Clean     bool                  `json:"clean,omitempty"`
	Vertices  []vertexJSON          `json:"vertices,omitempty"` // those that have moved
	Judges    []int32               `json:"judges,omitempty"`
	Verdicts  []verdict             `json:"verdicts,omitempty"`
	Joins     []join                `json:"joins,omitempty"`
	Arms      []int32               `json:"arms,omitempty"`
	Ledger    []*core.Object        `json:"ledger"` // by field
	Outputs   map[int32]anyJSON     `json:"outputs,omitempty"`
	Notes     map[int32]string      `json:"notes,omitempty"`
	Changes   map[int32]string      `json:"changes,omitempty"`
	Trails    map[int32]trail       `json:"trails,omitempty"`
	Usage     map[int32]core.Usage  `json:"usage,omitempty"`
	Held      map[int32]outcomeJSON `json:"held,omitempty"`
	Pending   []*pendingPlace       `json:"pending,omitempty"`
	FanOuts   map[int32]*fanOutJSON `json:"fan_outs,omitempty"`
	Units     map[int32]*unitJSON   `json:"units,omitempty"`
	Walk      *walkJSON             `json:"walk,omitempty"`
}

type vertexJSON struct {
	At       int32         `json:"at"`
	Pending  int32         `json:"pending,omitempty"`
	Waits    int32         `json:"waits,omitempty"`
	Attempts int32         `json:"attempts,omitempty"`
	Cause    int32         `json:"cause,omitempty"` // index + 1
	Edge     int32         `json:"edge,omitempty"`  // index + 1
	Phase    phase         `json:"phase,omitempty"`
	Status   core.Status   `json:"status,omitempty"`
	Skip     skipReason    `json:"skip,omitempty"`
	Handled  bool          `json:"handled,omitempty"`
	Started  int64         `json:"started,omitempty"`
	Ended    int64         `json:"ended,omitempty"`
	Failure  *core.Failure `json:"failure,omitempty"`
}

type fanOutJSON struct {
	Next     int                 `json:"next"`
	Due      []int               `json:"due,omitempty"`
	Open     [][2]int            `json:"open,omitempty"`
	Chunk    int                 `json:"chunk"`
	Early    []int32             `json:"early,omitempty"`
	Phases   []byte              `json:"phases,omitempty"`
	Attempts []byte              `json:"attempts,omitempty"`
	Trails   map[int]trail       `json:"trails,omitempty"`
	Outcomes map[int]outcomeJSON `json:"outcomes,omitempty"`
	Stream   *itemStreamJSON     `json:"stream,omitempty"`
}

// itemStreamJSON is what a fan-out over a stream has beside: phases, attempts and
// outcomes are those of the items from Base on.
type itemStreamJSON struct {
	Pull     pullJSON             `json:"pull"` // Ahead are all items that are here
	Base     int                  `json:"base,omitempty"`
	Batch    int                  `json:"batch,omitempty"`
	Failure  *core.Failure        `json:"failure,omitempty"` // of the reading
	Partial  bool                 `json:"partial,omitempty"`
	Attempts int                  `json:"attempts,omitempty"`
	Failed   int                  `json:"failed,omitempty"`
	First    int                  `json:"first,omitempty"`
	Why      *core.Failure        `json:"why,omitempty"` // of the first that failed
	Some     bool                 `json:"some,omitempty"`
	Changes  changes              `json:"changes,omitzero"`
	Deltas   map[string][]anyJSON `json:"deltas,omitempty"` // by field
	Sent     []anyJSON            `json:"sent,omitempty"`
}

type unitJSON struct {
	Next    int                     `json:"next"`
	Over    int                     `json:"over,omitempty"`
	Live    []*pass                 `json:"live,omitempty"`
	Columns []*core.Object          `json:"columns,omitempty"`
	Canon   []*core.Object          `json:"canon,omitempty"` // null for fields that refuse nothing
	Results []memberResult          `json:"results"`
	Outputs map[int]map[int]anyJSON `json:"outputs,omitempty"`
	Failure *core.Failure           `json:"failure,omitempty"`
	FailAt  [2]int                  `json:"fail_at"`
	Failed  int                     `json:"failed,omitempty"`
	Skips   bool                    `json:"skips,omitempty"`
	Partial bool                    `json:"partial,omitempty"`
	Dropped int                     `json:"dropped"`
	Reason  string                  `json:"reason,omitempty"`
	Ended   bool                    `json:"ended,omitempty"`
	Broken  bool                    `json:"interrupted,omitempty"`
	Pull    *pullJSON               `json:"pull,omitempty"`
}

type pullJSON struct {
	Rows  int         `json:"rows"`
	Taken int         `json:"taken,omitempty"`
	Ahead []anyJSON   `json:"ahead,omitempty"`
	Open  bool        `json:"open,omitempty"`
	Ended bool        `json:"ended,omitempty"`
	Read  outcomeJSON `json:"read"`
}

// Snapshot returns the machine as JSON, for Restore. Commands that were issued
// and not answered are part of it: the restored machine issues them again under
// the same ids. The machine goes on unchanged.
func (m *Machine) Snapshot() ([]byte, error) {
	fingerprint, order := m.identity()
	j := machineJSON{Version: snapshotVersion, Plan: fingerprint, Order: order, Options: m.opts, Now: m.now, Seq: m.seq, Dropped: m.dropped,
		Cancelled: m.cancelled, Finished: m.finished, Claims: m.claims}
	for i := range m.out {
		if m.out[i].Op == OpEmit {
			j.Emit = append(j.Emit, m.out[i].Event)
		}
	}
	for _, f := range m.frames {
		fj, err := f.dump()
		if err != nil {
			return nil, err
		}
		j.Frames = append(j.Frames, fj)
	}
	return json.Marshal(j)
}

func (f *frame) dump() (*frameJSON, error) {
	j := &frameJSON{ID: f.id, Path: f.path, Parent: -1, Owner: f.owner, Inputs: f.inputs, Limit: f.group.limit, Barrier: f.barrier,
		Level: f.level, LevelLeft: f.levelLeft, Stopped: f.stopped, FailedRun: f.failedRun, Deadline: f.deadline, Expired: f.expired, Clean: f.clean,
		Judges: f.judges, Verdicts: f.verdicts, Arms: f.arms, Joins: f.joins, Notes: f.notes, Changes: f.changes, Trails: f.trails, Usage: f.usage, Outputs: map[int32]anyJSON{}, Held: map[int32]outcomeJSON{},
		FanOuts: map[int32]*fanOutJSON{}, Units: map[int32]*unitJSON{}}
	if f.parent != nil {
		j.Parent = f.parent.id
	}
	for i := range f.p.Schema.Fields {
		dump, err := f.ledger.Column(i).Dump()
		if err != nil {
			return nil, err
		}
		j.Ledger = append(j.Ledger, dump)
	}
	for v := range f.v {
		j.Vertices = append(j.Vertices, f.dumpVertex(int32(v)))
		if err := f.dumpTask(j, int32(v)); err != nil {
			return nil, err
		}
	}
	for i, v := range f.outputs {
		if !core.IsMissing(v) {
			j.Outputs[int32(i)] = anyJSON{v}
		}
	}
	for v, o := range f.held { // one entry each: order does not matter
		oj, err := o.toJSON(f.p)
		if err != nil {
			return nil, err
		}
		j.Held[v] = oj
	}
	j.Pending = f.placements()
	return j, f.mode.dump(j)
}

func (f *frame) dumpVertex(v int32) vertexJSON {
	x, why := &f.v[v], f.fate(v)
	return vertexJSON{At: v, Pending: x.pending, Waits: x.waits, Attempts: x.attempts, Cause: why.cause + 1, Edge: why.edge + 1,
		Phase: x.phase, Status: x.status, Skip: x.skip, Handled: x.handled, Started: x.started, Ended: x.ended, Failure: why.failure}
}

func (f *frame) dumpTask(j *frameJSON, v int32) (err error) {
	switch t := f.task(v).(type) {
	case *fanOut:
		j.FanOuts[v], err = t.dump()
	case *unit:
		j.Units[v], err = t.dump()
	}
	return err
}

func (t *fanOut) dump() (*fanOutJSON, error) {
	j := &fanOutJSON{Next: t.next, Due: t.due, Chunk: t.ranges.Size, Early: t.early, Attempts: t.attempts, Trails: t.waited(), Outcomes: map[int]outcomeJSON{}}
	for _, s := range t.ranges.Open() {
		j.Open = append(j.Open, [2]int{int(s.From), int(s.To)})
	}
	for i, p := range t.phases {
		j.Phases = append(j.Phases, byte(p))
		if i < len(t.outcomes) && !t.outcomes[i].Empty() {
			o, err := t.outcomes[i].toJSON(t.f.p)
			if err != nil {
				return nil, err
			}
			j.Outcomes[i] = o
		}
	}
	if t.n.Puller == nil {
		return j, nil
	}
	var err error
	j.Stream, err = t.dumpStream()
	return j, err
}

// waited returns what attempts of items left, without items that have a nested run and
// nothing else.
func (t *fanOut) waited() map[int]trail {
	var out map[int]trail
	for i, x := range t.trails { // one entry each: order does not matter
		x.child = nil
		out = keep(out, i, x)
	}
	return out
}

func (t *fanOut) dumpStream() (*itemStreamJSON, error) {
	p, s := &t.pull, &t.settled
	read, err := (&Outcome{Writes: p.read}).toJSON(t.f.p)
	if err != nil {
		return nil, err
	}
	j := &itemStreamJSON{Pull: pullJSON{Ahead: wrap(t.items.list), Open: p.open, Ended: p.ended, Read: read}, Base: t.base, Batch: p.batch,
		Failure: p.failure, Partial: p.partial, Attempts: s.attempts, Failed: s.failed, First: s.first, Why: s.failure, Some: s.partial, Changes: s.changes, Sent: wrap(s.sent)}
	for _, w := range t.f.p.Vertices[t.v].Writes {
		for _, v := range s.deltas[w.Field] {
			c, err := core.Canonical(v)
			if err != nil {
				return nil, err
			}
			if j.Deltas == nil {
				j.Deltas = map[string][]anyJSON{}
			}
			name := t.f.p.Schema.Fields[w.Field].Name
			j.Deltas[name] = append(j.Deltas[name], anyJSON{c})
		}
	}
	return j, nil
}

func (t *unit) dump() (*unitJSON, error) {
	j := &unitJSON{Live: t.live, Results: t.results, Next: t.next, Over: t.over, Failure: t.failure, FailAt: t.failAt, Failed: t.failed, Skips: t.ranAll,
		Partial: t.partial, Dropped: t.dropped, Reason: t.reason, Ended: t.ended, Broken: t.interrupted, Outputs: map[int]map[int]anyJSON{}}
	open := t.f.v[t.v].phase != resolved // else the frame has what it read and wrote
	if t.u.Puller != nil && open {
		read, err := (&Outcome{Writes: t.pull.read}).toJSON(t.f.p)
		if err != nil {
			return nil, err
		}
		j.Pull = &pullJSON{Rows: t.pull.rows, Taken: t.pull.taken, Ahead: wrap(t.pull.ahead), Open: t.pull.open, Ended: t.pull.ended, Read: read}
	}
	if open {
		if err := t.dumpColumns(j); err != nil {
			return nil, err
		}
	}
	for place := range t.results {
		if t.outputs == nil || t.outputs[place] == nil {
			continue
		}
		j.Outputs[place] = map[int]anyJSON{} // even if only nulls were sent
		for pass, v := range t.outputs[place] {
			if v != nil {
				j.Outputs[place][pass] = anyJSON{v}
			}
		}
	}
	return j, nil
}

func (t *unit) dumpColumns(j *unitJSON) error {
	for i := range t.view {
		view, err := t.view[i].Dump()
		if err != nil {
			return err
		}
		var canon *core.Object
		if t.canon[i] != nil {
			if canon, err = t.canon[i].Dump(); err != nil {
				return err
			}
		}
		j.Columns, j.Canon = append(j.Columns, view), append(j.Canon, canon)
	}
	return nil
}
