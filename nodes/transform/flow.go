package transform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// A table passes through the steps row by row: each step takes a row and passes it, or
// a row made from it, to the next one. Computed values are in registers next to the
// base row. A new row is made only at the end, or where a step has to keep it. So
// memory does not grow with the table, except in steps that need all rows, and arrays
// and streams are handled alike.

// stage executes one step in one attempt.
type stage interface {
	// take processes the next row. The record is valid until take returns, and its
	// layout may have changed by then. take changes neither the base row nor the
	// registers of earlier steps.
	take(ctx context.Context, r *record) error
	// outline returns the layout of the stage's output for an input layout that is
	// known before the first row. It returns an error if the input lacks a column that
	// the stage needs.
	outline(l *layout) (*layout, error)
	// end is called after the last row, repeatedly until more is false. Each call may
	// pass on some of the rows that the stage held back.
	end(ctx context.Context) (more bool, err error)
}

// work holds what all stages have in common.
type work struct {
	*attempt
	name  string // in messages
	place int    // index in attempt.stages
	next  stage
	rows  int64 // taken so far
	needs *needs
}

// fail adds the name of the step to an error.
func (w *work) fail(err error) error { return fmt.Errorf("%s: %w", w.name, err) }

// failRow adds the name of the step and the number of the last row taken to an error.
func (w *work) failRow(err error) error { return fmt.Errorf("%s: row %d: %w", w.name, w.rows, err) }

// outline is the outline of a step that does not change the columns.
func (w *work) outline(l *layout) (*layout, error) {
	if err := w.needs.checkLayout(l); err != nil {
		return nil, w.fail(err)
	}
	return l, nil
}

// end is the end of a step that holds no rows back.
func (w *work) end(context.Context) (more bool, err error) {
	if err := w.needs.missing(); err != nil {
		return false, w.fail(err)
	}
	return false, nil
}

// enough reports whether a later step needs no more rows.
func (w *work) enough() bool { return w.full > w.place }

// endRows is the number of rows that a step passes on in one call of end.
const endRows = 1024

// needs lists columns that at least one row must have. In rows without such a column
// its value is null.
type needs struct {
	names []string
	named int                // number of leading names that the step itself names; its expressions read the others
	warn  func(absent error) // if not nil, called instead of failing for a column that only expressions read
	found []bool
	seen  []string // all columns that were seen, to suggest a similar name
}

// needs returns the columns that a step needs. If the table is one object, it is one
// row of a table whose other rows are seen by other executions of the node, and a
// column it lacks may be in those. Then a column that only expressions read causes a
// warning, unless a header lists the columns of all rows.
func (a *attempt) needs(s named) *needs {
	n := &needs{names: append(slices.Clone(s.names), s.reads...), named: len(s.names)}
	if a.single && a.handler.header == "" {
		n.warn = func(absent error) { a.in.Logger().Warn(absent.Error(), "step", s.name) }
	}
	return n
}

// checkLayout checks columns that are known before the first row.
func (n *needs) checkLayout(l *layout) error {
	for _, name := range n.names {
		if l.find(name) == table.NoCell {
			return core.Permanent(fmt.Errorf("the rows have no column %q%s", name, columncheck.Hint(name, l.names)))
		}
	}
	return nil
}

// observe records the columns of a layout.
func (n *needs) observe(l *layout) {
	if n.found == nil {
		n.found = make([]bool, len(n.names))
	}
	for i, name := range n.names {
		n.found[i] = n.found[i] || l.find(name) != table.NoCell
	}
	for _, name := range l.names {
		if len(n.seen) < maxLayouts {
			n.seen = appendOnce(n.seen, name)
		}
	}
}

// missing returns an error for a column that no row had. It returns nil if there were
// no rows.
func (n *needs) missing() error {
	for i, ok := range n.found {
		if ok {
			continue
		}
		err := fmt.Errorf("no row has the column %q%s", n.names[i], columncheck.Hint(n.names[i], n.seen))
		if i >= n.named && n.warn != nil {
			n.warn(err)
			continue
		}
		return core.Permanent(err)
	}
	return nil
}

// attempt holds the state that the stages of one attempt share. It is used by one
// goroutine.
type attempt struct {
	handler    *handler
	in         core.Input
	shared     core.Shared
	record     record
	headers    headers
	collectors []*rowcheck.Collector
	stages     []stage
	ending     int // the stage whose end is called next
	full       int // the last stage that needs no more rows, or -1 if there is none
	registers  int
	keepers    []*keeper
	out        *output

	source      rowSource
	single      bool              // the table is one object
	upstream    core.Stream       // source, if it is a stream
	begun       bool              // columns that are known before the first row have been checked
	header      *layout           // of the result, nil if it is not known
	types       []*value.Type     // of the input columns, if header is known
	openColumns bool              // a step adds columns that are not known in advance
	reads       columncheck.Reads // columns of the result that expressions of the workflow read
	batch       []any
	at          int   // the next row of batch
	exhausted   bool  // the source has no more rows
	from        int64 // number of input rows so far
	total       int64 // number of input rows, 0 if it is not known
}

