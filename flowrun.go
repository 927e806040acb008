package wavefold

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// Statuses of FlowResult.
const (
	FlowRunning   = "running"
	FlowPaused    = "paused"
	FlowCompleted = "completed"
	FlowFailed    = "failed"
	FlowCancelled = "cancelled"
)

// FlowResult is the state of a run of a flow.
type FlowResult struct {
	RunID  string      `json:"runId"`
	Status string      `json:"status"`
	Logs   []FlowEntry `json:"logs"`
	// State has the output of each node by id, previous_output, and the decisions of approvals by
	// ID_approval.
	State *value.Object `json:"state"`
	// WaitingForInput reports whether the run is paused, and CurrentNodeID is then the approval that is
	// asked. It is nil otherwise.
	WaitingForInput bool    `json:"waitingForInput"`
	CurrentNodeID   *string `json:"currentNodeId"`
	// Queued are the approvals that are asked later, in order.
	Queued []string `json:"queued,omitempty"`
}

// Decision answers an approval.
type Decision struct {
	Decision string `json:"decision"` // approve or reject, in any case of letters
	Note     string `json:"note,omitempty"`
	By       string `json:"by,omitempty"`
}

// LooseDecision reads an answer as visual builders do that take anything for approval that does not say
// reject; see core.LooseDecision. The answer is a JSON value: an object with the members decision and note, a
// text, or nil. FlowRun.Answer is strict: a program that needs this reading asks for it here.
func LooseDecision(answer any) (Decision, error) {
	v, err := value.Canonical(answer)
	if err != nil {
		return Decision{}, err
	}
	word, note := core.LooseDecision(v)
	return Decision{Decision: word, Note: note}, nil
}

// ErrDecision is the error of an answer that is not a decision. The run stays paused.
var ErrDecision = errors.New("want the decision approve or reject")

// FlowRun is a run of a flow that people answer in this process. Its methods are safe for concurrent
// use.
type FlowRun struct {
	g       *Graph
	store   *memory.Store // nil if the caller has one
	options []RunOption
	id      string

	mu      sync.Mutex
	running *Running
	logs    []FlowEntry
	paused  *core.PausedError
	report  *core.Report
	err     error
}

// StartFlow begins a run of a flow. Without WithStore, the run is in the memory of this process, and
// Snapshot returns it. A flow that cannot run ends with the status failed and one entry of the log,
// which names the rule.
func (g *Graph) StartFlow(ctx context.Context, options ...RunOption) (*FlowRun, error) {
	r := &FlowRun{g: g, options: options}
	if err := g.Compile(); err != nil {
		ds, ok := source.AsDiagnostics(err)
		if !ok || g.missingWorkflow() != nil || len(g.w.FlowErrors()) == 0 {
			return nil, err
		}
		r.err, r.logs = err, []FlowEntry{systemError(time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), ds)}
		r.report = &core.Report{Workflow: g.w.Name.Value, Status: core.RunFailed, Err: err}
		return r, nil
	}
	s := g.settings(options)
	if r.id = cmp.Or(s.Run, newRunID()); s.Recording == nil || s.Recording.Store == nil {
		r.store = memory.New(nil)
	}
	running, err := g.Start(ctx, r.with(WithRunID(r.id))...)
	if err != nil {
		return nil, err
	}
	r.running = running
	return r, nil
}

// newRunID returns an id of a run.
func newRunID() string { return strings.ToLower(store.NewHolder().ID) }

// with adds the options that the run itself needs.
func (r *FlowRun) with(more ...RunOption) []RunOption {
	given := r.g.settings(r.options).Listener
	list := append(append([]RunOption{}, r.options...), more...)
	if r.store != nil {
		list = append(list, WithStore(r.store))
	}
	return append(list, WithListener(func(e core.Event) {
		if entry, ok := flowEntry(&e); ok {
			r.mu.Lock()
			r.logs = append(r.logs, entry)
			r.mu.Unlock()
		}
		if given != nil {
			given(e)
		}
	}))
}

