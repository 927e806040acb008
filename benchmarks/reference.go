package benchmarks

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// record is the data that the reference keeps for a node.
type record struct {
	started, ended time.Duration
	err            error
	ok             bool
}

// Reference is a dependency-counting scheduler written only for the measurement. For each
// node it checks for cancellation, recovers, reads the clock twice and keeps a record; it
// does nothing else that an engine does. The worker that completes a node continues with
// its first ready successor; the others are added to a shared list from which workers claim
// nodes.
type Reference struct {
	shape   *Shape
	work    func(int32) error
	limit   int32
	pending []int32
	list    []int32
	records []record
	mu      sync.Mutex
	head    atomic.Int32
	tail    atomic.Int32
	active  atomic.Int32
	coming  atomic.Bool
	wg      sync.WaitGroup
	begin   time.Time
	ctx     context.Context
}

// NewReference prepares a graph once for many runs.
func NewReference(s *Shape, limit int, work func(int32) error) *Reference {
	return &Reference{shape: s, work: work, limit: int32(limit), pending: make([]int32, s.Len()), list: make([]int32, s.Len()), records: make([]record, s.Len())}
}

// Run runs every node once.
func (r *Reference) Run(ctx context.Context) {
	copy(r.pending, r.shape.Indegree)
	r.head.Store(0)
	r.tail.Store(0)
	r.active.Store(1)
	r.begin, r.ctx = time.Now(), ctx
	r.worker(0)
	r.wg.Wait()
}

func (r *Reference) worker(node int32) {
	for {
		if node < 0 {
			if node = r.claim(); node < 0 {
				r.active.Add(-1)
				if r.head.Load() < r.tail.Load() && r.active.Add(1) <= r.limit {
					continue // a node was added after the failed claim
				}
				return
			}
		}
		r.help()
		r.one(node)
		node = r.release(node)
	}
}

func (r *Reference) claim() int32 {
	for h := r.head.Load(); h < r.tail.Load(); h = r.head.Load() {
		node := r.list[h]
		if r.head.CompareAndSwap(h, h+1) {
			return node
		}
	}
	return -1
}

// help starts one more worker if there are unclaimed nodes and no other worker is starting.
func (r *Reference) help() {
	if r.head.Load() >= r.tail.Load() || r.active.Load() >= r.limit || !r.coming.CompareAndSwap(false, true) {
		return
	}
	r.active.Add(1)
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		r.coming.Store(false)
		r.worker(-1)
	}()
}

func (r *Reference) one(node int32) {
	rec := &r.records[node]
	if r.ctx.Err() != nil {
		return
	}
	rec.started = time.Since(r.begin)
	rec.err = r.guarded(node)
	rec.ended = time.Since(r.begin)
	rec.ok = rec.err == nil
}

func (r *Reference) guarded(node int32) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return r.work(node)
}

// release decrements the counters of the successors and returns the ready successor to
// continue with.
func (r *Reference) release(node int32) int32 {
	next := int32(-1)
	for _, s := range r.shape.Succ[node] {
		if atomic.AddInt32(&r.pending[s], -1) > 0 {
			continue
		}
		if next < 0 {
			next = s
			continue
		}
		r.mu.Lock()
		t := r.tail.Load()
		r.list[t] = s
		r.tail.Store(t + 1)
		r.mu.Unlock()
	}
	return next
}

// Waves runs a graph level by level with one errgroup per level. It is the simplest
// possible scheduler and has a barrier after each level.
func Waves(ctx context.Context, levels [][]int32, limit int, work func(int32) error) error {
	for _, level := range levels {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(limit)
		for _, node := range level {
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return work(node)
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// Levels returns the nodes of a shape by the length of the longest path from the root.
func (s *Shape) Levels() [][]int32 {
	pending := append([]int32(nil), s.Indegree...)
	level := make([]int, s.Len())
	queue := []int32{0}
	var out [][]int32
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for len(out) <= level[n] {
			out = append(out, nil)
		}
		out[level[n]] = append(out[level[n]], n)
		for _, t := range s.Succ[n] {
			level[t] = max(level[t], level[n]+1)
			if pending[t]--; pending[t] == 0 {
				queue = append(queue, t)
			}
		}
	}
	return out
}