// start opens the table and sets up the stages. The caller must call finish and close.
func (h *handler) start(ctx context.Context, in core.Input, later *rowcheck.LateFiles) (*attempt, error) {
	a := &attempt{handler: h, in: in, shared: in.Shared(), reads: columncheck.NewReads(h.reads), full: -1, registers: null + 1}
	err := a.collect(ctx, later)
	if err == nil {
		err = a.open(ctx)
	}
	if err == nil {
		err = a.setUp(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// collect creates the collectors of bad rows, which replace the files of rejects.
func (a *attempt) collect(ctx context.Context, later *rowcheck.LateFiles) error {
	h := a.handler
	task := rowcheck.Task{Input: a.shared, Place: files.Place{Dir: cmp.Or(a.shared.Dir, h.dir)}, Temp: files.TempOf(a.in), Node: a.in.Node(), Later: later}
	for _, p := range h.policies {
		task.Before = a.collectors
		c, err := p.Collector(ctx, task)
		if err != nil {
			return err
		}
		a.collectors = append(a.collectors, c)
	}
	return nil
}

// open opens the table, which is a stream or a value of the state.
func (a *attempt) open(ctx context.Context) error {
	s, ok, err := a.handler.from.Stream(ctx, a.in, nil)
	if ok || err != nil {
		a.source, a.upstream = s, s
		return err
	}
	rows, single, err := a.handler.table(a.shared)
	a.single = single
	a.source, a.total = &array{rows}, int64(len(rows))
	return err
}

// setUp creates the stages, from last to first.
func (a *attempt) setUp(ctx context.Context) error {
	h := a.handler
	a.out = &output{a.keeper()}
	var next stage = a.out
	a.stages = make([]stage, len(h.steps))
	for i, st := range slices.Backward(h.steps) {
		made, err := st.make(ctx, work{attempt: a, name: st.name, place: i, next: next, needs: a.needs(st)})
		if err != nil {
			return err
		}
		a.stages[i], next = made, made
	}
	a.record.Registers = make([]any, a.registers)
	return nil
}

// partial reports whether the rows are only part of a table whose other rows are seen
// by other executions of the node: the table is one object, or comes from an item.
func (a *attempt) partial() bool {
	return a.single || strings.HasPrefix(a.handler.from.Name.Value, "$item")
}

// finish closes the collectors with err, the result of the attempt, and returns the
// resulting error.
func (a *attempt) finish(ctx context.Context, err error) error {
	for _, c := range a.collectors {
		err = c.Close(ctx, err)
	}
	return err
}

// begin checks the columns that are known before the first row. It does so once.
func (a *attempt) begin(ctx context.Context) error {
	if a.begun {
		return nil
	}
	a.begun = true
	columns, err := a.columns(ctx)
	if columns == nil || err != nil {
		return err
	}
	l := a.headers.other(columns)
	for _, s := range a.stages {
		if l, err = s.outline(l); err != nil {
			return err
		}
	}
	if a.openColumns {
		return nil
	}
	a.header = l
	return a.absent(core.Permanent(a.reads.Header(l.names, a.handler.types.Optional)))
}

// unread returns an error for a column that expressions read but no row of the result
// has.
func (a *attempt) unread() error {
	return a.absent(core.Permanent(a.reads.Missing(a.handler.types.Optional)))
}

// absent adds the name of the result's field to an error.
func (a *attempt) absent(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", a.handler.into, err)
}

// columns returns the columns of the input rows, or nil if they are not known. A stream
// may know its columns; the columns of an array are in the output of the node that read
// it.
func (a *attempt) columns(ctx context.Context) ([]string, error) {
	if a.upstream != nil {
		columns, ok, err := core.HeaderOf(ctx, a.upstream)
		if !ok {
			columns = nil
		}
		a.types = make([]*value.Type, len(columns))
		return columns, err
	}
	var columns []string
	for _, p := range a.headerOf(a.handler.header) {
		columns, a.types = append(columns, p.Name), append(a.types, p.Type)
	}
	return columns, nil
}

// headerOf returns the columns that a node lists in its output, or nil if it lists
// none.
func (a *attempt) headerOf(node string) []value.Property {
	if node == "" || a.shared.Nodes == nil {
		return nil
	}
	_, output, _ := a.shared.Nodes(node)
	return source.HeaderColumns(output)
}

// schema describes the columns of the result in the form that a dataset uses.
func (a *attempt) schema() []any {
	list := make([]any, len(a.header.names))
	for i, name := range a.header.names {
		kind := a.handler.types.Kind(name)
		if p := a.header.places[i]; kind == value.AnyType && p >= 0 && a.types[p] != nil {
			kind = a.types[p].Kind // a column of the input
		}
		list[i] = value.ObjectOf("column", name, "type", kind.String())
	}
	return list
}

// close releases the resources of the attempt. It may be called at any time.
func (a *attempt) close() error {
	for _, c := range a.collectors {
		c.Discard()
	}
	if a.upstream != nil {
		return a.upstream.Close()
	}
	return nil
}

// addCheckResults adds the results of the checks to a summary and returns the number of rows
// that they removed.
func (a *attempt) addCheckResults(out *value.Object) (rejected int64) {
	if len(a.collectors) == 0 {
		return 0
	}
	warnings := &value.Object{}
	for _, c := range a.collectors {
		rejected += int64(c.Rejected())
		for check, n := range c.Warnings().All() {
			warnings.Set(check, n)
		}
	}
	out.Set(core.RejectedRows, rejected)
	if warnings.Len() > 0 {
		out.Set("warnings", warnings)
	}
	return rejected
}

// rowSource yields the rows of a table, and io.EOF after the last one.
type rowSource interface {
	Next(ctx context.Context) ([]any, error)
}

// array is a rowSource for an array of the state.
type array struct{ rows []any }

// Next returns all rows at once.
func (a *array) Next(context.Context) ([]any, error) {
	rows := a.rows
	if a.rows = nil; len(rows) == 0 {
		return nil, io.EOF
	}
	return rows, nil
}

// view returns an environment for the expressions of the step.
func (w *work) view() *view {
	a := w.attempt
	v := &view{row: a.handler.slots.Row(a.shared), columns: a.handler.slots.Columns(), needs: w.needs}
	v.row.Follow(&a.record.Record, a.record.object)
	return v
}

// view is the environment in which the expressions of a step are evaluated.
type view struct {
	row     *table.Row
	columns []string
	needs   *needs // of the step
	shapes  shapes[[]table.CellIndex]
}

// on sets the view to a record with index n, which counts from 0.
func (v *view) on(r *record, n int64) *table.Row {
	if r.layout != v.shapes.last {
		places, _ := v.shapes.of(r.layout, func(l *layout) ([]table.CellIndex, error) {
			v.needs.observe(l)
			return l.findAll(v.columns), nil
		})
		v.row.Places(places)
	}
	v.row.Number(n)
	return v.row
}

// advance processes rows until want rows are ready or the input is finished. done
// reports that it is finished.
func (a *attempt) advance(ctx context.Context, want int) (done bool, err error) {
	if err := a.begin(ctx); err != nil {
		return false, err
	}
	for len(a.out.rows) < want {
		switch {
		case a.at < len(a.batch):
			err = a.feed(ctx, want)
		case !a.exhausted && a.full < 0:
			err = a.read(ctx)
		case a.ending < len(a.stages):
			var more bool
			if more, err = a.stages[a.ending].end(ctx); !more {
				a.ending++
			}
		default:
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// progressRows is the number of rows between two progress reports.
const progressRows = 1 << 16

// feed passes rows of the batch to the first stage.
func (a *attempt) feed(ctx context.Context, want int) error {
	first, r := a.stages[0], &a.record
	for ; a.at < len(a.batch); a.at++ {
		if err := table.Tick(ctx, a.at); err != nil {
			return err
		}
		if a.from%progressRows == 0 && (a.from > 0 || a.total == 0) {
			a.in.Progress(a.from, a.total)
		}
		if a.full >= 0 {
			a.at = len(a.batch)
			break
		}
		if len(a.out.rows) >= want {
			return nil
		}
		row, err := a.row(a.batch[a.at])
		if err != nil {
			return core.Permanent(fmt.Errorf("%s: row %d: %w", a.handler.from.Name.Value, a.from+1, err))
		}
		a.from++
		r.Base, r.layout = row, a.headers.of(row)
		if err := first.take(ctx, r); err != nil {
			return err
		}
	}
	for _, k := range a.keepers {
		k.settle(len(a.batch))
	}
	return nil
}

// row returns a row as an object, or an error if it is not one. Rows of a stream are
// made canonical first; arrays of the state already are.
func (a *attempt) row(v any) (*value.Object, error) {
	if a.upstream != nil {
		var err error
		if v, err = value.Canonical(v); err != nil {
			return nil, err
		}
	}
	if row, ok := v.(*value.Object); ok && row != nil {
		return row, nil
	}
	return nil, fmt.Errorf("want an object, got %s", value.TypeName(v))
}

// read reads the next batch.
func (a *attempt) read(ctx context.Context) error {
	batch, err := a.source.Next(ctx)
	if errors.Is(err, io.EOF) {
		a.exhausted = true
		if a.from > 0 && a.total > 0 {
			a.in.Progress(a.from, a.total)
		}
		return nil
	}
	a.batch, a.at = batch, 0
	return err
}