// Wait waits until the run has ended or is paused, and returns its state. If the run has failed, Wait also returns
// the reason as the error. A pause is not an error.
func (r *FlowRun) Wait() (*FlowResult, error) {
	r.mu.Lock()
	running := r.running
	r.mu.Unlock()
	if running != nil {
		result, err := running.Wait()
		r.mu.Lock()
		if r.running == running {
			r.report, r.err, r.paused = result.Report, err, nil
			if p, ok := errors.AsType[*core.PausedError](err); ok {
				r.paused, r.err = p, nil
			}
		}
		r.mu.Unlock()
	}
	return r.result()
}

// result returns the state of the run so far.
func (r *FlowRun) result() (*FlowResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &FlowResult{RunID: r.id, Status: FlowRunning, Logs: append([]FlowEntry{}, r.logs...), State: value.NewObject(0)}
	if r.report == nil {
		return out, nil
	}
	if c, ok := r.report.State.Get(core.ContextField); ok {
		if o, ok := c.(*value.Object); ok {
			out.State = o
		}
	}
	switch r.report.Status {
	case core.RunSuccess, core.RunPartial:
		out.Status = FlowCompleted
	case core.RunPaused:
		out.Status = FlowPaused
	case core.RunCancelled:
		out.Status = FlowCancelled
	default:
		out.Status = FlowFailed
	}
	if r.paused != nil && len(r.paused.Questions) > 0 {
		node := r.paused.Questions[0].Node
		out.WaitingForInput, out.CurrentNodeID = true, &node
		for _, q := range r.paused.Queued {
			out.Queued = append(out.Queued, q.Node)
		}
	}
	return out, r.err
}

// Answer decides the approval that the run asks, continues the run, and waits as Wait does. If the run has not
// been paused yet, Answer waits until it is. A run that has ended is not changed: Answer returns its result. Of
// several answers to one approval the first counts, and the error of the others is an inbox.AnsweredError, also
// while the run continues with the first. The error is ErrDecision for anything but a decision.
func (r *FlowRun) Answer(ctx context.Context, d Decision) (*FlowResult, error) {
	asked := r.asked()
	now, err := r.Wait()
	if asked == nil {
		asked = r.asked()
	}
	if err != nil || asked == nil {
		return now, err
	}
	word := strings.ToLower(strings.TrimSpace(d.Decision))
	if word != core.HandleApprove && word != core.HandleReject {
		return now, fmt.Errorf("%q: %w", d.Decision, ErrDecision)
	}
	s := r.g.settings(r.with())
	if _, err := inbox.Post(ctx, s.Recording.Store, r.id, inbox.Answer{Node: asked.Node, Visit: asked.Visit, Attempt: asked.Attempt, Choice: word, Note: d.Note, By: d.By}); err != nil {
		return now, err
	}
	return r.resume(ctx)
}

// asked returns the question of the last pause, nil if the run has not been paused since it began or has ended.
func (r *FlowRun) asked() *core.PendingQuestion {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paused == nil || len(r.paused.Questions) == 0 {
		return nil
	}
	return &r.paused.Questions[0]
}

// resume continues a paused run that has an answer, and waits.
func (r *FlowRun) resume(ctx context.Context) (*FlowResult, error) {
	running, err := r.g.Resume(ctx, r.id, r.with()...)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.running = running
	r.mu.Unlock()
	return r.Wait()
}

// flowSnapshot is the JSON form of a run: its state for people, and its journal for RestoreFlow.
type flowSnapshot struct {
	FlowResult
	Workflow    string            `json:"workflow"`
	Fingerprint string            `json:"fingerprint"`
	Journal     []recordJSON      `json:"journal"`
	Inbox       []store.Message   `json:"inbox,omitempty"`
	Blobs       map[string][]byte `json:"blobs,omitempty"`
}

type recordJSON struct {
	Type    store.Type      `json:"type"`
	Version uint8           `json:"version"`
	Data    json.RawMessage `json:"data"`
}

