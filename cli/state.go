package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/history"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// stateFlags are the flags of state.
type stateFlags struct {
	store, at            string
	blame, history, json bool
}

func (a *app) stateCommand() *cobra.Command {
	var f stateFlags
	cmd := &cobra.Command{
		Use:   "state [RUN [FIELD[.path]]]",
		Short: "Show the state of a stored run, and who wrote it",
		Long: `state shows the state of a stored run: all fields, or one field or a value inside it, such
as totals.eu or rows[3].id, as JSON. The state of a run that has not ended has the
writes that are merged so far.

With --at it shows the state after the writes of one node. The order of writes does
not depend on when nodes ran: it is the state that the run would have had if its
nodes had run one after the other. NODE is a node, pipeline or loop; "many[7]" is
one item, row or round of a node, or one visit in a walk. "outer/save" is a node of
a nested run, and shows the state of the nested run.

--blame shows who wrote each value: the node with its item, row, round or visit, and
the record of the journal with its result. --history lists the writes to a field.
Secrets are masked.

` + whereRuns + newestRun,
		Example: examples(
			"wavefold state 4kqz7w",
			"wavefold state 4kqz7w totals.eu --blame",
			"wavefold state 4kqz7w totals --history",
			"wavefold state 4kqz7w --at price[7] --json",
		),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return errors.New("want at most a run, and a field or path of it")
			}
			return nil
		},
		ValidArgsFunction: a.completeRuns(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			field := strings.Join(args[min(1, len(args)):], "")
			switch {
			case f.blame && f.history:
				return errors.New("--blame and --history are two views: choose one")
			case f.history && field == "":
				return errors.New("--history lists the writes to a field: name the field after the run")
			}
			return a.state(cmd.Context(), first(args), field, &f)
		},
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	flags.StringVar(&f.at, "at", "", "the state after the writes of a `node`, or of one item, row, round or visit: many[7]")
	flags.BoolVar(&f.blame, "blame", false, "show who wrote each value")
	flags.BoolVar(&f.history, "history", false, "list the writes to the field")
	flags.BoolVar(&f.json, "json", false, "print it as JSON")
	return cmd
}

func (a *app) state(ctx context.Context, id, field string, f *stateFlags) error {
	found, err := a.findRun(ctx, f.store, id, nil)
	if err != nil {
		return err
	}
	defer found.store.Close()
	s, err := a.stateAt(ctx, found, f.at)
	if err != nil {
		return historyError(err)
	}
	if f.history || f.blame {
		if err := s.Inner(ctx); err != nil {
			return historyError(err)
		}
	}
	switch {
	case f.history:
		err = a.showWrites(s, field, f.json)
	case f.blame:
		err = a.showBlame(s, field, f.json)
	case field != "":
		var v any
		if v, err = s.Lookup(field); err == nil {
			err = a.writeJSON(v)
		}
	case f.json:
		err = a.writeJSON(s.Values())
	default:
		a.printValues(s.Values())
	}
	return historyError(err)
}

// stateAt returns the state of a stored run, after the writes of a node if one is named.
func (a *app) stateAt(ctx context.Context, r *storedRun, at string) (*history.State, error) {
	graph, node := plan.CutPath(at)
	run, err := a.readHistory(ctx, r, graph)
	switch {
	case err != nil:
		return nil, err
	case node != "":
		return run.After(node)
	}
	return run.State(), nil
}

// readHistory reads what a stored run, or a nested run of it, has written.
func (a *app) readHistory(ctx context.Context, r *storedRun, graph string) (*history.Run, error) {
	return history.Read(ctx, r.store, r.Run, graph, func(h *journal.Head) (*plan.Plan, error) {
		p, err := a.recordedPlan(ctx, r, h)
		if err == nil {
			p.ForReplay()
		}
		return p, err
	})
}

// historyError returns the error of looking back on a run.
func historyError(err error) error {
	if _, unknown := errors.AsType[*history.UnknownError](err); unknown {
		return &exitError{exitUsage, err}
	}
	if _, has := errors.AsType[*exitError](err); has || err == nil {
		return err
	}
	return storedError(err)
}

func (a *app) printValues(o *value.Object) {
	t := tty.NewTable([]string{"field", "value"})
	for name, v := range o.All() {
		t.Row(name, shownValue(v))
	}
	a.printTable(a.Out, t)
}

// maxShown limits the characters of a value in a table of several columns.
const maxShown = 36

