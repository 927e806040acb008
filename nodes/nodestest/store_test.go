package nodestest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// counter has an effect three times and records after each how often that was.
type counter struct{ effects *[]int64 }

func (c counter) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	from := int64(0)
	if p := in.Checkpointed(); p != nil {
		n, _ := p.Get("n")
		from = n.(int64)
	}
	for n := from + 1; n <= 3; n++ {
		if err := in.MayCommit(); err != nil {
			return core.Result{}, err
		}
		*c.effects = append(*c.effects, n)
		if err := in.Checkpoint(ctx, value.ObjectOf("n", n)); err != nil {
			return core.Result{}, err
		}
	}
	return core.Result{}, nil
}

// TestStore: of the three points in each of three rounds, a crash between the effect and the
// record repeats one effect, and the others repeat none.
func TestStore(t *testing.T) {
	for _, freeze := range []bool{false, true} {
		t.Run(fmt.Sprintf("freeze=%t", freeze), func(t *testing.T) {
			effects := map[*nodestest.Store]*[]int64{}
			lengths := map[int]int{}
			nodestest.EachCrash(t, func(*testing.T) *nodestest.Store {
				s := &nodestest.Store{Freeze: freeze}
				effects[s] = &[]int64{}
				return s
			}, func(t *testing.T, s *nodestest.Store) error {
				in := core.NewInput("r", "n", 1, core.Shared{Durability: s.Durability()})
				_, err := s.Handle(t, counter{effects[s]}, in)
				if err == nil {
					lengths[len(*effects[s])]++
				}
				return err
			})
			if lengths[3] != 7 || lengths[4] != 3 {
				t.Errorf("how many runs had how many effects: %v, want 7 with 3 and 3 with 4", lengths)
			}
		})
	}
}
