package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// slowDisk is a store that takes five milliseconds to flush.
type slowDisk struct{ store.Store }

func (s slowDisk) Append(ctx context.Context, run string, token uint32, list []store.Record, flush bool) error {
	if flush {
		time.Sleep(5 * time.Millisecond)
	}
	return s.Store.Append(ctx, run, token, list, flush)
}

// patient is a kind whose nodes ask a model and wait for a second.
type patient struct{}

func (patient) Name() string   { return "patient" }
func (patient) Keys() []string { return nil }
func (patient) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Models: true, Handler: core.HandlerFunc(func(ctx context.Context, _ core.Input) (core.Result, error) {
		time.Sleep(2 * time.Millisecond) // the records of the node before are being flushed
		err := core.MeterOf(ctx).Ask(core.ModelCall{Purpose: "run", Turn: 1})
		time.Sleep(time.Second)
		return core.Result{}, err
	})}, nil
}

// TestHeldEventIsReleased: an event that waits behind the flush for a node with effects is delivered
// although no later record requests a flush, and so are the commands after it.
func TestHeldEventIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := func(d time.Duration) core.HandlerFunc {
			return func(context.Context, core.Input) (core.Result, error) { time.Sleep(d); return core.Result{}, nil }
		}
		w := graph(map[string]core.HandlerFunc{
			"before": after(time.Millisecond), "effects": after(time.Second), "short": after(20 * time.Millisecond), "next": after(0),
		}, []string{"before", "effects", "short", "next"}, [2]string{"before", "effects"}, [2]string{"short", "next"})
		effects := true
		w.Nodes[1].Effects = &effects
		w.Nodes = append(w.Nodes, &core.Node{ID: text("model"), Kind: text("patient")})
		p, ds := plan.Compile(w, core.NewRegistry(patient{}), plan.Options{})
		if p == nil {
			t.Fatal(ds)
		}
		started := map[string]time.Duration{}
		begin := time.Now()
		listener := func(e core.Event) {
			if e.Type == core.NodeStarted || e.Type == core.ModelAsked {
				started[string(e.Type)+" "+e.Node] = time.Since(begin)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := scheduler.Run(ctx, p, nil, scheduler.Options{Run: "r", Concurrency: 5, Listener: listener,
			Recording: &scheduler.Recording{Store: slowDisk{memory.New(nil)}, Durability: core.DurabilityBatch}})
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"model.asked model", "node.started next"} {
			if at, ok := started[what]; !ok || at > 100*time.Millisecond {
				t.Errorf("%s: after %s (seen: %t)", what, at, ok)
			}
		}
	})
}
