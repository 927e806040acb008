package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// payload makes records of 200 bytes.
var payload = []byte(`{"n":"` + strings.Repeat("x", 168) + `"}`)

// BenchmarkAppend compares flushed appends of 200 bytes, by writers with a run each, with the same by hand: a write and
// a flush for each record, with a file for each writer; and one file, to which one goroutine writes what has gathered.
// The three take turns, so that other load on the disk hits them alike: x-files and x-grouped are the
// medians of the ratios. An operation is one record of the store.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			byStore, byFiles, byGroup := appendToStore(b, writers), appendToFiles(b, writers), appendToGroup(b, writers)
			var overFiles, overGroup, store []float64
			n := 128 / writers
			for b.Loop() {
				s, f, g := measure(writers, n, byStore), measure(writers, n, byFiles), measure(writers, n, byGroup)
				overFiles, overGroup = append(overFiles, s/f), append(overGroup, s/g)
				store = append(store, s/float64(n*writers))
			}
			b.ReportMetric(median(store), "ns/record")
			b.ReportMetric(median(overFiles), "x-files")
			b.ReportMetric(median(overGroup), "x-grouped")
		})
	}
}

// BenchmarkUnflushed is an append of 200 bytes that is handed to the operating system.
func BenchmarkUnflushed(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	lease, seq := begin(b, s, "r1", 0), uint64(1)
	b.ReportAllocs()
	for b.Loop() {
		seq++
		rec := []store.Record{{Seq: seq, Type: store.Batch, Data: payload}}
		if err := s.Append(b.Context(), "r1", lease.Token, rec, false); err != nil {
			b.Fatal(err)
		}
	}
}

// measure returns the nanoseconds until each writer has called add n times.
func measure(writers, n int, add func(writer int)) float64 {
	begun := time.Now()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range n {
				add(w)
			}
		})
	}
	wg.Wait()
	return float64(time.Since(begun))
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

func appendToStore(b *testing.B, writers int) func(int) {
	s := open(b, b.TempDir(), Options{})
	leases, last := make([]store.Lease, writers), make([]uint64, writers)
	for i := range leases {
		leases[i], last[i] = begin(b, s, fmt.Sprint("r", i), 0), 1
	}
	return func(w int) {
		last[w]++
		rec := []store.Record{{Seq: last[w], Type: store.Batch, Data: payload}}
		if err := s.Append(b.Context(), leases[w].Run, leases[w].Token, rec, true); err != nil {
			b.Error(err)
		}
	}
}

func create(b *testing.B, name string) *os.File {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

func writeSync(b *testing.B, f *os.File, data []byte) {
	if _, err := f.Write(data); err != nil {
		b.Error(err)
	}
	if err := syncData(f); err != nil {
		b.Error(err)
	}
}

func appendToFiles(b *testing.B, writers int) func(int) {
	data, files := make([]byte, 200), make([]*os.File, writers)
	for i := range files {
		files[i] = create(b, fmt.Sprint(i))
	}
	return func(w int) { writeSync(b, files[w], data) }
}

func appendToGroup(b *testing.B, writers int) func(int) {
	f, data := create(b, "log"), make([]byte, 200*writers)
	requests := make(chan chan struct{}, writers) // each writer waits for its own
	var done sync.WaitGroup
	done.Go(func() {
		var group []chan struct{}
		for first := range requests {
			group = append(group[:0], first)
			for len(requests) > 0 {
				group = append(group, <-requests)
			}
			writeSync(b, f, data[:200*len(group)])
			for _, r := range group {
				r <- struct{}{}
			}
		}
	})
	b.Cleanup(func() { close(requests); done.Wait() })
	replies := make([]chan struct{}, writers)
	for i := range replies {
		replies[i] = make(chan struct{}, 1)
	}
	return func(w int) {
		requests <- replies[w]
		<-replies[w]
	}
}

// fill makes n runs of 20 records that have ended.
func fill(b *testing.B, s *Store, n int) {
	recs := append([]store.Record{storetest.Head("load", time.Unix(0, 0))}, storetest.Records(2, 18)...)
	recs = append(recs, store.Record{Seq: 20, Type: store.End, Data: []byte(`{"status":"success"}`)})
	for i := range n {
		run := fmt.Sprint("run-", i)
		lease := acquire(b, s, run, holderA, time.Minute)
		if err := s.Append(b.Context(), run, lease.Token, recs, false); err != nil {
			b.Fatal(err)
		}
		release(b, s, run)
	}
}

// BenchmarkStart measures what a run waits for before its first node starts, in a store with 1,000 runs: the
// lease and the flushed head. x-flush is the ratio of its time to the time of a plain write and flush.
func BenchmarkStart(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	fill(b, s, 1000)
	byHand := appendToFiles(b, 1)
	n := 0
	var starts, ratios []float64
	for b.Loop() {
		n++
		start := measure(1, 1, func(int) { begin(b, s, fmt.Sprint("new-", n), 0) })
		starts, ratios = append(starts, start), append(ratios, start/measure(1, 1, byHand))
	}
	b.ReportMetric(median(starts), "ns/start")
	b.ReportMetric(median(ratios), "x-flush")
}

// BenchmarkList lists 1,000 runs of 20 records that have ended.
func BenchmarkList(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	fill(b, s, 1000)
	for _, indexed := range []bool{true, false} {
		b.Run(fmt.Sprintf("indexed=%v", indexed), func(b *testing.B) {
			for b.Loop() {
				if !indexed {
					os.Remove(s.indexFile())
				}
				n := 0
				for _, err := range s.List(b.Context(), store.Query{}) {
					if n++; err != nil {
						b.Fatal(err)
					}
				}
				if n != 1000 {
					b.Fatalf("%d runs", n)
				}
			}
		})
	}
}
