package schedulertest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Recorder keeps what each execution of a run was given. It is safe for
// concurrent use; one Recorder belongs to one run.
type Recorder struct {
	// Timing seeds how long executions take; 0 lets them take no time.
	Timing uint64

	mu    sync.Mutex
	seen  map[Execution]string
	twice []Execution
}

// Execution names one call of a handler. Item is -1 outside of fan-outs and
// pipelines.
type Execution struct {
	Node                 string
	Item, Round, Attempt int
}

// String prints the execution as node[item]#round/attempt.
func (e Execution) String() string {
	return fmt.Sprintf("%s[%d]#%d/%d", e.Node, e.Item, e.Round, e.Attempt)
}

func (r *Recorder) add(node string, in core.Input, seen string) {
	e := Execution{Node: node, Item: in.Index(), Round: in.Round, Attempt: in.Attempt}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[Execution]string{}
	}
	if _, ok := r.seen[e]; ok {
		r.twice = append(r.twice, e)
	}
	r.seen[e] = seen
}

func (r *Recorder) sleep(ctx context.Context, node string, in core.Input) error {
	if r.Timing == 0 {
		return nil
	}
	d := wait(r.Timing, node, in)
	if d == 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
