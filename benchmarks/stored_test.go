package benchmarks

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/store/file"
)

// storedTable has runs that are stored. The references of flushed records write as many bytes as a
// record of the run has, by hand.
func storedTable() Table {
	const steps, items, runs = 200, 2048, 64
	chain := func(o ...wavefold.RunOption) Case { return mapChain(1000, o...) }
	inFlight := func(o ...wavefold.RunOption) Case { return forEach(items, 64, o...) }
	var figures []Figure
	for _, mode := range []core.DurabilityMode{wavefold.Off, wavefold.Batch} {
		figures = append(figures, Figure{Name: fmt.Sprintf("chain of Map, 1,000 nodes, %s", mode), Subject: stored(mode, chain), Reference: notStored(chain)})
	}
	return Table{ID: "stored", Unit: "node or item", Figures: append(figures,
		Figure{
			Name:      "chain of Map, 200 nodes, full",
			Subject:   stored(wavefold.Full, func(o ...wavefold.RunOption) Case { return mapChain(steps, o...) }),
			Reference: flushedAppends("a write and a flush for each", 1, steps, appendAlone),
		},
		Figure{
			Name:      "ForEach, 2,048 items, limit 64, full",
			Subject:   stored(wavefold.Full, inFlight),
			Reference: flushedAppends("64 writers, appends in groups", 64, items/64, appendInGroups),
		},
		Figure{
			Name:      "64 runs at once, chains of 16, full",
			Subject:   atOnce(runs, stored(wavefold.Full, func(o ...wavefold.RunOption) Case { return mapChain(16, o...) })),
			Reference: flushedAppends("64 files at once", runs, 16, appendAlone),
		},
	)}
}

// stored returns a case whose runs are stored in a folder.
func stored(mode core.DurabilityMode, of func(...wavefold.RunOption) Case) Case {
	c := of()
	c.Start = func(tb testing.TB) func() {
		s, err := file.Open(tb.TempDir(), file.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := s.Close(); err != nil {
				tb.Error(err)
			}
		})
		return of(wavefold.WithStore(s), wavefold.WithDurability(mode)).Start(tb)
	}
	return c
}

func notStored(of func(...wavefold.RunOption) Case) Case {
	c := of()
	c.Name = "no store"
	return c
}

// atOnce does the work of a case n times at the same time.
func atOnce(n int, c Case) Case {
	start := c.Start
	c.Units *= n
	c.Start = func(tb testing.TB) func() {
		run := start(tb)
		return func() { together(n, func(int) { run() }) }
	}
	return c
}

func together(n int, f func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { f(i) })
	}
	group.Wait()
}

// flushedAppends is a case in which writers append n records each, one after the other. start returns
// what appends a record of a writer and returns when it is flushed.
func flushedAppends(name string, writers, n int, start func(tb testing.TB, writers int) (add func(writer int))) Case {
	return Case{Name: name, Units: writers * n, Start: func(tb testing.TB) func() {
		add := start(tb, writers)
		return func() {
			together(writers, func(w int) {
				for range n {
					add(w)
				}
			})
		}
	}}
}

// recordSize is about the size of the record of a node with one write.
const recordSize = 200

// appendAlone gives each writer a file.
func appendAlone(tb testing.TB, writers int) func(int) {
	files, data := make([]*os.File, writers), make([]byte, recordSize)
	for i := range files {
		files[i] = appendTo(tb, fmt.Sprint(i))
	}
	return func(w int) { writeAndFlush(tb, files[w], data) }
}

// appendInGroups has one file, to which a goroutine writes what has gathered.
func appendInGroups(tb testing.TB, writers int) func(int) {
	f, data := appendTo(tb, "log"), make([]byte, recordSize*writers)
	waiting := make(chan chan struct{}, writers)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var group []chan struct{}
		for first := range waiting {
			group = append(group[:0], first)
			for len(waiting) > 0 {
				group = append(group, <-waiting)
			}
			writeAndFlush(tb, f, data[:recordSize*len(group)])
			for _, w := range group {
				w <- struct{}{}
			}
		}
	}()
	tb.Cleanup(func() { close(waiting); <-done })
	flushed := make([]chan struct{}, writers)
	for i := range flushed {
		flushed[i] = make(chan struct{}, 1)
	}
	return func(w int) {
		waiting <- flushed[w]
		<-flushed[w]
	}
}

func appendTo(tb testing.TB, name string) *os.File {
	f, err := os.OpenFile(filepath.Join(tb.TempDir(), name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func writeAndFlush(tb testing.TB, f *os.File, data []byte) {
	if _, err := f.Write(data); err != nil {
		tb.Error(err)
	}
	if err := flush(f); err != nil {
		tb.Error(err)
	}
}
