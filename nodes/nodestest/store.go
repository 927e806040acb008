package nodestest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// ErrCrashed is the error of a handler that was called in a process that has crashed.
var ErrCrashed = errors.New("the process has crashed")

// Store is the store of a run for tests of handlers. It keeps the last checkpoint of each
// idempotency key, and simulates crashes. The zero Store is ready to use. It is safe for
// concurrent use, apart from its fields.
//
// A crash can occur at each call of Input.MayCommit, and at each call of Input.Checkpoint
// before and after the position is recorded. EachCrash tests all of them.
type Store struct {
	// Folder is Durability.Folder.
	Folder string
	// Freeze makes a handler stop at a crash until the test has ended, so that it cleans up
	// nothing, as if the process had been killed. Otherwise it gets an error, which is
	// necessary if it holds locks that the end of a process releases.
	Freeze bool

	mu       sync.Mutex
	recorded map[string]*value.Object
	restored map[string]*value.Object // what the process found when it started
	starts   int
	points   int            // number of points that the process has reached
	crashAt  int            // 0 for no crash
	crashed  chan struct{}  // closed at the crash
	thaw     chan struct{}  // closed at the end of the test; nil unless handlers freeze
	frozen   sync.WaitGroup // of the handlers that have not returned
}

// EachCrash calls run with a new store for each point at which the handlers that run calls
// can crash, until they reach the end without a crash. first is true until the crash. run
// calls the handlers by Store.Handle, checks the result if err is nil, and is called again
// with the same store in another process after a crash.
func EachCrash(t *testing.T, newStore func(t *testing.T) *Store, run func(t *testing.T, s *Store) error) {
	t.Helper()
	for n := 1; ; n++ {
		s := newStore(t)
		s.Start(n)
		err := run(t, s)
		if err == nil {
			if n == 1 {
				t.Error("the handler has no point at which it can crash")
			}
			return
		}
		if !errors.Is(err, ErrCrashed) {
			t.Fatalf("crash %d: got error %v, want ErrCrashed", n, err)
		}
		s.Start(0)
		if err := run(t, s); err != nil {
			t.Fatalf("after crash %d: %v", n, err)
		}
	}
}

// Start starts another process, which finds what was recorded, and crashes at the n-th
// point that it reaches; 0 means that it does not crash.
func (s *Store) Start(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.points, s.crashAt, s.crashed = 0, n, make(chan struct{})
	s.starts++
	s.restored = maps.Clone(s.recorded)
}

// Handle calls a handler in the process. It returns ErrCrashed at the crash.
func (s *Store) Handle(t *testing.T, h core.Handler, in core.Input) (core.Result, error) {
	t.Helper()
	s.mu.Lock()
	crashed := s.crashed
	if s.Freeze && s.thaw == nil {
		s.thaw = make(chan struct{})
		t.Cleanup(func() { // a handler that is still active may remove files of the test
			close(s.thaw)
			s.frozen.Wait()
		})
	}
	s.mu.Unlock()
	type answer struct {
		r   core.Result
		err error
	}
	answered := make(chan answer, 1)
	s.frozen.Go(func() {
		r, err := h.Handle(t.Context(), in)
		answered <- answer{r, err}
	})
	if !s.Freeze {
		crashed = nil
	}
	select {
	case <-crashed:
		return core.Result{}, ErrCrashed
	case a := <-answered:
		return a.r, a.err
	}
}

// Last returns the last recorded checkpoint of a key, or nil.
func (s *Store) Last(key string) *value.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recorded[key]
}

// Durability returns what an input of the process has in core.Shared.
func (s *Store) Durability() *core.Durability {
	s.mu.Lock()
	restored, crashed, resumed := s.restored, s.crashed, s.starts > 1
	s.mu.Unlock()
	point := func() error { return s.point(crashed) }
	return &core.Durability{
		Folder:  s.Folder,
		Resumed: resumed,
		Owned:   point,
		Checkpoint: func(ctx context.Context, in core.Input, position *value.Object) error {
			if err := point(); err != nil {
				return err
			}
			if err := s.record(ctx, in.IdempotencyKey(), position); err != nil {
				return err
			}
			return point()
		},
		Checkpointed: func(in core.Input) *value.Object { return restored[in.IdempotencyKey()] },
	}
}

// point is called at each point of a process at which it can crash.
func (s *Store) point(process chan struct{}) error {
	s.mu.Lock()
	if process != s.crashed { // of an earlier process
		s.mu.Unlock()
		return ErrCrashed
	}
	if s.points++; s.crashAt == 0 || s.points < s.crashAt {
		s.mu.Unlock()
		return nil
	}
	if s.points == s.crashAt && process != nil {
		close(process)
	}
	thaw := s.thaw
	s.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
	return ErrCrashed
}

// record keeps a position in the form that it has after it was read from a journal.
func (s *Store) record(ctx context.Context, key string, position *value.Object) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := value.AppendJSON(nil, position)
	if err != nil {
		return err
	}
	parsed, err := value.ParseJSON(text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recorded == nil {
		s.recorded = map[string]*value.Object{}
	}
	s.recorded[key] = parsed.(*value.Object)
	return nil
}
