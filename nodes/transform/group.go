package transform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// aggregate is one computed column of a group.
type aggregate struct {
	name    string
	f       function
	percent int
	column  string               // the argument, when it is a column
	program *expressions.Program // the argument, when it is an expression
}

// group compiles a step that makes one row of each group.
func (b *builder) group(g *groupConfig, key string, c eval.Columns) (step, eval.Columns) {
	b.distinct(g.By, key+".by")
	var known []core.Property
	for _, n := range g.By {
		b.need(c, n, key+".by")
		known = append(known, property(c, n.Value))
	}
	by := core.Strings(g.By)
	var list []aggregate
	for _, m := range g.Aggregate {
		if slices.Contains(by, m.Key.Value) {
			b.problem(m.Key.Pos, key+".aggregate", fmt.Sprintf("%q is one of the columns of by", m.Key.Value), "")
		}
		a, kind := b.aggregate(m.Value, key+"."+m.Key.Value, c)
		a.name = m.Key.Value
		list = append(list, a)
		known = append(known, typed(a.name, kind))
	}
	names := slices.Clone(by)
	for _, a := range list {
		names = append(names, a.name)
	}
	header, err := core.NewKeys(names)
	if err != nil && !b.scope.Found.Failed(false) {
		b.problem(g.Pos, key, err.Error(), "")
	}
	return func(ctx context.Context, at *attempt, rows []any) ([]any, error) {
		r := &grouping{by: by, list: list, env: at.env, header: header}
		return r.run(ctx, rows)
	}, exactly(known)
}

// aggregate compiles "function" or "function(argument)". The argument is the
// name of a column or an expression.
func (b *builder) aggregate(src core.Text, key string, c eval.Columns) (aggregate, core.TypeKind) {
	text := strings.TrimSpace(src.Value)
	word, rest, called := strings.Cut(text, "(")
	word = strings.TrimSpace(word)
	var a aggregate
	names := make([]string, len(functions))
	at := -1
	for i, f := range functions {
		if names[i] = f.word; f.word == word {
			at = i
		}
	}
	argument, numbers := 1, true
	switch p, ok := percent(word); {
	case ok:
		a.f, a.percent = percentile, p
	case at < 0:
		b.scope.Errorf(core.CodeExprName, src.Pos, key, "unknown function %q", word).
			WithHint("%s", core.UnknownKeyHint(word, append(names, "p90")))
		return a, core.AnyType
	default:
		f := functions[at]
		a.f, a.percent, argument, numbers = f.f, 50, f.argument, f.numbers
	}
	inner, closed := strings.CutSuffix(rest, ")")
	inner = strings.TrimSpace(inner)
	if called && !closed || called && inner == "" || !called && argument == 1 {
		b.scope.Errorf(core.CodeExprSyntax, src.Pos, key, "want %s(column) or %s(expression), found %q", word, word, src.Value)
		return a, core.AnyType
	}
	if !called {
		return a, core.IntegerType
	}
	offset := strings.Index(src.Value, "(") + 1
	offset += len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
	return a, b.argument(&a, core.Cut(src, offset, offset+len(inner)), numbers, key, c)
}

// argument compiles the argument of an aggregate and returns the type of the
// result.
func (b *builder) argument(a *aggregate, src core.Text, numbers bool, key string, c eval.Columns) core.TypeKind {
	var kind core.TypeKind
	if isName(src.Value) && a.f != countIf {
		b.need(c, src, key)
		a.column, kind = src.Value, c.Kind(src.Value)
	} else {
		compile := b.scope.Row
		if a.f == countIf {
			compile = b.scope.Condition
		}
		if a.program = compile(src, c, key); a.program != nil {
			kind = a.program.Type()
		}
	}
	if numbers && kind != core.AnyType && kind != core.IntegerType && kind != core.NumberType {
		b.scope.Errorf(core.CodeExprType, src.Pos, key, "want numbers, %s is %s", src.Value, kind)
	}
	switch a.f {
	case countRows, countIf, countDistinct:
		return core.IntegerType
	case mean:
		return core.NumberType
	case list:
		return core.ArrayType
	}
	return kind
}

// isName reports whether an argument is the bare name of a column.
func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && s != "true" && s != "false" && s != "null"
}

// grouping is one run of a group step. Groups keep the order in which their
// first rows came.
type grouping struct {
	by     []string
	list   []aggregate
	env    *eval.Row
	header *core.Keys

	index        map[string]int
	firsts       []*core.Object // the first row of each group
	accumulators []accumulator  // those of a group stand together
	keys         []table.Column
	arguments    []table.Column
	buf          []byte
}

func (g *grouping) run(ctx context.Context, rows []any) ([]any, error) {
	if err := g.prepare(rows); err != nil {
		return nil, err
	}
	for i, r := range rows {
		if err := table.Tick(ctx, i); err != nil {
			return nil, err
		}
		if err := g.add(r.(*core.Object), i); err != nil {
			return nil, err
		}
	}
	if len(g.by) == 0 && len(g.firsts) == 0 {
		g.open(&core.Object{}) // the group of all rows is there without rows too
	}
	return g.results()
}

func (g *grouping) prepare(rows []any) error {
	g.index = map[string]int{}
	needed := slices.Clone(g.by)
	for _, n := range g.by {
		g.keys = append(g.keys, table.Column{Name: n})
	}
	for _, a := range g.list {
		g.arguments = append(g.arguments, table.Column{Name: a.column})
		if a.column != "" {
			needed = append(needed, a.column)
		}
	}
	return require(rows, needed)
}

// add puts a row into its group.
func (g *grouping) add(row *core.Object, i int) error {
	g.buf = g.buf[:0]
	for j := range g.keys {
		g.buf = appendKey(g.buf, g.keys[j].Value(row))
	}
	g.buf = short(g.buf)
	group, ok := g.index[string(g.buf)]
	if !ok {
		group = g.open(row)
		g.index[string(g.buf)] = group
	}
	mine := g.accumulators[group*len(g.list):][:len(g.list)]
	for j := range g.list {
		a := &g.list[j]
		var v any
		switch {
		case a.f == countRows && a.column == "" && a.program == nil:
			mine[j].count++
			continue
		case a.f == countIf:
			if a.program.Test(g.env.At(row, i)) {
				mine[j].count++
			}
			continue
		case a.program != nil:
			var err error
			if v, err = value(a.program, g.env.At(row, i)); err != nil {
				return fmt.Errorf("row %d: %s: %w", i+1, a.name, err)
			}
		default:
			v = g.arguments[j].Value(row)
		}
		if err := mine[j].add(a.f, v, &g.buf); err != nil {
			return core.Permanent(fmt.Errorf("row %d: %s: %w", i+1, a.name, err))
		}
	}
	return nil
}

// open begins a group with its first row and returns its number.
func (g *grouping) open(row *core.Object) int {
	g.firsts = append(g.firsts, row)
	g.accumulators = append(g.accumulators, make([]accumulator, len(g.list))...)
	return len(g.firsts) - 1
}

func (g *grouping) results() ([]any, error) {
	out := make([]any, len(g.firsts))
	build := table.NewBuilder(g.header)
	for i, first := range g.firsts {
		row, values := build.Row()
		for j := range g.keys {
			values[j] = g.keys[j].Value(first)
		}
		for j, a := range g.list {
			v, err := g.accumulators[i*len(g.list)+j].result(a.f, a.percent)
			if err != nil {
				return nil, core.Permanent(fmt.Errorf("%s: %w", a.name, err))
			}
			values[len(g.by)+j] = v
		}
		out[i] = row
	}
	return out, nil
}