// Snapshot returns a run that is paused or has ended, as JSON. RestoreFlow continues it, in this process
// or in another one. A run with a store of the caller is in that store.
func (r *FlowRun) Snapshot(ctx context.Context) ([]byte, error) {
	result, _ := r.Wait()
	if r.store == nil {
		return nil, errors.New("the run is in a store, or could not begin: it has no snapshot")
	}
	p, err := r.g.Plan()
	if err != nil {
		return nil, err
	}
	out := flowSnapshot{FlowResult: *result, Workflow: r.g.Name(), Fingerprint: p.Fingerprint(), Blobs: map[string][]byte{}}
	for rec, err := range r.store.Read(ctx, r.id, 1) {
		if err != nil {
			return nil, err
		}
		out.Journal = append(out.Journal, recordJSON{rec.Type, rec.Version, rec.Data})
		for _, sum := range blobNames(rec.Data) {
			if out.Blobs[sum], err = r.store.Get(ctx, sum); err != nil {
				return nil, err
			}
		}
	}
	if out.Inbox, err = r.store.Inbox(ctx, r.id); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// blobNames finds the names of blobs in a record.
func blobNames(data []byte) (names []string) {
	const prefix = "sha256:"
	text := string(data)
	for {
		_, rest, ok := strings.Cut(text, prefix)
		if !ok {
			return names
		}
		if n := strings.IndexFunc(rest, func(c rune) bool { return !strings.ContainsRune("0123456789abcdef", c) }); n == 64 {
			names = append(names, prefix+rest[:n])
		}
		text = rest
	}
}

// ErrOtherFlow is the error of RestoreFlow for the snapshot of another flow.
var ErrOtherFlow = errors.New("the snapshot is of another flow")

// ErrNoSnapshot is the error of RestoreFlow for a record that cannot be continued, such as one of an older
// format, which has no graph.
var ErrNoSnapshot = errors.New("the record cannot be resumed: it has no journal")

// RestoreFlow returns the run of a snapshot. The flow must be the one that the snapshot was taken of. A run
// that was paused waits for its Answer.
func (g *Graph) RestoreFlow(ctx context.Context, snapshot []byte, options ...RunOption) (*FlowRun, error) {
	var s flowSnapshot
	if err := json.Unmarshal(snapshot, &s); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	p, err := g.Plan()
	switch {
	case err != nil:
		return nil, err
	case len(s.Journal) == 0 || s.RunID == "":
		return nil, ErrNoSnapshot
	case s.Fingerprint != p.Fingerprint():
		return nil, fmt.Errorf("%w: it was taken of %s", ErrOtherFlow, s.Workflow)
	}
	if given := g.settings(options); given.Recording != nil && given.Recording.Store != nil {
		return nil, errors.New("a snapshot is restored into memory: without WithStore")
	}
	r := &FlowRun{g: g, store: memory.New(nil), options: options, id: s.RunID}
	if err := fill(ctx, r.store, &s); err != nil {
		return nil, err
	}
	r.logs = s.Logs
	r.report = &core.Report{Run: s.RunID, Workflow: s.Workflow, State: value.ObjectOf(core.ContextField, s.State),
		Status: map[string]core.RunStatus{FlowCompleted: core.RunSuccess, FlowPaused: core.RunPaused, FlowCancelled: core.RunCancelled, FlowFailed: core.RunFailed}[s.Status]}
	if s.Status == FlowFailed {
		r.err = errors.New("the run has failed before the snapshot was taken")
	}
	if s.WaitingForInput && s.CurrentNodeID != nil {
		r.paused = &core.PausedError{Run: s.RunID, Questions: []core.PendingQuestion{{Question: core.Question{Node: *s.CurrentNodeID}}}}
		for _, id := range s.Queued {
			r.paused.Queued = append(r.paused.Queued, core.Question{Node: id})
		}
	}
	return r, nil
}

// fill puts the records of a snapshot into a store.
func fill(ctx context.Context, m *memory.Store, s *flowSnapshot) error {
	h := store.NewHolder()
	lease, err := m.Acquire(ctx, s.RunID, h, time.Minute)
	if err != nil {
		return err
	}
	for sum, data := range s.Blobs {
		if got, err := m.Put(ctx, data); err != nil || got != sum {
			return fmt.Errorf("snapshot: blob %s is damaged", sum)
		}
	}
	for i, rec := range s.Journal {
		err := m.Append(ctx, s.RunID, lease.Token, []store.Record{{Seq: uint64(i + 1), Type: rec.Type, Version: rec.Version, Data: rec.Data}}, false)
		if err != nil {
			return fmt.Errorf("snapshot: record %d: %w", i+1, err)
		}
	}
	for _, msg := range s.Inbox {
		if err := m.Post(ctx, s.RunID, msg); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
	}
	_, err = m.Acquire(ctx, s.RunID, h, 0)
	return err
}
