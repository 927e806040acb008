package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file"
)

// onHost is a store as processes on a host see it.
type onHost struct {
	*file.Store
	host string
}

func (s onHost) Acquire(ctx context.Context, run string, h store.Holder, ttl time.Duration) (store.Lease, error) {
	h.Host = s.host
	return s.Store.Acquire(ctx, run, h, ttl)
}

func openOn(t *testing.T, dir, host string) onHost {
	t.Helper()
	s, err := file.Open(dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return onHost{s, host}
}

// twoNodes returns the plan of a node a and a node b after it.
func twoNodes(t *testing.T, a, b core.HandlerFunc) *plan.Plan {
	t.Helper()
	w := &core.Workflow{Name: text("two"), Nodes: []*core.Node{
		{ID: text("a"), Kind: text("fn"), Handler: a}, {ID: text("b"), Kind: text("fn"), Handler: b},
	}, Edges: []*core.Edge{{From: text("a"), To: text("b")}}}
	p, ds := plan.Compile(w, core.NewRegistry(), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func does(f func(ctx context.Context)) core.HandlerFunc {
	return func(ctx context.Context, _ core.Input) (core.Result, error) {
		f(ctx)
		return core.Result{}, ctx.Err()
	}
}

// TestTwoResumers lets two processes resume an interrupted run at the same time, on one host and on
// two. Exactly one executes it, and the other gets the error that the run is held.
func TestTwoResumers(t *testing.T) {
	if err := compressOnce(); err != nil {
		t.Fatal(err)
	}
	crashed := t.TempDir()
	first := openOn(t, crashed, "one")
	p := twoNodes(t, does(func(context.Context) {}), does(func(context.Context) { first.Close() })) // its answer is lost
	_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: first, Durability: core.DurabilityFull}})
	if _, ok := errors.AsType[*core.StoreError](err); !ok {
		t.Fatalf("the run has not lost its store: %v", err)
	}
	won := map[int]int{}
	for round := range 100 {
		hosts := [2]string{"one", []string{"one", "two"}[round%2]}
		dir := filepath.Join(t.TempDir(), "store")
		if err := os.CopyFS(dir, os.DirFS(crashed)); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { won[twoResumers(t, dir, hosts)]++ })
		if t.Failed() {
			t.Fatalf("round %d, hosts %v", round, hosts)
		}
	}
	t.Logf("the first of two has won %d times, the second %d times", won[0], won[1])
}

// twoResumers resumes a run twice at the same time, and returns which one has executed it.
func twoResumers(t *testing.T, dir string, hosts [2]string) (winner int) {
	var group sync.WaitGroup
	lost := make(chan struct{}, 2) // those who got an error
	var executed [2]int
	var errs [2]error
	for i, host := range hosts {
		s := openOn(t, dir, host)
		defer s.Close()
		p := twoNodes(t, does(func(context.Context) { t.Errorf("process %d runs node a again", i) }), does(func(ctx context.Context) {
			executed[i]++
			select {
			case <-lost: // the other one has tried to take the run while this one has it
			case <-time.After(time.Minute):
			}
		}))
		group.Go(func() {
			if errs[i] = resumeOnce(s, p); errs[i] != nil {
				lost <- struct{}{}
			}
		})
	}
	group.Wait()
	if executed[1] > 0 {
		winner = 1
	}
	loser := errs[1-winner]
	if _, held := errors.AsType[*store.HeldError](loser); executed[winner] != 1 || executed[1-winner] != 0 || errs[winner] != nil || !held {
		t.Errorf("node b ran %v times, errors %v and %v", executed, errs[0], errs[1])
	}
	return winner
}

func resumeOnce(s store.Store, p *plan.Plan) error {
	st, err := scheduler.OpenStored(context.Background(), s, "r")
	if err != nil {
		return err
	}
	report, err := scheduler.Resume(context.Background(), st, p, scheduler.Options{})
	if err == nil && report.Status != core.RunSuccess {
		err = fmt.Errorf("the run ended with %s", report.Status)
	}
	return err
}
