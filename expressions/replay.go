package expressions

import (
	"strconv"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Replay evaluates a condition again using only the values that Explain recorded. It is
// safe for concurrent use.
type Replay struct {
	program *Program
	keys    []string // the keys of Explain, indexed by slot
}

// Replay returns a Replay of the condition. ok is false if the rewritten condition is
// not a valid expression.
func (p *Program) Replay() (r *Replay, ok bool) {
	r = &Replay{}
	tree, err := NewTree(p.tree.src, r.replaced(p.tree.root))
	if err != nil {
		return nil, false
	}
	r.program, _ = CompileTree(tree, source.Text{Value: tree.src}, Scope{}, "")
	if r.program == nil {
		return nil, false
	}
	return r, true
}

// replaced returns a copy of a tree in which each path, length of a path and clause key
// that Explain records is replaced by a field.
func (r *Replay) replaced(n Node) Node {
	switch n := n.(type) {
	case *Literal:
		return &Literal{Span: n.Span, Value: n.Value}
	case *Path:
		return r.field(n, Print(n))
	case *Call:
		if _, ok := n.Args[0].(*Path); ok && n.Func == FuncLength {
			return r.field(n, Print(n))
		}
		return &Call{Span: n.Span, Func: n.Func, Args: r.replacedAll(n.Args)}
	case *Not:
		return &Not{Span: n.Span, X: r.replaced(n.X)}
	case *Logic:
		return &Logic{Span: n.Span, Op: n.Op, Terms: r.replacedAll(n.Terms)}
	case *Binary:
		return &Binary{Span: n.Span, Op: n.Op, At: n.At, X: r.replaced(n.X), Y: r.replaced(n.Y)}
	case *Clause:
		c := *n
		c.Paths = []*Path{r.field(n, n.Key)}
		return &c
	}
	return n
}

func (r *Replay) replacedAll(list []Node) []Node {
	out := make([]Node, len(list))
	for i, n := range list {
		out[i] = r.replaced(n)
	}
	return out
}

// field returns the field for a part of the expression that Explain records under key.
// Parts with the same key share a field.
func (r *Replay) field(n Node, key string) *Path {
	at := -1
	for i, k := range r.keys {
		if k == key {
			at = i
		}
	}
	if at < 0 {
		at = len(r.keys)
		r.keys = append(r.keys, key)
	}
	return &Path{Span: *n.span(), Root: RootState, Steps: []Step{{Name: "v" + strconv.Itoa(at)}}}
}

// maxNulls limits the number of nulls that Test tries both as null and as missing.
const maxNulls = 6

// Test evaluates the condition on values that Explain recorded and that were decoded
// from JSON. A null in them was either null or missing. known is false if that makes a
// difference or if a value is not recorded.
func (r *Replay) Test(values *value.Object) (result, known bool) {
	state := value.NewObject(len(r.keys))
	var nulls []string
	for i, key := range r.keys {
		v, ok := values.Get(key)
		if !ok {
			return false, false
		}
		name := "v" + strconv.Itoa(i)
		if v == nil || value.IsMissing(v) {
			nulls = append(nulls, name)
		}
		state.Set(name, v)
	}
	if len(nulls) > maxNulls {
		return false, false
	}
	for combination := range 1 << len(nulls) {
		for i, name := range nulls {
			var v any
			if combination>>i&1 == 1 {
				v = value.Missing
			}
			state.Set(name, v)
		}
		holds := r.program.Test(MapEnv{State: state}.Bind(r.program))
		if combination > 0 && holds != result {
			return false, false
		}
		result = holds
	}
	return result, true
}
