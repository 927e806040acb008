package wavefold

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/gotype"
	"github.com/wavefold/wavefold/internal/timelimit"
)

// Condition is the condition of an edge of a Walk. The zero Condition is not a condition.
type Condition struct {
	made  string // the function that made it, "" for the zero Condition
	pos   source.Position
	text  source.Text // of CondExpr and CondText
	cond  *core.Cond  // nil if text is the condition
	bound *boundFunc  // of CondFunc and CondOutput
	err   string
}

// boundFunc is the function of a condition. Its address tells functions apart.
type boundFunc struct{ call core.Predicate }

// CondExpr is a condition in the language of documents. In a walk by steps it is an
// expression, such as "$output.score >= 8 && $visits < 3". The roots are $output, $error,
// $tool_calls, $guards_failed and $visits of the visit that has ended, and the roots that
// every expression has. In a walk by outcomes it is a condition on the outcome and the
// context, such as "outcome=success && context.score > 8".
func CondExpr(text string) Condition {
	pos := here()
	return Condition{made: "CondExpr", pos: pos, text: source.At(text, pos)}
}

// CondText is a condition in plain language, such as "the draft answers the question". It
// is for walks by a model, which decides whether it holds.
func CondText(text string) Condition {
	pos := here()
	return Condition{made: "CondText", pos: pos, text: source.At(text, pos)}
}

// CondNamed is a condition that is registered with the engine under a name
// (Engine.AddCondition). A walk by steps is saved with the name.
func CondNamed(name string) Condition {
	c := Condition{made: "CondNamed", pos: here()}
	c.cond = &core.Cond{Ref: source.At(name, c.pos), Pos: c.pos}
	if name == "" {
		c.err = "the name is empty"
	}
	return c
}

// CondFunc is a condition that is a function of the result of the visit, for walks by
// steps. See core.Predicate for the rules: among others, a panic counts as false. A graph
// with such a condition can be saved only if the condition has a name; see Named.
func CondFunc(fn func(r *core.VisitResult) bool) Condition {
	return condFunc("CondFunc", fn == nil, fn)
}

// CondOutput is CondFunc for a function of the output of the visit. Without an output, such
// as after a visit that failed, the condition is false without a call. If the output is not
// a T, the condition is false and the event of the edge says why.
func CondOutput[T any](fn func(output T) bool) Condition {
	codec := gotype.New(reflect.TypeFor[T]())
	c := condFunc("CondOutput", fn == nil, func(r *core.VisitResult) bool {
		if r.Output == nil {
			return false
		}
		v, err := outputAs[T](codec, r)
		if err != nil {
			panic(err) // the driver records it as the answer of the condition
		}
		return fn(v)
	})
	if codec.Err != nil {
		c.err = codec.Err.Error()
	}
	return c
}

// OutputAs returns the output of a visit as a T, for functions of CondFunc and AfterVisit.
func OutputAs[T any](r *core.VisitResult) (T, error) {
	return outputAs[T](gotype.New(reflect.TypeFor[T]()), r)
}

func outputAs[T any](codec *gotype.Codec, r *core.VisitResult) (T, error) {
	if codec.Err != nil {
		var zero T
		return zero, codec.Err
	}
	v, err := gotype.As[T](codec, r.Output)
	if err != nil {
		return v, fmt.Errorf("the output of node %s: %w", r.Node, err)
	}
	return v, nil
}

// Named returns the condition with a name under which it is saved. An engine must have a
// condition of that name to load the document: Bind adds it, and so does AddCondition.
func (c Condition) Named(name string) Condition {
	switch {
	case c.bound == nil:
		c.err = "only CondFunc and CondOutput can be given a name"
	case name == "":
		c.err = "the name is empty"
	default:
		named := *c.cond
		named.Ref = source.At(name, here())
		c.cond = &named
	}
	return c
}

func condFunc(made string, isNil bool, fn core.Predicate) Condition {
	c := Condition{made: made, pos: here(), bound: &boundFunc{fn}}
	c.cond = &core.Cond{Func: fn, Pos: c.pos}
	if isNil {
		c.err = "the function is nil"
	}
	return c
}

func condKind(kind string) Condition {
	c := Condition{made: kind, pos: here()}
	c.cond = &core.Cond{Kind: source.At(kind, c.pos), Pos: c.pos}
	return c
}

// literal converts a value to compare with. The graph must not share it with the program.
func (c *Condition) literal(v any) any {
	canonical, err := timelimit.Canonical(v)
	if err != nil {
		c.err = err.Error()
	}
	return canonical
}

// isZero reports whether there is no condition.
func (c *Condition) isZero() bool { return c.made == "" }
