package conformance

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// recorder records every execution of a run: its inputs, its start, and the number of
// concurrent executions.
type recorder struct {
	variant variant
	begin   time.Time
	// cancel cancels the caller's context.
	cancel context.CancelFunc

	mu     sync.Mutex
	list   []execution
	active map[string]int
	peak   map[string]int
}

// execution is one attempt, as its handler saw it.
type execution struct {
	key   string // node, #item, @round, !attempt from the second on
	start time.Duration
	input handlerInput
}

// handlerInput holds the inputs of a handler.
type handlerInput struct {
	State map[string]any `json:"state"`
	Args  map[string]any `json:"args"`
	Edges map[string]any `json:"edges"`
	Item  any            `json:"item"`
	Index int            `json:"index"`
	Loop  string         `json:"loop"`
}

type recorderKey struct{}

func recorderOf(ctx context.Context) *recorder { return ctx.Value(recorderKey{}).(*recorder) }

func newRecorder(how variant) *recorder {
	return &recorder{variant: how, begin: time.Now(), active: map[string]int{}, peak: map[string]int{}}
}

// enter records the beginning of an execution and waits for its duration.
func (r *recorder) enter(in core.Input) (leave func()) {
	x := execution{key: keyOf(in), start: time.Since(r.begin), input: handlerInput{State: in.State(), Args: in.Args(), Edges: in.EdgeInputs(), Index: in.Index(), Loop: in.Loop()}}
	if item, ok := in.Item(); ok {
		x.input.Item = value.Plain(item)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, x)
	for _, who := range []string{in.Node(), "total"} {
		r.active[who]++
		r.peak[who] = max(r.peak[who], r.active[who])
	}
	return func() {
		time.Sleep(r.duration(x.key))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.active[in.Node()]--
		r.active["total"]--
	}
}

// duration returns the duration of an execution: 10 ms without a seed, or a value derived
// from the seed and the key, which shuffles the order in which executions end. It is zero
// in unobserved variants.
func (r *recorder) duration(key string) time.Duration {
	switch {
	case r.variant.unobserved:
		return 0
	case r.variant.seed == 0:
		return 10 * time.Millisecond
	}
	h := fnv.New32a()
	fmt.Fprint(h, r.variant.seed, key)
	return time.Duration(h.Sum32()%50) * time.Millisecond
}

func keyOf(in core.Input) string {
	s := in.Node()
	if i := in.Index(); i >= 0 {
		s += fmt.Sprint("#", i)
	}
	if in.Loop() != "" {
		s += fmt.Sprint("@", in.Round())
	}
	if in.Attempt() > 1 {
		s += fmt.Sprint("!", in.Attempt())
	}
	return s
}

// trace returns the executions in the order in which they started.
func (r *recorder) trace() []string {
	out := []string{}
	for _, x := range r.list {
		out = append(out, x.key)
	}
	return out
}

// starts returns the start of each execution in milliseconds.
func (r *recorder) starts() map[string]int64 {
	out := map[string]int64{}
	for _, x := range r.list {
		out[x.key] = x.start.Milliseconds()
	}
	return out
}

// sorted returns the executions sorted by key.
func (r *recorder) sorted() []execution {
	out := slices.Clone(r.list)
	slices.SortStableFunc(out, func(a, b execution) int { return cmp.Compare(a.key, b.key) })
	return out
}
