package expressions

import (
	"strconv"

	"github.com/wavefold/wavefold/core"
)

// Replay evaluates a condition again from what Explain told of it alone. It is safe for
// concurrent use.
type Replay struct {
	program *Program
	keys    []string // of what Explain tells, by slot
}

// Replay returns the replay of the condition; ok is false for one that this language
// cannot express.
func (p *Program) Replay() (r *Replay, ok bool) {
	tree, err := Parse(p.tree.String())
	if err != nil {
		return nil, false
	}
	r = &Replay{}
	if tree, err = NewTree(tree.src, r.replaced(tree.root)); err != nil {
		return nil, false
	}
	r.program, _ = CompileTree(tree, core.Text{Value: tree.src}, Scope{}, "")
	if r.program == nil {
		return nil, false
	}
	return r, true
}

// replaced puts a field in the place of each path, and of each length of one, that
// Explain tells. The nodes are the caller's.
func (r *Replay) replaced(n Node) Node {
	switch n := n.(type) {
	case *Path:
		return r.field(n)
	case *Call:
		if _, ok := n.Args[0].(*Path); ok && n.Func == FuncLength {
			return r.field(n)
		}
		for i := range n.Args {
			n.Args[i] = r.replaced(n.Args[i])
		}
	case *Not:
		n.X = r.replaced(n.X)
	case *Logic:
		for i := range n.Terms {
			n.Terms[i] = r.replaced(n.Terms[i])
		}
	case *Binary:
		n.X, n.Y = r.replaced(n.X), r.replaced(n.Y)
	}
	return n
}

// field is the field that stands for a part of the text; parts that print the same are
// the same.
func (r *Replay) field(n Node) Node {
	key := Print(n)
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

// maxNulls is how many nulls are tried both ways.
const maxNulls = 6

// Test reports what the condition says on the values, which are those of Explain after
// they were read from JSON. There a null is either null or a value that was missing.
// known is false if that makes a difference, or if a value is not there at all.
func (r *Replay) Test(values *core.Object) (result, known bool) {
	state := core.NewObject(len(r.keys))
	var nulls []string
	for i, key := range r.keys {
		v, ok := values.Get(key)
		if !ok {
			return false, false
		}
		name := "v" + strconv.Itoa(i)
		if v == nil || core.IsMissing(v) {
			nulls = append(nulls, name)
		}
		state.Set(name, v)
	}
	if len(nulls) > maxNulls {
		return false, false
	}
	for way := range 1 << len(nulls) {
		for i, name := range nulls {
			var v any
			if way>>i&1 == 1 {
				v = core.Missing
			}
			state.Set(name, v)
		}
		held := r.program.Test(MapEnv{State: state}.Bind(r.program))
		if way > 0 && held != result {
			return false, false
		}
		result = held
	}
	return result, true
}