// shownValue returns a value as JSON on a line. The size of one that is cut follows.
func shownValue(v any) tty.Styled {
	if value.IsMissing(v) {
		return ""
	}
	text := value.JSON(v)
	line := tty.Cut(tty.Safe(text), maxShown)
	if tty.Width(line) < tty.Width(tty.Safe(text)) {
		switch v := v.(type) {
		case []any:
			line += tty.Safe(" (" + plural(len(v), "element") + ")")
		case *value.Object:
			line += tty.Safe(" (" + plural(v.Len(), "member") + ")")
		case string:
			line += tty.Safe(" (" + plural(len(v), "byte") + ")")
		}
	}
	return line
}

// authorText names the author of a value.
func authorText(x history.Author) string {
	switch {
	case x.Start:
		return "the starting value"
	case x.Set:
		return "replay --set"
	case x.Path == "":
		return "the walk"
	}
	return x.Name()
}

// maxParts limits the parts of a value that a table lists.
const maxParts = 50

// showBlame shows who wrote the values of a state.
func (a *app) showBlame(s *history.State, path string, asJSON bool) error {
	list, err := s.Blame(path)
	if err != nil {
		return err
	}
	if asJSON {
		return a.writeJSON(blameJSON(list))
	}
	t := tty.NewTable([]string{"field", "value", "written by", "attempt", "record"}, 3, 4)
	t.Spare(3)
	hidden := 0
	for _, f := range list {
		blameRow(t, f.Path, &f.Blame)
		for i := range f.Parts {
			if i == maxParts {
				hidden += len(f.Parts) - i
				t.Row("  …", plural(len(f.Parts)-i, "more part"), "", "", "")
				break
			}
			blameRow(t, "  "+strings.TrimPrefix(f.Parts[i].Path, "."), &f.Parts[i].Blame)
		}
	}
	a.printTable(a.Out, t)
	if hidden > 0 {
		tty.Fprintf(a.Err, "the parts that are not listed are in the output of --json\n")
	}
	return nil
}

// blameRow adds a value to a table. The authors of the parts of a value follow it.
func blameRow(t *tty.Table, name string, b *history.Blame) {
	if len(b.Parts) > 0 {
		t.Row(name, shownValue(b.Value), "", "", "")
		return
	}
	who := authorText(b.By)
	if n := len(b.All); n > 1 {
		who = fmt.Sprintf("%s and %s before", who, plural(n-1, "other"))
	}
	attempt := ""
	if b.By.Attempt > 1 {
		attempt = fmt.Sprint(b.By.Attempt)
	}
	t.Row(name, shownValue(b.Value), who, attempt, countText(int(b.By.Seq)))
}

// blameJSON is an object with the blame of each field.
type blameJSON []history.FieldBlame

// MarshalJSON writes the fields in declared order.
func (list blameJSON) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, f := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(value.AppendString(out, f.Path), ':')
		b, err := json.Marshal(f.Blame)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return append(out, '}'), nil
}

// writeJSONOf is a write to a field in JSON.
type writeJSONOf struct {
	history.Author
	At    time.Time `json:"at"`
	Value *any      `json:"value,omitempty"` // nil if a walk began again
	After *any      `json:"after,omitempty"` // nil if the value is large
}

// showWrites lists the writes to a field.
func (a *app) showWrites(s *history.State, path string, asJSON bool) error {
	list, err := s.Writes(path)
	if err != nil {
		return err
	}
	if asJSON {
		out := make([]writeJSONOf, len(list))
		for i, w := range list {
			out[i] = writeJSONOf{w.Author, w.At, present(w.Value), present(w.After)}
		}
		return a.writeJSON(out)
	}
	if len(list) == 0 {
		if _, err := s.Lookup(path); err != nil {
			return err
		}
		tty.Fprintf(a.Out, "nothing has written %s: it has its starting value\n", path)
		return nil
	}
	t := tty.NewTable([]string{"time", "written by", "attempt", "record", "wrote", "value after it"}, 2, 3)
	t.Spare(2, 0)
	for _, w := range list {
		attempt, wrote, after := "", shownValue(w.Value), shownValue(w.After)
		if w.Attempt > 1 {
			attempt = fmt.Sprint(w.Attempt)
		}
		if value.IsMissing(w.Value) {
			wrote = "(the walk began again)"
		}
		if after == wrote {
			after = ""
		}
		t.Row(w.At.Local().Format("15:04:05.000"), authorText(w.Author), attempt, countText(int(w.Seq)), wrote, after)
	}
	a.printTable(a.Out, t)
	return nil
}

// present returns a pointer to a value, nil if it is missing.
func present(v any) *any {
	if value.IsMissing(v) {
		return nil
	}
	return &v
}
