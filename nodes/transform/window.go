package transform

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// windowed is one column of a window step.
type windowed struct {
	name string
	word string
	rows int // the offset of lag, or the size of the window; 0 for all rows so far
	argument
}

// windowFunctions lists the functions of window columns, and whether their arguments
// must be numbers.
var windowFunctions = []struct {
	word    string
	numbers bool
}{{"row_number", false}, {"lag", false}, {"sum", true}, {"mean", true}, {"min", false}, {"max", false}}

// maxWindow limits the number of rows in a window, because the value of each is kept.
const maxWindow = 100_000

// window compiles a step that adds columns that depend on preceding rows.
func (b *builder) window(w *windowConfig, key string, c source.Columns) (step, source.Columns) {
	b.distinct(w.By, key+".by")
	for _, n := range w.By {
		b.need(c, n, key+".by")
	}
	var list []windowed
	var known []value.Property
	for _, m := range w.Columns {
		b.scope.Fixed(key+".columns", m.Key)
		if m.Key.Value == "" {
			b.problem(m.Key.Pos, key, "a column needs a name", "")
		}
		x, kind := b.windowed(m.Value, key+"."+m.Key.Value, c)
		x.name = m.Key.Value
		list, known = append(list, x), append(known, typed(x.name, kind))
	}
	by := source.Strings(w.By)
	arguments := make([]argument, len(list))
	for i := range list {
		arguments[i] = list[i].argument
	}
	names, reads := needed(by, arguments)
	return step{required(c, names), required(c, reads), func(_ context.Context, w work) (stage, error) { return newWindower(w, by, list), nil }}, with(c, known)
}

// windowed compiles "row_number", "lag(x)", "lag(x, rows)", "sum(x)" or "sum(x, rows)".
func (b *builder) windowed(src source.Text, key string, c source.Columns) (windowed, value.TypeKind) {
	call, ok := parseCall(src)
	w := windowed{word: call.word}
	names := make([]string, len(windowFunctions))
	at := -1
	for i, f := range windowFunctions {
		if names[i] = f.word; f.word == call.word {
			at = i
		}
	}
	switch {
	case at < 0:
		b.scope.Errorf(source.CodeExprName, src.Pos, key, "unknown function %q", call.word).WithHint("%s", source.UnknownKeyHint(call.word, names))
		return w, value.AnyType
	case call.word == "row_number":
		if call.called {
			b.scope.Errorf(source.CodeExprSyntax, src.Pos, key, "row_number is written without parentheses, found %q", src.Value)
		}
		return w, value.IntegerType
	case !ok || !call.called:
		b.scope.Errorf(source.CodeExprSyntax, src.Pos, key, "want %s(column) or %s(column, rows), found %q", call.word, call.word, src.Value)
		return w, value.AnyType
	}
	inner, rows, has := cutRows(call.inner)
	if has {
		n, err := strconv.Atoi(rows.Value)
		if err != nil || n < 1 || n > maxWindow {
			b.scope.Errorf(source.CodeBadValue, rows.Pos, key, "want a number of rows from 1 to %d, found %q", maxWindow, rows.Value)
		}
		w.rows = n
	} else if call.word == "lag" {
		w.rows = 1
	}
	kind := b.argument(&w.argument, inner, false, windowFunctions[at].numbers, key, c)
	if call.word == "mean" {
		kind = value.NumberType
	}
	return w, kind
}

// cutRows splits the number of rows from the end of an argument. Commas within calls
// and string literals belong to the argument.
func cutRows(src source.Text) (inner, rows source.Text, has bool) {
	comma, depth := -1, 0
	quote := byte(0)
	for i := range len(src.Value) {
		switch c := src.Value[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			comma = i
		}
	}
	if comma < 0 {
		return src, source.Text{}, false
	}
	end := len(strings.TrimRight(src.Value[:comma], space))
	rest := src.Value[comma+1:]
	from := comma + 1 + len(rest) - len(strings.TrimLeft(rest, space))
	return source.Cut(src, 0, end), source.Cut(src, from, len(src.Value)), true
}

// windower adds columns to rows as they arrive. It keeps the values that its columns
// need for each partition, but no rows.
type windower struct {
	work
	by      []string
	list    []windowed
	panes   []pane // of list
	columns []string
	shapes  shapes[windowShape]
	view    *view // nil if no argument is an expression
	memos   []table.Memo
	index   *index
	key     []any
	held    budget
	names   []string
	places  []table.CellIndex
	first   int // register
}

// windowShape is what windower derives from an input layout.
type windowShape struct {
	from []table.CellIndex // of by and the arguments
	made *layout
}

func newWindower(w work, by []string, list []windowed) *windower {
	s := &windower{work: w, by: by, list: list, memos: make([]table.Memo, len(list)), index: newIndex(len(by)), key: make([]any, len(by)),
		held: w.budget("partition"), places: registers(w.registers, len(list)), first: w.registers}
	w.attempt.registers += len(list)
	s.columns = slices.Clone(by)
	computes := false
	for i := range list {
		x := &list[i]
		s.names = append(s.names, x.name)
		s.columns = append(s.columns, x.column)
		computes = computes || x.program != nil
		s.panes = append(s.panes, x.pane(&s.held))
	}
	if computes {
		s.view = w.view()
	}
	return s
}

func (s *windower) shape(l *layout) (windowShape, error) {
	s.needs.observe(l)
	return windowShape{l.findAll(s.columns), l.with(s.names, s.places)}, nil
}

func (s *windower) outline(l *layout) (*layout, error) {
	if err := s.needs.checkLayout(l); err != nil {
		return nil, s.fail(err)
	}
	return l.with(s.names, s.places), nil
}

func (s *windower) take(ctx context.Context, r *record) error {
	shape, _ := s.shapes.of(r.layout, s.shape)
	s.rows++
	for i := range s.key {
		s.key[i] = r.At(shape.from[i])
	}
	n, err := s.partition()
	if err != nil {
		return s.fail(err)
	}
	var env *table.Row
	if s.view != nil {
		env = s.view.on(r, s.rows-1)
	}
	for i, p := range s.panes {
		x := &s.list[i]
		var v any
		if x.program != nil {
			v, err = evaluate(x.program, env, &s.memos[i])
		} else {
			v = r.At(shape.from[len(s.by)+i])
		}
		if err == nil {
			v, err = p.next(n, v)
		}
		if err != nil {
			return s.failRow(core.Permanent(fmt.Errorf("%s: %w", x.name, err)))
		}
		r.Registers[s.first+i] = v
	}
	r.layout = shape.made
	return s.next.take(ctx, r)
}

// partition returns the number of the partition with the current key.
func (s *windower) partition() (int, error) {
	n, added := s.index.numbered(s.key)
	if !added {
		return n, nil
	}
	size := keySize(s.key)
	for _, p := range s.panes {
		size += p.open()
	}
	return n, s.held.hold(size)
}
