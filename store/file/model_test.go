package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
	"github.com/wavefold/wavefold/store/storetest"
)

// TestSameAsMemory: whatever three hosts do to a folder, each through a separate store, they see the same as
// in one store in memory.
func TestSameAsMemory(t *testing.T) {
	dirs := memoryDir(t)
	tries := 0
	rapid.Check(t, func(t *rapid.T) {
		tries++
		m := &model{T: t, clock: newClock(), tokens: map[string]uint32{}}
		m.memory = memory.New(m.clock.Now)
		for range 3 {
			s, err := Open(filepath.Join(dirs, fmt.Sprint(tries)), Options{Now: m.clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			m.files = append(m.files, s)
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": func(t *rapid.T) { m.acquire(time.Minute) },
			"release": func(t *rapid.T) { m.acquire(0) },
			"append":  func(t *rapid.T) { m.append() },
			"extend":  func(t *rapid.T) { m.append() }, // twice as often
			"post":    func(t *rapid.T) { m.post() },
			"wait":    func(t *rapid.T) { m.clock.advance(25 * time.Second) },
			"prune":   func(t *rapid.T) { m.prune() },
			"":        func(t *rapid.T) { m.compare() },
		})
	})
}

type model struct {
	*rapid.T
	clock  *clock
	memory *memory.Store
	files  []*Store
	tokens map[string]uint32 // the last token of each host and run
}

var modelRuns = []string{"r1", "r2"}

func (m *model) pick() (run string, host int) {
	return rapid.SampledFrom(modelRuns).Draw(m.T, "run"), rapid.IntRange(0, 2).Draw(m.T, "host")
}

// same compares the outcomes of both stores.
func (m *model) same(what string, file, memory error) {
	if class(file) != class(memory) {
		m.Fatalf("%s: %v; in memory: %v", what, file, memory)
	}
}

func class(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, new(*store.HeldError)):
		return "held"
	case errors.As(err, new(*store.FencedError)):
		return "fenced"
	case errors.Is(err, store.ErrExists):
		return "exists"
	case errors.Is(err, store.ErrTaken):
		return "taken"
	case errors.Is(err, store.ErrNotFound):
		return "not found"
	default:
		return "other"
	}
}

func (m *model) acquire(ttl time.Duration) {
	run, host := m.pick()
	h := store.Holder{ID: fmt.Sprint(host), Host: fmt.Sprint("host-", host)}
	a, aerr := m.files[host].Acquire(m.Context(), run, h, ttl)
	b, berr := m.memory.Acquire(m.Context(), run, h, ttl)
	m.same("acquire", aerr, berr)
	if aerr == nil && ttl > 0 && (a.Token != b.Token || !a.Expires.Equal(b.Expires) || !a.Since.Equal(b.Since)) {
		m.Fatalf("acquired %+v; in memory %+v", a, b)
	}
	if aerr == nil && ttl > 0 {
		m.tokens[fmt.Sprint(run, host)] = a.Token
	}
}

func (m *model) append() {
	run, host := m.pick()
	token := m.tokens[fmt.Sprint(run, host)]
	next := uint64(1)
	for rec, err := range m.memory.Read(m.Context(), run, 1) {
		if err == nil {
			next = rec.Seq + 1
		}
	}
	if rapid.IntRange(0, 9).Draw(m.T, "gap") == 0 {
		next++
	}
	recs := storetest.Records(next, rapid.IntRange(0, 3).Draw(m.T, "records"))
	if next == 1 {
		recs = append([]store.Record{storetest.Head("load", m.clock.Now())}, storetest.Records(2, len(recs))...)
	}
	flush := rapid.Bool().Draw(m.T, "flush")
	aerr := m.files[host].Append(m.Context(), run, token, recs, flush)
	m.same("append", aerr, m.memory.Append(m.Context(), run, token, recs, flush))
}

func (m *model) post() {
	run, host := m.pick()
	message := store.Message{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(m.T, "name"), Data: fmt.Appendf(nil, "%d", host)}
	m.same("post", m.files[host].Post(m.Context(), run, message), m.memory.Post(m.Context(), run, message))
}

func (m *model) prune() {
	_, host := m.pick()
	for _, h := range m.files[host].held {
		if !h.lease.Held(m.clock.Now()) {
			return // this host does not remove it, because it knows that the holder is alive
		}
	}
	q := store.Query{Status: []string{store.StatusInterrupted}}
	a, aerr := m.files[host].Prune(m.Context(), q)
	b, berr := m.memory.Prune(m.Context(), q)
	m.same("prune", aerr, berr)
	if fmt.Sprint(a.Runs) != fmt.Sprint(b.Runs) {
		m.Fatalf("pruned %v; in memory %v", a.Runs, b.Runs)
	}
	for _, run := range a.Runs { // tokens begin at 1 again, which only the files tell from the earlier ones
		for host := range m.files {
			delete(m.tokens, fmt.Sprint(run, host))
		}
	}
}

func (m *model) compare() {
	b := m.describe(m.memory)
	for host, s := range m.files {
		if a := m.describe(s); a != b {
			m.Fatalf("host %d sees\n%s\nin memory\n%s", host, a, b)
		}
	}
}

// describe returns what can be read from a store.
func (m *model) describe(s store.Store) string {
	var b strings.Builder
	for _, run := range modelRuns {
		for rec, err := range s.Read(m.Context(), run, 1) {
			fmt.Fprintf(&b, "%s %d/%d %s %s\n", run, rec.Seq, rec.Token, rec.Data, class(err))
		}
		inbox, err := s.Inbox(m.Context(), run)
		fmt.Fprintf(&b, "%s inbox %s %s\n", run, inbox, class(err))
	}
	for sum, err := range s.List(m.Context(), store.Query{}) {
		if sum.Holder != nil && !sum.Holder.Held(m.clock.Now()) {
			sum.Status, sum.Holder = store.StatusInterrupted, nil // its own host knows that it is alive
		}
		fmt.Fprintf(&b, "%s %s %d %v %s\n", sum.Run, sum.Status, sum.Records, sum.Holder, class(err))
	}
	return b.String()
}
