package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/internal/timeline"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/projection"
	"github.com/wavefold/wavefold/store"
)

func (a *app) inspectCommand() *cobra.Command {
	var at, svg string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect [RUN]",
		Short: "Show how far a stored run has come",
		Long: `inspect shows a stored run: its nodes with their statuses, attempts and times, the
critical path, a timeline, what it waits for, when it was paused, resumed or answered,
and the size of its journal. It reads a run that is in progress, too, up to what is stored.

The critical path is the chain of attempts and waits from the start of the run to its
end that decided when it ended: each began when the one before it had ended. The time
of a node is without the delays between attempts, which are among its waits. --json
also has all executions, with their idempotency keys.

` + whereRuns + newestRun,
		Example: examples(
			"wavefold inspect                            # the newest run",
			"wavefold inspect 4kqz7w",
			"wavefold inspect 4kqz7w --svg timeline.svg",
			"wavefold inspect 4kqz7w --json | jq '.marks'",
			"wavefold inspect 4kqz7w --json | jq -r '.executions[] | select(.status == \"open\") | .key'",
		),
		Args:              atMost(1, "one run"),
		ValidArgsFunction: a.completeRuns(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := a.findAny(cmd.Context(), at, first(args), nil)
			if err != nil {
				return err
			}
			defer found.store.Close()
			if !found.isStored() {
				return a.inspectQueued(found, asJSON)
			}
			out, err := a.inspect(cmd.Context(), found)
			if err != nil {
				return storedError(err)
			}
			if out.Questions, err = a.questions(cmd.Context(), at, []string{found.Run}); err != nil {
				return err
			}
			out.noteQuestions()
			if svg != "" {
				if err := out.writeSVG(svg); err != nil {
					return err
				}
			}
			if asJSON {
				return a.writeJSON(out)
			}
			a.printInspection(out)
			return nil
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	cmd.Flags().StringVar(&svg, "svg", "", "also draw the timeline to a `file` as SVG")
	return cmd
}

// inspection is what inspect shows.
type inspection struct {
	Run      string `json:"run"`
	Workflow string `json:"workflow"`
	Status   string `json:"status"`
	Reason   string `json:"reason,omitempty"`
	// Parent is the run that this one replays, and the node from which on it does.
	Parent   *journal.Parent `json:"parent,omitempty"`
	Started  time.Time       `json:"started"`
	Duration time.Duration   `json:"duration_ns"`
	Nodes    []inspected     `json:"nodes"`
	// Path are the nodes that a walk has visited, in order, without branches. Changes are the changes of its
	// graph that a walk by steps, or one nested in the run, was asked for.
	Path    []string          `json:"path,omitempty"`
	Changes []*explain.Change `json:"changes,omitempty"`
	// Executions are in the order of their starts.
	Executions []executionJSON `json:"executions"`
	// CriticalPath is the chain of attempts and waits that decided when the run ended.
	CriticalPath []linkJSON     `json:"critical_path"`
	Questions    []questionJSON `json:"questions"`
	// WaitsFor is the concurrency key that the run waits for, before it begins or is resumed.
	WaitsFor *queueJSON  `json:"waits_for,omitempty"`
	Usage    *core.Usage `json:"usage,omitempty"`
	Marks    []markJSON  `json:"marks"`
	Journal  journalJSON `json:"journal"`

	ended       bool
	line        *timeline.Run // nil if the nodes are not known
	sharedUntil time.Time     // of a replay: what ended later is its own
}

// inspected is a node, pipeline or loop that has begun or was skipped.
type inspected struct {
	Path     string `json:"path"`
	Status   string `json:"status"` // "running" for one that has not ended, "waiting" if it has asked a question, "queued" if it asks one later
	Attempts int    `json:"attempts"`
	Items    int    `json:"items,omitempty"`
	// Started is the time since the start of the run; nil if the node was skipped.
	Started  *time.Duration `json:"started_ns,omitempty"`
	Duration time.Duration  `json:"duration_ns"`
	// Waited is the time for which it waited for a slot when it was ready.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// RetryWait is the part of Duration in which it waited for the next attempt of an execution and no
	// execution of it ran.
	RetryWait time.Duration `json:"retry_wait_ns,omitempty"`
	// Kept reports whether a resumed run has taken over the result of an earlier part.
	Kept bool `json:"kept,omitempty"`
	// Cached is the number of executions whose results are those of earlier runs. They are not among
	// Attempts.
	Cached int         `json:"cached,omitempty"`
	Usage  *core.Usage `json:"usage,omitempty"` // of models
	Why    string      `json:"why,omitempty"`
}

// began returns when the node began, for sorting: nodes that have not begun come last.
func (n *inspected) began() time.Duration {
	if n.Started == nil {
		return math.MaxInt64
	}
	return *n.Started
}

type markJSON struct {
	Kind string        `json:"kind"`
	At   time.Time     `json:"at"`
	By   string        `json:"by,omitempty"`
	Node string        `json:"node,omitempty"`
	Down time.Duration `json:"down_ns,omitempty"` // the time without a process
}

type journalJSON struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Records uint64 `json:"records"`
	Format  int    `json:"format"`
	Logic   int    `json:"logic"`
}

// journal returns the path of the journal, or the URL of the database that it is in.
func (r *storedRun) journal() string {
	if in, ok := r.store.(interface{ RunDir(run string) string }); ok {
		return filepath.Join(in.RunDir(r.Run), "journal")
	}
	return r.store.String()
}

