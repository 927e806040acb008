package cli

import (
	"fmt"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/rehearse"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// dryRun shows what a run would do: for a walk, the path it takes if every node succeeds;
// for other graphs, the plan.
func (a *app) dryRun(p *plan.Plan, args []string, inputs map[string]any, f *runFlags) error {
	if !p.Mode.Visits {
		return a.printPlan(p, f.json)
	}
	file, ds := fileOf(a.engine, args)
	if len(ds) > 0 {
		return a.invalid(ds, f.json)
	}
	w, ds := a.engine.Read(file)
	if w == nil {
		return a.invalid(ds, f.json)
	}
	rec, ds := rehearse.DryRun(a.engine, w, inputs)
	if rec == nil {
		return a.badInputs(p, ds, f.json)
	}
	if f.json {
		if err := a.writeJSON(reportJSON(a.mask.Report(rec.Report))); err != nil {
			return err
		}
		return a.outcome(rec.Report, nil, f)
	}
	a.printRoute(p, rec)
	return a.outcome(rec.Report, nil, f)
}

// printRoute lists the edges that a dry run has taken. Edges that are taken again and again until a limit
// ends the run are listed once.
func (a *app) printRoute(p *plan.Plan, rec *rehearse.Record) {
	palette := a.palette(a.Out)
	tty.Fprintf(a.Out, "%s: nothing is executed, every node succeeds\n", palette.Bold(p.Name))
	var taken []*core.Event
	var names []string
	for i := range rec.Events {
		if e := &rec.Events[i]; e.Type == core.EdgeChosen {
			taken, names = append(taken, e), append(names, e.From+" -> "+e.To)
		}
	}
	shown, rest := len(taken), ""
	if len(taken) > maxRoute && rec.Report.Status == core.RunFailed {
		var ring int
		if shown, ring = repetition(names); shown < len(taken) {
			rest = fmt.Sprintf("… the last %s: %s, until the limit", repeats(ring), plural(len(taken)-shown, "more step"))
		} else {
			shown = maxRoute
			rest = fmt.Sprintf("… and %s, until the limit", plural(len(taken)-shown, "more step"))
		}
	}
	t := tty.NewTable([]string{"step", "from", "status", "to", "why"}, 0)
	t.Below()
	for i, e := range taken[:shown] {
		t.Row(countText(i+1), e.From, palette.Status(e.Status), e.To, a.mask.Text(e.Reason))
	}
	if shown > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printTable(a.Out, t)
	}
	if rest != "" {
		tty.Fprintf(a.Out, "%s\n", rest)
	}
	a.printDecision(p, rec)
	tty.Fprintf(a.Out, "\n%s: %s\n", palette.Bold(p.Name), palette.Status(string(rec.Report.Status)))
}

// maxRoute is the number of edges up to which a dry run that fails lists all of them.
const maxRoute = 40

// repeats says that the last steps of a list repeat.
func repeats(steps int) string {
	if steps == 1 {
		return "step repeats"
	}
	return fmt.Sprintf("%d steps repeat", steps)
}

// repetition looks for the period in which a list ends: it returns the number of elements up to the end of the
// first period, and the length of the period. A period must come at least twice. Without one, both are the
// length of the list.
func repetition(list []string) (shown, period int) {
	n := len(list)
	shown, period = n, n
	// border[k] is the length of the longest proper prefix of the k last elements, read backwards, that is
	// also their suffix. The shortest period of these k elements is k - border[k].
	border := make([]int, n+1)
	at := func(i int) string { return list[n-1-i] }
	for k, b := 2, 0; k <= n; k++ {
		for b > 0 && at(k-1) != at(b) {
			b = border[b]
		}
		if at(k-1) == at(b) {
			b++
		}
		border[k] = b
		if p := k - b; k >= 2*p && n-k+p < shown {
			shown, period = n-k+p, p
		}
	}
	return shown, period
}

// printDecision describes the node at which a dry run of a walk that a model routes ends:
// its choices, or why there are none.
func (a *app) printDecision(p *plan.Plan, rec *rehearse.Record) {
	path := rec.Report.Path
	ended, note := endingOf(p, nil)
	if ended == nil || len(path) == 0 {
		return
	}
	for i := range rec.Events {
		note(rec.Events[i])
	}
	if ended.rule == "" {
		tty.Fprintf(a.Out, "\n%s\n", ended.text(p, rec.Report))
		return
	}
	at, out := path[len(path)-1], []*plan.EdgeDescription{}
	d := p.Describe()
	for i := range d.Edges {
		if d.Edges[i].From == at {
			out = append(out, &d.Edges[i])
		}
	}
	tty.Fprintf(a.Out, "\nafter %s a model decides:\n", at)
	for _, e := range out {
		tty.Fprintf(a.Out, "  %s: %s\n", e.To, choiceText(e, len(out)))
	}
}
