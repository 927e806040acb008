package expressions

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// FuzzRoundTrip looks for expressions that crash the parser or change when they are
// printed and parsed again.
func FuzzRoundTrip(f *testing.F) {
	for _, c := range corpus(f) {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := Parse(text)
		if err != nil {
			e, ok := err.(*SyntaxError)
			if !ok || e.Offset < 0 || e.Offset > len(text) || e.Message == "" || e.Code == "" {
				t.Fatalf("%q: a malformed error: %#v", text, err)
			}
			return
		}
		checkRoundTrip(t, tree)
		checkSpans(t, tree, tree.Root(), 0, len(text))
	})
}

// FuzzEval looks for expressions and states for which the compiled form and a tree walk
// give different results.
func FuzzEval(f *testing.F) {
	for _, c := range corpus(f) {
		state := []byte("{}")
		if c.env.State != nil {
			state = []byte(value.JSON(c.env.State))
		}
		f.Add(c.text, state)
	}
	f.Fuzz(func(t *testing.T, text string, state []byte) {
		v, err := value.ParseJSON(state)
		if err != nil {
			return
		}
		env := MapEnv{Item: v, Index: int64(1)}
		env.State, _ = v.(*value.Object)
		tree, err := Parse(text)
		if err != nil {
			return
		}
		p, _ := CompileTree(tree, source.Text{Value: text}, Scope{}, "")
		if p == nil {
			return // an invalid pattern
		}
		checkEval(t, p, env)
		checkEval(t, p, goEnv())
		values := p.Explain(env.Bind(p))
		if r, ok := p.Replay(); ok {
			if got, known := r.Test(overJSON(t, values)); known && got != p.Test(env.Bind(p)) {
				t.Fatalf("%q on %s: replayed as %t", text, value.JSON(values), got)
			}
		}
		p.ConstantFindings()
	})
}
