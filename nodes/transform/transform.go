package transform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Kind is the node kind "transform".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    "transform",
	Doc:     "Turns a table into another one, step by step and without code.",
	Compile: compile,
	Partial: true,
})

// compile checks a node and compiles its steps.
func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	b := &builder{config: *c, node: n, scope: table.NewScope(n, env)}
	h := &handler{dir: env.Dir, limits: b.limits()}
	h.from = b.scope.Source(b.From)
	before := b.columns(h.from)
	h.header = b.headerOf(before)
	after := b.compileSteps(before)
	after.OnRead = nil
	if after.Header = ""; h.header != "" {
		after.Header = n.ID.Value
	}
	h.types = after
	h.into, h.single = b.into(after)
	h.steps, h.policies = b.steps, b.policies
	h.slots = b.scope.Slots()
	made := core.Compiled{Handler: h, Effects: slices.ContainsFunc(h.policies, (*rowcheck.Policy).HasFile), Replaces: rowcheck.Replaces(h.policies...)}
	if b.Stream {
		made.Stream = b.stream(h)
		made.Handler = streamHandler{h}
	}
	ds := b.scope.Found
	if ds.Failed(false) {
		return core.Compiled{}, ds
	}
	ds = append(ds, setting.UnusedArgs(n, setting.ArgsInFileNames, b.scope.Names()...)...)
	made.Columns, made.OptionalNodes = map[string]source.Columns{h.into: after}, b.tableNodes
	made.Reads, made.Outputs = b.scope.Reads(), files.Place{Dir: env.Dir}.Targets(b.scope.Outputs())
	// A field that is also read as a value cannot be a stream.
	made.Streams = slices.DeleteFunc(h.from.Streams(), func(f source.Text) bool { return !b.scope.Once(f.Value) })
	return made, ds
}

// headerOf returns the node whose output lists the columns of a table, or "". It
// records that the output of that node is read.
func (b *builder) headerOf(c source.Columns) string {
	if c.Header != "" && !slices.Contains(source.Strings(b.tableNodes), c.Header) {
		b.tableNodes = append(b.tableNodes, source.At(c.Header, b.node.Pos))
	}
	return c.Header
}

// limits returns the limits on what a step may hold back.
func (b *builder) limits() limits {
	l := limits{defaultHeld, defaultMemory}
	if b.MaxHeld != nil {
		l.rows = int64(b.MaxHeld.Value)
	}
	if b.MaxMemory > 0 {
		l.bytes = int64(b.MaxMemory)
	}
	return l
}

// columns returns the columns of the table that are known from the state schema and
// from the node that makes the table.
func (b *builder) columns(from *table.From) source.Columns {
	if from == nil {
		return source.Columns{}
	}
	var row *value.Type
	switch from.Kind() {
	case value.ArrayType:
		row = from.Type.Items
	case value.ObjectType:
		row = from.Type
	case value.AnyType:
	default:
		b.scope.Errorf(source.CodeWrongType, from.Name.Pos, from.Key, "a table is an array of objects, %s is %s", from.Name.Value, from.Type.Kind)
		return source.Columns{}
	}
	return b.scope.RowsOf(from, row)
}

// into returns the field for the result: the field named by into, or the only write
// that does not take rejects. single reports that the field is declared as an object,
// which takes the only row of the result.
func (b *builder) into(after source.Columns) (field string, single bool) {
	var rest []source.Text
	for _, w := range b.node.Writes {
		if !slices.ContainsFunc(b.policies, func(p *rowcheck.Policy) bool { return p.Field() == w.Value }) {
			rest = append(rest, w)
		}
	}
	name := b.Into
	switch {
	case name.Value == "" && len(rest) == 1:
		name = rest[0]
	case name.Value == "":
		b.scope.Errorf(source.CodeBadValue, b.node.Pos, "writes", "the result goes to exactly one field, found %d", len(rest)).WithHint("writes: [rows]")
		return "", false
	case !slices.Contains(source.Strings(rest), name.Value):
		b.scope.Errorf(source.CodeUnknownField, name.Pos, "into", "field %q is not among the writes for the result", name.Value).
			WithHint("add it: writes: [%s]", name.Value)
		return "", false
	}
	filled := []string{name.Value}
	for _, p := range b.policies {
		filled = append(filled, p.Field())
	}
	b.scope.Found = append(b.scope.Found, setting.UnusedWrites(b.node, "a node with into: "+name.Value+" writes no other field", filled...)...)
	return name.Value, b.resultType(name, after)
}

// resultType checks the known columns of the result against the declared type of its
// field, and reports whether that type is an object.
func (b *builder) resultType(into source.Text, after source.Columns) (single bool) {
	t := b.scope.WriteType(into.Value)
	if t == nil {
		return false
	}
	switch t.Kind {
	case value.ObjectType:
		b.rowType(into, t, after)
		return true
	case value.ArrayType, value.AnyType:
		b.rowType(into, t.Items, after)
	default:
		b.scope.Errorf(source.CodeWrongType, into.Pos, "writes", "the result is an array, field %q takes %s", into.Value, t.Kind)
	}
	return false
}

