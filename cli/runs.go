package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/store"
)

// runStatuses are the statuses that a stored run can have.
var runStatuses = []string{string(core.RunSuccess), string(core.RunPartial), string(core.RunFailed), string(core.RunCancelled),
	store.StatusPaused, store.StatusRunning, store.StatusInterrupted, store.StatusDamaged}

// whereRuns is the paragraph of a command's help about RUN.
const whereRuns = `RUN is the id of a run or the beginning of it, at least four characters. Runs are
looked for in the store that --store or $WAVEFOLD_STORE names, or else in .wavefold
in this folder, in the nearest one above, and in folders up to four levels below.`

// newestRun follows whereRuns in the help of commands for which RUN may be left out.
const newestRun = `
Without RUN it takes the newest run.`

// first returns the first argument, "" if there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// runsFlags are the flags of runs.
type runsFlags struct {
	store, workflow, since string
	status                 []string
	limit                  int // 0 if not set
	json                   bool
}

func (a *app) runsCommand() *cobra.Command {
	var f runsFlags
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the stored runs",
		Long: `runs lists the stored runs, newest first: their status, how many of their nodes are
done, and why they ended. The status is success, partial_success, failed, cancelled,
paused (people have to answer, see waiting), running, interrupted (its process has
ended without a result; resume continues it) or damaged (its journal cannot be read).
Runs that wait for their concurrency_key are in the list with the status queued,
before the others; they are not stored yet.

Runs are looked for in the store that --store or $WAVEFOLD_STORE names, or else in
.wavefold in this folder, in the nearest one above, and in folders up to four levels
below.`,
		Example: examples(
			"wavefold runs",
			"wavefold runs --status failed,interrupted --since 7d",
			"wavefold runs --workflow orders --limit 1 --json | jq -r '.[0].run'",
		),
		Args: atMost(0, noArguments),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runs(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	flags.StringVar(&f.workflow, "workflow", "", "only runs of the workflow with this `name`")
	flags.StringSliceVar(&f.status, "status", nil, "only runs with this `status`; several with commas")
	flags.StringVar(&f.since, "since", "", "only runs that started since this `time`: 2024-01-31, 2024-01-31T08:00:00Z, 90m or 7d ago")
	flags.Var(count{&f.limit, "--limit"}, "limit", "maximum number of runs, the newest ones (default: all)")
	flags.BoolVar(&f.json, "json", false, "print the list as JSON")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(append([]string{statusQueued}, runStatuses...), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// query returns what the flags select.
func (f *runsFlags) query(now time.Time) (store.Query, error) {
	if err := checkStatuses(f.status); err != nil {
		return store.Query{}, err
	}
	q := store.Query{Workflow: f.workflow, Status: f.status, Limit: f.limit}
	if f.since == "" {
		return q, nil
	}
	var err error
	q.Since, err = momentOf("--since", f.since, now)
	return q, err
}

// list returns the runs that the flags select: the runs that wait for their concurrency key, then the stored runs.
func (f *runsFlags) list(ctx context.Context, a *app) (list []storedRun, err error) {
	stored := slices.DeleteFunc(slices.Clone(f.status), func(s string) bool { return s == statusQueued })
	q, err := (&runsFlags{workflow: f.workflow, since: f.since, status: stored, limit: f.limit}).query(time.Now())
	if err != nil {
		return nil, err
	}
	if len(f.status) == 0 || len(stored) > 0 {
		list, err = a.listRuns(ctx, f.store, q)
	}
	if err == nil && f.workflow == "" && (len(f.status) == 0 || len(stored) < len(f.status)) {
		var queued []storedRun
		queued, err = a.queuedRuns(ctx, f.store, q)
		list = append(queued, list...)
	}
	if f.limit > 0 && len(list) > f.limit {
		list = list[:f.limit]
	}
	return list, err
}

func checkStatuses(list []string) error {
	for _, s := range list {
		if !slices.Contains(runStatuses, s) {
			return fmt.Errorf("--status is %q, want %s%s", s, strings.Join(runStatuses, ", "), suggest(s, runStatuses))
		}
	}
	return nil
}

// momentOf parses a time of day, or a duration before now.
func momentOf(flag, text string, now time.Time) (time.Time, error) {
	if d, err := ageOf(text); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is %q, want a date (2024-01-31), a time (2024-01-31T08:00:00Z) or a duration (90m, 7d)", flag, text)
}

// ageOf parses a duration, which may be in days.
func ageOf(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is negative", text)
	}
	return d, err
}

// listRuns returns the runs that a query selects in all stores, newest first. The stores stay open
// until the command ends: nothing is held in them.
func (a *app) listRuns(ctx context.Context, flag string, q store.Query) ([]storedRun, error) {
	dirs, err := a.findStores(flag)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	if len(dirs) == 0 {
		return nil, errNoStore
	}
	var all []storedRun
	for _, dir := range dirs {
		s, err := a.openStore(ctx, dir)
		if err != nil {
			return nil, err
		}
		for sum, err := range s.List(ctx, q) {
			if err != nil {
				return nil, &exitError{exitFailed, err}
			}
			all = append(all, storedRun{store: s, Summary: sum})
		}
	}
	slices.SortStableFunc(all, func(x, y storedRun) int { return cmp.Or(y.Started.Compare(x.Started), cmp.Compare(y.Run, x.Run)) })
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	return all, nil
}

// storedJSON is the JSON form of a stored run in a list.
type storedJSON struct {
	Run      string          `json:"run"`
	Workflow string          `json:"workflow"`
	File     string          `json:"file"`
	Status   string          `json:"status"`
	Started  time.Time       `json:"started"`
	Updated  time.Time       `json:"updated"`
	Finished *time.Time      `json:"finished"`
	Duration time.Duration   `json:"duration_ns"`
	Nodes    *journal.Counts `json:"nodes"` // null before the first pause or end
	Waiting  int             `json:"waiting"`
	// Resumable reports whether resume continues the run.
	Resumable bool            `json:"resumable"`
	Reason    string          `json:"reason"`
	Holder    *holderJSON     `json:"holder"`
	Parent    json.RawMessage `json:"parent"`
	Bytes     int64           `json:"bytes"`
	Store     string          `json:"store"`
}

type holderJSON struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	User  string    `json:"user"`
	Since time.Time `json:"since"`
}

// toJSON returns the JSON form of a stored run.
func (r *storedRun) toJSON() storedJSON {
	j := storedJSON{Run: r.Run, Workflow: r.Workflow, File: r.file(), Status: r.Status, Started: r.Started, Updated: r.Updated, Duration: r.duration(),
		Nodes: r.counts(), Waiting: r.Waiting, Resumable: resumable(&r.Summary), Reason: secret.Hide(r.Reason), Parent: r.Parent, Bytes: r.Bytes, Store: r.store.String()}
	if !r.Finished.IsZero() {
		j.Finished = &r.Finished
	}
	if h := r.Holder; h != nil {
		j.Holder = &holderJSON{h.Host, h.PID, h.User, h.Since}
	}
	return j
}

// file returns the path of the workflow.
func (r *storedRun) file() string {
	if r.File == "" || filepath.IsAbs(r.File) {
		return r.File
	}
	return filepath.Join(filepath.Dir(folderOf(r.store)), filepath.FromSlash(r.File))
}

// duration returns the time from the start of the run to its end, or else to the last record. It is 0 if the
// start is not known, because the head of the journal is damaged.
func (r *storedRun) duration() time.Duration {
	if r.Started.IsZero() {
		return 0
	}
	if !r.Finished.IsZero() {
		return r.Finished.Sub(r.Started)
	}
	return max(0, r.Updated.Sub(r.Started))
}

// counts returns the number of nodes by status, nil if it is not known.
func (r *storedRun) counts() *journal.Counts {
	if r.Counts == nil {
		return nil
	}
	c := &journal.Counts{}
	if json.Unmarshal(r.Counts, c) != nil {
		return nil
	}
	return c
}

func (a *app) runs(ctx context.Context, f *runsFlags) error {
	list, err := f.list(ctx, a)
	if err != nil {
		return err
	}
	if f.json {
		out := []storedJSON{}
		for i := range list {
			out = append(out, list[i].toJSON())
		}
		return a.writeJSON(out)
	}
	if len(list) == 0 {
		tty.Fprintf(a.Out, "no runs\n")
		return nil
	}
	p := a.palette(a.Out)
	t := tty.NewTable([]string{"run", "workflow", "status", "started", "time", "nodes", "why"})
	t.Spare(4, 5)
	t.Below()
	for i := range list {
		r := &list[i]
		started, took := "", ""
		if !r.Started.IsZero() {
			started, took = r.Started.Local().Format(time.DateTime), explain.Duration(r.duration())
		}
		t.Row(r.Run, r.Workflow, p.Status(r.Status), started, took, doneText(r.counts()), r.why())
	}
	a.printTable(a.Out, t)
	return nil
}

// doneText says how many nodes are done, and how many have failed.
func doneText(c *journal.Counts) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("%d/%d", c.Done, c.Total)
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	return text
}

// why explains the status of a run in a list.
func (r *storedRun) why() string {
	switch {
	case r.Waiting > 0 && r.Status != store.StatusDamaged:
		return plural(r.Waiting, "question")
	case r.Holder != nil && r.Status != statusQueued:
		return fmt.Sprintf("pid %d of %s@%s", r.Holder.PID, r.Holder.User, r.Holder.Host)
	}
	if parent, from := r.parentOf(); parent != "" && r.Reason == "" {
		return fmt.Sprintf("replays %s from %s", parent, from)
	}
	return firstLine(secret.Hide(r.Reason))
}

// completeRuns completes the id of a run for which fits holds.
func (a *app) completeRuns(fits func(*store.Summary) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		flag, _ := cmd.Flags().GetString("store")
		list, err := a.listRuns(cmd.Context(), flag, store.Query{Prefix: word})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		for i := range list {
			if fits == nil || fits(&list[i].Summary) {
				ids = append(ids, list[i].Run+"\t"+list[i].Workflow+" "+list[i].Status)
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