// inspect reads the journal of a run. It needs no lease.
func (a *app) inspect(ctx context.Context, r *storedRun) (*inspection, error) {
	if err := r.withQueue(ctx); err != nil {
		return nil, err
	}
	out := newInspection(r)
	for rec, err := range r.store.Read(ctx, r.Run, 1) {
		if err == nil {
			err = out.add(rec)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, a.inspectNodes(ctx, r, out)
}

// newInspection returns what is known without the journal.
func newInspection(r *storedRun) *inspection {
	return &inspection{Run: r.Run, Workflow: r.Workflow, Status: r.Status, Reason: secret.Hide(r.Reason), Started: r.Started, Duration: r.duration(), ended: r.Ended(), WaitsFor: r.queueJSON(),
		Nodes: []inspected{}, Executions: []executionJSON{}, CriticalPath: []linkJSON{}, Questions: []questionJSON{}, Marks: []markJSON{}, Journal: journalJSON{Path: r.journal(), Bytes: r.Bytes, Records: r.Records}}
}

// inspectNodes adds what the events of the run say about its nodes.
func (a *app) inspectNodes(ctx context.Context, r *storedRun, out *inspection) error {
	s, line := explain.New(nil), &timeline.Run{}
	part, endedIn, shared, times := 0, map[string]int{}, map[string]bool{}, map[string]nodeTimes{}
	var path walkedPath
	isWalk := false
	compile := func(h *journal.Head) (*plan.Plan, error) {
		part++
		line.Generations = h.Generations
		p, err := a.recordedPlan(ctx, r, h)
		isWalk = p != nil && p.Mode.Visits && !p.Mode.Final // visits of a flow overlap
		return p, err
	}
	err := projection.Events(ctx, r.store, r.Run, compile, func(e *core.Event) error {
		s.Add(e)
		line.Add(e)
		if isWalk {
			path.add(e)
		}
		id := cmp.Or(e.Node, e.Unit)
		switch t := times[id]; e.Type {
		case core.NodeReady:
			t.ready = e.Time
			times[id] = t
		case core.NodeStarted, core.ItemStarted: // stages, and nodes in a loop, only begin for rows and rounds
			if t.started.IsZero() {
				t.started = e.Time
				times[id] = t
			}
		case core.NodeFinished, core.NodeFailed, core.NodeSkipped, core.UnitFinished:
			endedIn[id], shared[id] = part, !e.Time.After(out.sharedUntil)
		}
		return nil
	})
	if err != nil { // for example, the graph was built by another program
		a.warnf("the nodes of run %s cannot be shown: %v", r.Run, err)
		return nil
	}
	retryWaits := line.RetryWaits(r.duration())
	for _, id := range s.Nodes() {
		account, ok := s.Account(id)
		if !ok {
			continue
		}
		n := inspected{Path: id, Status: account.Status, Attempts: account.Attempts, Cached: account.Cached, Items: account.Items, Duration: account.Duration, Why: s.Brief(account)}
		n.Kept = endedIn[id] > 0 && endedIn[id] < part || shared[id]
		n.Usage = usageJSON(account.Usage)
		n.RetryWait = min(retryWaits[id], n.Duration)
		if t := times[id]; !t.started.IsZero() {
			n.Started, n.Waited = new(t.started.Sub(r.Started)), t.waited()
		}
		out.Nodes = append(out.Nodes, n)
	}
	out.Path, out.Changes = path.nodes(), s.Changes
	slices.SortStableFunc(out.Nodes, func(a, b inspected) int { return cmp.Compare(a.began(), b.began()) })
	out.addTimeline(line)
	return nil
}

// add reads what a record says about the run as a whole.
func (x *inspection) add(rec store.Record) error {
	switch rec.Type {
	case store.Head:
		h, err := journal.SealedHead(rec.Data)
		x.Journal.Format, x.Journal.Logic = h.Format, h.Logic
		if h.Parent != nil && h.Parent.Kind == journal.ParentReplay {
			x.Parent = h.Parent
		}
		return err
	case store.Mark:
		var m struct {
			Kind string        `json:"kind"`
			Wall time.Time     `json:"wall"`
			By   string        `json:"by"`
			Down time.Duration `json:"down"`
			At   time.Duration `json:"at"`
			Data struct {
				Node string `json:"node"`
				By   string `json:"by"`
			} `json:"data"`
		}
		err := json.Unmarshal(rec.Data, &m)
		if m.Kind == store.MarkForked {
			x.sharedUntil = x.Started.Add(m.At)
		}
		x.Marks = append(x.Marks, markJSON{m.Kind, m.Wall, cmp.Or(m.By, m.Data.By), m.Data.Node, m.Down})
		return err
	case store.End:
		var e struct {
			Usage core.Usage `json:"usage"`
		}
		err := json.Unmarshal(rec.Data, &e)
		x.Usage = usageJSON(e.Usage)
		return err
	}
	return nil
}

// noteQuestions sets the status of nodes that wait for an answer.
func (x *inspection) noteQuestions() {
	for i := range x.Nodes {
		n := &x.Nodes[i]
		j := slices.IndexFunc(x.Questions, func(q questionJSON) bool { return q.Node == n.Path })
		switch {
		case n.Status != "running" || j < 0:
		case x.Questions[j].Queued:
			n.Status = "queued"
		default:
			n.Status = "waiting"
		}
	}
}