// rowType checks the columns of the result against the declared type of a row.
func (b *builder) rowType(into source.Text, t *value.Type, after source.Columns) {
	if t == nil {
		return
	}
	for _, p := range t.Properties {
		have := after.Kind(p.Name)
		if p.Type == nil || have == value.AnyType || p.Type.Kind == value.AnyType || have == p.Type.Kind || have == value.IntegerType && p.Type.Kind == value.NumberType || have == value.NumberType && p.Type.Kind == value.IntegerType {
			continue
		}
		b.scope.Errorf(source.CodeWrongType, into.Pos, "writes", "column %q is %s here and %s in the state schema of %s", p.Name, have, p.Type.Kind, into.Value)
	}
	for _, r := range t.Required {
		if !after.Has(r) {
			b.scope.Errorf(source.CodeWrongType, into.Pos, "writes", "%s requires a column %q, which the result does not have", into.Value, r)
		}
	}
}

// handler executes the steps. It is immutable.
type handler struct {
	from     *table.From
	into     string
	single   bool           // into is an object
	types    source.Columns // of the result
	header   string         // the node that lists the columns of all rows, or "" if there is none
	steps    []named
	policies []*rowcheck.Policy
	slots    table.Slots
	limits   limits
	dir      string
	reads    []source.ColumnRead // columns of the result that expressions of the workflow read
}

var _ core.ColumnReader = (*handler)(nil)

// WithReads returns a handler that also checks the columns that expressions read.
func (h *handler) WithReads(reads []source.ColumnRead) core.Handler { return h.withReads(reads) }

func (h *handler) withReads(reads []source.ColumnRead) *handler {
	c := *h
	c.reads = reads
	return &c
}

// Handle transforms the table.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	later := rowcheck.NewLateFiles(in.Shared())
	return later.Deliver(h.work(ctx, in, later))
}

// work transforms the table. The files that checks write are handed to later.
func (h *handler) work(ctx context.Context, in core.Input, later *rowcheck.LateFiles) (core.Result, error) {
	a, err := h.start(ctx, in, later)
	if err != nil {
		return core.Result{}, err
	}
	_, err = a.advance(ctx, math.MaxInt)
	if err == nil {
		a.reads.Look(a.out.rows)
		err = a.unread()
	}
	if err == nil {
		err = h.count(a.out.rows)
	}
	err = errors.Join(a.finish(ctx, err), a.close())
	if err != nil {
		return core.Result{}, err
	}
	return h.result(a), nil
}

// table returns the rows of a table that is not a stream. An object is a table of one
// row, so that a stage of a pipeline can transform its item.
func (h *handler) table(s core.Shared) (rows []any, single bool, err error) {
	v := h.from.Value(s)
	o, single := v.(*value.Object)
	if single {
		v = []any{o}
	}
	rows, err = table.Rows(h.from.Name.Value, v)
	return rows, single, core.Permanent(err)
}

// count returns an error if the result must be one object and does not have exactly one
// row.
func (h *handler) count(rows []any) error {
	if !h.single || len(rows) == 1 {
		return nil
	}
	return core.Permanent(fmt.Errorf("field %q is an object and takes one row, the result has %d", h.into, len(rows)))
}

// warn logs the number of rows that failed checks of severity warn.
func (a *attempt) warn() {
	for _, c := range a.collectors {
		for check, n := range c.Warnings().All() {
			a.in.Logger().Warn("check failed", "check", check, "rows", n)
		}
	}
}

func (h *handler) result(a *attempt) core.Result {
	rows := slices.Clip(a.out.rows)
	if cap(a.out.rows) > 2*len(rows) { // the list was sized for the whole array, but most rows were dropped
		rows = append(make([]any, 0, len(rows)), rows...)
	}
	from := max(a.from, a.total) // a limit may have cut the array short
	out := value.ObjectOf("rows", int64(len(rows)), "from", from)
	if len(rows) == 0 && a.header != nil {
		out.Set("schema", a.schema())
	}
	r := core.Send(out)
	r.Delta = map[string]any{h.into: rows}
	if h.single {
		r.Delta[h.into] = rows[0]
	}
	r.Note = fmt.Sprintf("%s from %d", table.Count(len(rows), "row"), from)
	for i, c := range a.collectors {
		if field := h.policies[i].Field(); field != "" {
			r.Delta[field] = c.Records()
		}
	}
	a.warn()
	if rejected := a.addCheckResults(out); rejected > 0 {
		r.Status = core.PartialSuccess
		r.Note += fmt.Sprintf(", %d rejected", rejected)
	}
	return r
}
