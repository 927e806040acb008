package wavefold_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// blockingValue is a value whose MarshalJSON blocks until release is closed.
type blockingValue struct{ release chan struct{} }

func (s blockingValue) MarshalJSON() ([]byte, error) {
	<-s.release
	return []byte("1"), nil
}

// A MarshalJSON that never returned blocked Compile forever. The finding names the
// field, or the argument, and the type.
func TestCompileWithBlockingMarshalJSON(t *testing.T) {
	nothing := func(context.Context) error { return nil }
	untyped := func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }
	for want, graph := range map[string]func(v blockingValue) *wavefold.Graph{
		`state field "x": default: reading a value of type wavefold_test.blockingValue has not returned within 10s`: func(v blockingValue) *wavefold.Graph {
			x := wavefold.NewField[blockingValue]("x", wavefold.Default(v))
			return wavefold.New("g", wavefold.Declare(x), wavefold.Do("a", nothing))
		},
		`state field "y": default: reading a value of type []interface {} has not returned within 10s`: func(v blockingValue) *wavefold.Graph {
			y := wavefold.NewField[any]("y", wavefold.Default([]any{1, v}))
			return wavefold.New("g", wavefold.Declare(y), wavefold.Do("a", nothing))
		},
		`node a: args: "k": writing a value of type wavefold_test.blockingValue as JSON has not returned within 10s`: func(v blockingValue) *wavefold.Graph {
			return wavefold.New("g", wavefold.Func("a", nil, nil, untyped, wavefold.Args(map[string]any{"k": v})))
		},
		`node a: config: "run": writing a value of type wavefold_test.blockingValue as JSON has not returned within 10s`: func(v blockingValue) *wavefold.Graph {
			return wavefold.New("g", wavefold.Node("a", "command", map[string]any{"run": v}))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := blockingValue{make(chan struct{})}
			err := graph(v).Compile()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			close(v.release)
		})
	}
}
