package expressions

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// columnsEnv reads the columns of an item if the slot is negative. Only programs that
// use $item as a whole call Item.
type columnsEnv struct {
	Env
	columns []string
}

func (e columnsEnv) Field(slot int) any {
	if slot >= 0 {
		return e.Env.Field(slot)
	}
	return Member(e.Env.Item(), e.columns[^slot])
}

func TestColumnsAreMembersOfTheItem(t *testing.T) {
	all := envs(t)
	check := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, tree *Tree) {
		t.Helper()
		text := source.Text{Value: tree.String()}
		plain, _ := CompileTree(tree, text, Scope{}, "")
		var columns Columns
		p, _ := CompileTree(tree, text, Scope{Columns: &columns}, "")
		if plain == nil || p == nil {
			return
		}
		for _, env := range all {
			bound := columnsEnv{env.Bind(p), columns.Names()}
			want, got := plain.Value(env.Bind(plain)), p.Value(bound)
			if show(canonical(got)) != show(canonical(want)) {
				t.Fatalf("%s: %s by columns %q, %s by members", text.Value, show(got), columns.Names(), show(want))
			}
			if boxed := p.Boxed(bound, boxer{}); show(canonical(boxed)) != show(canonical(want)) {
				t.Fatalf("%s: %s boxed, %s by members", text.Value, show(boxed), show(want))
			}
		}
	}
	for _, c := range corpus(t) {
		if tree, err := Parse(c.text); err == nil {
			check(t, tree)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		if tree, err := NewTree("", drawNode(rt, 4)); err == nil {
			check(rt, tree)
		}
	})
}

// boxer boxes values as a Go conversion does.
type boxer struct{}

func (boxer) Integer(i int64) any { return i }
func (boxer) Float(f float64) any { return f }
func (boxer) Text(s string) any   { return s }

func TestColumnsShareNumbers(t *testing.T) {
	columns := Columns{}
	scope := Scope{Roots: RootItem, Columns: &columns}
	first := MustCompile("$item.b + $item.a", scope)
	second := MustCompile("$item.a * $item['odd name'][0]", scope)
	if got := value.JSON([]any{columns.Names()[0], columns.Names()[1], columns.Names()[2], int64(len(columns.Names()))}); got != `["b","a","odd name",3]` {
		t.Fatalf("columns %s", got)
	}
	item := value.ObjectOf("a", int64(2), "b", int64(3), "odd name", []any{int64(5)})
	env := func(p *Program) Env { return columnsEnv{MapEnv{Item: item}.Bind(p), columns.Names()} }
	if a, b := first.Value(env(first)), second.Value(env(second)); a != int64(5) || b != int64(10) {
		t.Errorf("got %v and %v", a, b)
	}
	whole := MustCompile("$item", scope)
	if whole.Value(env(whole)) != any(item) || len(whole.Fields()) != 0 || first.Roots() != RootItem {
		t.Errorf("the item as a whole: %v, fields %v, roots %v", whole.Value(env(whole)), first.Fields(), first.Roots())
	}
}

// If all columns of a row are known, reading any other column is an error, except as an
// argument of coalesce.
func TestItemColumns(t *testing.T) {
	for text, want := range map[string]string{
		"$item.a > 1 && $item['b'] > 1":           "",
		"$item == null || $item[0] == 1":          "",
		"$item.c > 1":                             `1:7: error: the rows have no column "c" here (known keys: a, b) [EXPR_NAME]`,
		"!($item.ab.c == 1)":                      `1:9: error: the rows have no column "ab" here (did you mean "a"? known keys: a, b) [EXPR_NAME]`,
		"coalesce($item.c, $item.d) > 1":          "",
		"coalesce($item.c + 1, 2) > 1":            `1:16: error: the rows have no column "c" here (known keys: a, b) [EXPR_NAME]`,
		"coalesce(lower($item.c), 'x') == $.item": `1:22: error: the rows have no column "c" here (known keys: a, b) [EXPR_NAME]`,
	} {
		_, ds := Compile(source.At(text, source.Position{Line: 1, Column: 1}), Scope{Item: source.Columns{Names: []string{"a", "b"}, Closed: true}}, "")
		if got := ds.Error(); len(ds) > 0 && got != want || len(ds) == 0 && want != "" {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
