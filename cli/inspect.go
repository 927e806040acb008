package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/projection"
	"github.com/wavefold/wavefold/store"
)

func (a *app) inspectCommand() *cobra.Command {
	var at string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect RUN",
		Short: "Show how far a stored run has come",
		Long: `inspect shows a stored run: its nodes with their statuses, attempts and times, what it
waits for, when it was paused, resumed or answered, and the size of its journal. It
reads a run that is in progress, too, up to what is stored.

` + whereRuns,
		Example: examples(
			"wavefold inspect 4kqz7w",
			"wavefold inspect 4kqz7w --json | jq '.marks'",
		),
		Args:              exactly(1, "a run"),
		ValidArgsFunction: a.completeRuns(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := a.findRun(cmd.Context(), at, args[0], nil)
			if err != nil {
				return err
			}
			defer found.store.Close()
			out, err := a.inspect(cmd.Context(), found)
			if err != nil {
				return storedError(err)
			}
			if out.Questions, err = a.questions(cmd.Context(), at, []string{found.Run}); err != nil {
				return err
			}
			out.noteQuestions()
			if asJSON {
				return a.writeJSON(out)
			}
			a.printInspection(out)
			return nil
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// inspection is what inspect shows.
type inspection struct {
	Run       string         `json:"run"`
	Workflow  string         `json:"workflow"`
	Status    string         `json:"status"`
	Reason    string         `json:"reason,omitempty"`
	Started   time.Time      `json:"started"`
	Duration  time.Duration  `json:"duration_ns"`
	Nodes     []inspected    `json:"nodes"`
	Questions []questionJSON `json:"questions"`
	Usage     *core.Usage    `json:"usage,omitempty"`
	Marks     []markJSON     `json:"marks"`
	Journal   journalJSON    `json:"journal"`
}

// inspected is a node, pipeline or loop that has begun or was skipped.
type inspected struct {
	Path     string        `json:"path"`
	Status   string        `json:"status"` // "running" for one that has not ended, "waiting" if it has asked a question
	Attempts int           `json:"attempts"`
	Items    int           `json:"items,omitempty"`
	Started  time.Duration `json:"started_ns"` // since the start of the run
	Duration time.Duration `json:"duration_ns"`
	Why      string        `json:"why,omitempty"`
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

// inspect reads the journal of a run. It needs no lease.
func (a *app) inspect(ctx context.Context, r *storedRun) (*inspection, error) {
	out := &inspection{Run: r.Run, Workflow: r.Workflow, Status: r.Status, Reason: secret.Hide(r.Reason), Started: r.Started, Duration: r.duration(),
		Nodes: []inspected{}, Marks: []markJSON{}, Journal: journalJSON{Path: filepath.Join(r.store.RunDir(r.Run), "journal"), Bytes: r.Bytes, Records: r.Records}}
	for rec, err := range r.store.Read(ctx, r.Run, 1) {
		if err == nil {
			err = out.add(rec)
		}
		if err != nil {
			return nil, err
		}
	}
	s, started := explain.New(nil), map[string]time.Time{}
	compile := func(h *journal.Head) (*plan.Plan, error) { return a.recordedPlan(ctx, r, h) }
	err := projection.Events(ctx, r.store, r.Run, compile, func(e *core.Event) error {
		s.Add(e)
		if id := cmp.Or(e.Node, e.Unit); started[id].IsZero() && e.Type == core.NodeStarted {
			started[id] = e.Time
		}
		return nil
	})
	if err != nil { // for example, the graph was built by another program
		a.warnf("the nodes of run %s cannot be shown: %v", r.Run, err)
		return out, nil
	}
	for _, id := range s.Nodes() {
		account, ok := s.Account(id)
		if !ok {
			continue
		}
		n := inspected{Path: id, Status: account.Status, Attempts: account.Attempts, Items: account.Items, Duration: account.Duration, Why: s.Brief(account)}
		if t := started[id]; !t.IsZero() {
			n.Started = t.Sub(r.Started)
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out, nil
}

// add reads what a record says about the run as a whole.
func (x *inspection) add(rec store.Record) error {
	switch rec.Type {
	case store.Head:
		h, err := journal.SealedHead(rec.Data)
		x.Journal.Format, x.Journal.Logic = h.Format, h.Logic
		return err
	case store.Mark:
		var m struct {
			Kind string        `json:"kind"`
			Wall time.Time     `json:"wall"`
			By   string        `json:"by"`
			Down time.Duration `json:"down"`
			Data struct {
				Node string `json:"node"`
				By   string `json:"by"`
			} `json:"data"`
		}
		err := json.Unmarshal(rec.Data, &m)
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
		if n.Status == "running" && slices.ContainsFunc(x.Questions, func(q questionJSON) bool { return q.Node == n.Path }) {
			n.Status = "waiting"
		}
	}
}

func (a *app) printInspection(x *inspection) {
	p := a.palette(a.Out)
	tty.Fprintf(a.Out, "%s of %s: %s\n", p.Bold(x.Run), x.Workflow, p.Status(x.Status))
	tty.Fprintf(a.Out, "started %s, %s\n", x.Started.Local().Format(time.DateTime), explain.Duration(x.Duration))
	if x.Reason != "" {
		tty.Fprintf(a.Out, "%s\n", x.Reason)
	}
	if len(x.Nodes) > 0 {
		tty.Fprintf(a.Out, "\n")
		t := tty.NewTable([]string{"node", "status", "items", "attempts", "began", "time", "why"}, 2, 3, 4, 5)
		t.Spare(4, 2, 3)
		t.Below()
		for _, n := range x.Nodes {
			t.Row(n.Path, p.Status(n.Status), countText(n.Items), countText(n.Attempts), explain.Duration(n.Started), timeText(n.Duration), n.Why)
		}
		a.printTable(a.Out, t)
	}
	if len(x.Marks) > 0 {
		tty.Fprintf(a.Out, "\n")
		for _, m := range x.Marks {
			text := m.Kind
			if m.Node != "" {
				text += " " + m.Node
			}
			if m.By != "" {
				text += " by " + m.By
			}
			if m.Down > 0 {
				text += " after " + explain.Duration(m.Down)
			}
			tty.Fprintf(a.Out, "%s  %s\n", p.Dim(m.At.Local().Format(time.DateTime)), text)
		}
	}
	if len(x.Questions) > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printQuestions(x.Questions)
	}
	tty.Fprintf(a.Out, "\njournal: %s, %s, %s\n", x.Journal.Path, plural(int(x.Journal.Records), "record"), plural(int(x.Journal.Bytes), "byte"))
}
