package cli

import (
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

// printRoute lists the edges that a dry run has taken.
func (a *app) printRoute(p *plan.Plan, rec *rehearse.Record) {
	palette := a.palette(a.Out)
	tty.Fprintf(a.Out, "%s: nothing is executed, every node succeeds\n", palette.Bold(p.Name))
	t := tty.NewTable([]string{"step", "from", "status", "to", "why"}, 0)
	t.Below()
	step := 0
	for i := range rec.Events {
		if e := &rec.Events[i]; e.Type == core.EdgeChosen {
			step++
			t.Row(countText(step), e.From, palette.Status(e.Status), e.To, a.mask.Text(e.Reason))
		}
	}
	if step > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printTable(a.Out, t)
	}
	a.printDecision(p, rec)
	tty.Fprintf(a.Out, "\n%s: %s\n", palette.Bold(p.Name), palette.Status(string(rec.Report.Status)))
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
