package wavefold_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// stuck is a value whose MarshalJSON blocks until release is closed.
type stuck struct{ release chan struct{} }

func (s stuck) MarshalJSON() ([]byte, error) {
	<-s.release
	return []byte("1"), nil
}

// A MarshalJSON that never returned blocked Compile forever. The finding names the
// field, or the argument, and the type.
func TestCompileWithAMethodThatNeverReturns(t *testing.T) {
	nothing := func(context.Context) error { return nil }
	untyped := func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }
	for want, graph := range map[string]func(v stuck) *wavefold.Graph{
		`state field "x": default: reading a value of type wavefold_test.stuck has not returned within 10s`: func(v stuck) *wavefold.Graph {
			x := wavefold.NewField[stuck]("x", wavefold.Default(v))
			return wavefold.New("g", wavefold.Declare(x), wavefold.Do("a", nothing))
		},
		`state field "y": default: reading a value of type []interface {} has not returned within 10s`: func(v stuck) *wavefold.Graph {
			y := wavefold.NewField[any]("y", wavefold.Default([]any{1, v}))
			return wavefold.New("g", wavefold.Declare(y), wavefold.Do("a", nothing))
		},
		`node a: args: "k": writing a value of type wavefold_test.stuck as JSON has not returned within 10s`: func(v stuck) *wavefold.Graph {
			return wavefold.New("g", wavefold.Func("a", nil, nil, untyped, wavefold.Args(map[string]any{"k": v})))
		},
		`node a: config: "run": writing a value of type wavefold_test.stuck as JSON has not returned within 10s`: func(v stuck) *wavefold.Graph {
			return wavefold.New("g", wavefold.Node("a", "command", map[string]any{"run": v}))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := stuck{make(chan struct{})}
			err := graph(v).Compile()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			close(v.release)
		})
	}
}
