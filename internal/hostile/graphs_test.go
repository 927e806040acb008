package hostile

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/source"
)

// New never fails, whatever its arguments: errors are reported when the graph is compiled,
// and nothing runs.
func TestHostileParts(t *testing.T) {
	n, l := wavefold.NewField[int]("n", nil), wavefold.NewField[[]int]("l")
	out := wavefold.NewField[[]int]("out", wavefold.Append)
	calls := 0
	one := func(context.Context) (int, error) { calls++; return 1, nil }
	same := func(_ context.Context, x int) (int, error) { calls++; return x, nil }
	var zero wavefold.Field[int]
	var zeros wavefold.Field[[]int]
	cases := map[string]struct {
		parts []wavefold.Part
		want  string
	}{
		"nothing":               {nil, "the graph has no nodes [MISSING_KEY]"},
		"nil":                   {[]wavefold.Part{nil}, "the graph has no nodes"},
		"field of nobody":       {[]wavefold.Part{wavefold.Map("s", zero, zero, same)}, "node s: a field was not made by NewField or NewStream [UNKNOWN_FIELD]"},
		"list of nobody":        {[]wavefold.Part{wavefold.Each("s", zeros, zeros, same)}, "node s: a field was not made by NewField"},
		"nil fields":            {[]wavefold.Part{wavefold.Func("s", wavefold.Fields(nil, zero), []wavefold.AnyField{nil}, nop)}, "node s: a field was not made by NewField"},
		"nil read":              {[]wavefold.Part{wavefold.Node("s", "tool", nil, wavefold.Reads(nil), wavefold.Writes(nil))}, "node s: a field was not made by NewField"},
		"nil crossing":          {[]wavefold.Part{wavefold.Sub("s", wavefold.New("x", wavefold.Source("a", n, one)), wavefold.In(zero, zero), wavefold.Out(n, zero))}, "a field was not made by NewField"},
		"no function":           {[]wavefold.Part{wavefold.Source[int]("s", n, nil)}, "node s: Source has no function [MISSING_KEY]"},
		"no handler":            {[]wavefold.Part{wavefold.Func("s", nil, nil, nil)}, "node s: Func has no function"},
		"no graph":              {[]wavefold.Part{wavefold.Sub("s", nil)}, "node s: Sub has no graph"},
		"no stages":             {[]wavefold.Part{wavefold.Pipeline("p", l, wavefold.Stages[int, int]{}.Into(out))}, "pipeline p: stages is empty"},
		"into nobody":           {[]wavefold.Part{wavefold.Pipeline("p", l, wavefold.Stage("s", same).Into(zeros))}, "a field was not made by NewField"},
		"rows of nobody":        {[]wavefold.Part{wavefold.Pipeline("p", zeros, wavefold.Stage("s", same))}, "a field was not made by NewField"},
		"no body":               {[]wavefold.Part{wavefold.Loop("l", nil), wavefold.Source("s", n, one)}, "loop l: body is empty"},
		"a loop in a loop":      {[]wavefold.Part{wavefold.Loop("l", wavefold.Body{wavefold.Loop("m", wavefold.Body{wavefold.Source("a", n, one)})})}, "Loop l: its parts must be nodes"},
		"no reducer":            {[]wavefold.Part{wavefold.Source("s", wavefold.NewField[int]("r", wavefold.Reduce[int](nil)), one)}, `state field "r": Reduce has no function`},
		"reducer of another":    {[]wavefold.Part{wavefold.Source("s", wavefold.NewField[int]("r", wavefold.Reduce(func(a, b string) (string, error) { return a, nil })), one)}, "the reducer folds string, but the field holds int"},
		"default in itself":     {[]wavefold.Part{wavefold.Source("s", n, one), wavefold.Declare(wavefold.NewField[[]any]("z", wavefold.Default(listInItself())))}, "does it hold itself?"},
		"arguments of no form":  {[]wavefold.Part{wavefold.Func("s", nil, nil, nop, wavefold.Args(map[string]any{"z": holdsItself()}))}, "does it hold itself?"},
		"doubled":               {[]wavefold.Part{wavefold.Source("s", n, one), wavefold.Source("s", n, one)}, `node "s" is defined twice (first at `},
		"odd ids":               {[]wavefold.Part{wavefold.Source("", n, one), wavefold.Source("a b", n, one), wavefold.Source("a\x00", n, one)}, `node "a\x00": a name is letters`},
		"behind itself":         {[]wavefold.Part{wavefold.Source("s", n, one, wavefold.After("s"))}, "edge s -> s: leads from a node to itself"},
		"behind nobody":         {[]wavefold.Part{wavefold.Source("s", n, one, wavefold.After("", "x"))}, `unknown node "x"`},
		"a circle":              {[]wavefold.Part{wavefold.Source("a", n, one, wavefold.After("b")), wavefold.Source("b", n, one, wavefold.After("a"))}, "the graph has a cycle: a -> b -> a"},
		"limits of nothing":     {[]wavefold.Part{wavefold.Each("a", l, out, same, wavefold.Limit(0), wavefold.MaxFailures(-1))}, "for_each.concurrency: want a whole number of at least 1, got 0"},
		"attempts without end":  {[]wavefold.Part{wavefold.Source("a", n, one, wavefold.Retry(math.MaxInt, wavefold.Backoff{Base: -1}))}, "on_error.attempts: want 1 to 20"},
		"no time":               {[]wavefold.Part{wavefold.Source("a", n, one, wavefold.Timeout(-1))}, "timeout: want more than 0, got -1ns"},
		"words of nobody":       {[]wavefold.Part{wavefold.Source("a", n, one), wavefold.Source("b", n, one, nil, wavefold.After("a"), wavefold.On("zzz"))}, "zzz"},
		"two kinds of a field":  {[]wavefold.Part{wavefold.Source("a", n, one), wavefold.Source("b", wavefold.NewField[string]("n"), func(context.Context) (string, error) { return "", nil })}, `state field "n" is declared twice and not alike`},
		"a channel":             {[]wavefold.Part{wavefold.Source("a", wavefold.NewField[chan int]("c"), func(context.Context) (chan int, error) { return nil, nil })}, `state field "c": chan int has no JSON form`},
		"an interface":          {[]wavefold.Part{wavefold.Source("a", wavefold.NewField[error]("c"), func(context.Context) (error, error) { return nil, nil })}, `state field "c": error is an interface`},
		"another of the name x": {[]wavefold.Part{wavefold.Sub("a", wavefold.New("x", wavefold.Source("a", n, one))), wavefold.Sub("b", wavefold.New("x", wavefold.Source("a", n, one)))}, `another sub-workflow is named "x" too`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := wavefold.New("g", c.parts...)
			r, err := g.Run(t.Context())
			if _, ok := source.AsDiagnostics(err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if r == nil || r.State.Len() != 0 || calls != 0 {
				t.Errorf("something ran: %v, %d calls", r, calls)
			}
		})
	}
	if zero.Name() != "" || zero.Get(nil) != 0 {
		t.Error("a field that nobody made has a name or value")
	}
}
