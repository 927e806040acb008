package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// payload makes records of 200 bytes.
var payload = []byte(`{"n":"` + strings.Repeat("x", 168) + `"}`)

// BenchmarkAppend compares flushed appends of 200 bytes with the same by hand: a write and a flush for each
// record, by several writers into a file each, and by one goroutine that writes what has gathered.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("store/writers=%d", writers), func(b *testing.B) { benchmarkStore(b, writers) })
		b.Run(fmt.Sprintf("files/writers=%d", writers), func(b *testing.B) { benchmarkFiles(b, writers) })
		b.Run(fmt.Sprintf("grouped/writers=%d", writers), func(b *testing.B) { benchmarkGrouped(b, writers) })
	}
	b.Run("store/unflushed", func(b *testing.B) {
		s := open(b, b.TempDir(), Options{})
		lease, seq := begin(b, s, "r1", 0), uint64(1)
		for b.Loop() {
			seq++
			rec := []store.Record{{Seq: seq, Type: store.Batch, Data: payload}}
			if err := s.Append(b.Context(), "r1", lease.Token, rec, false); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// split calls work for its share of b.N, in several goroutines at once.
func split(b *testing.B, writers int, work func(writer, n int)) {
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { work(i, (b.N+i)/writers) })
	}
	wg.Wait()
}

func benchmarkStore(b *testing.B, writers int) {
	s := open(b, b.TempDir(), Options{})
	leases := make([]store.Lease, writers)
	for i := range leases {
		leases[i] = begin(b, s, fmt.Sprint("r", i), 0)
	}
	split(b, writers, func(w, n int) {
		for i := range n {
			rec := []store.Record{{Seq: uint64(i + 2), Type: store.Batch, Data: payload}}
			if err := s.Append(b.Context(), leases[w].Run, leases[w].Token, rec, true); err != nil {
				b.Error(err)
			}
		}
	})
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

func benchmarkFiles(b *testing.B, writers int) {
	data := make([]byte, 200)
	files := make([]*os.File, writers)
	for i := range files {
		files[i] = create(b, fmt.Sprint(i))
	}
	split(b, writers, func(w, n int) {
		for range n {
			writeSync(b, files[w], data)
		}
	})
}

func benchmarkGrouped(b *testing.B, writers int) {
	f, data := create(b, "log"), make([]byte, 200)
	requests := make(chan chan struct{}, writers) // each writer waits for its own
	var done sync.WaitGroup
	done.Go(func() {
		var group []chan struct{}
		for first := range requests {
			group = append(group[:0], first)
			for more := true; more; {
				select {
				case r := <-requests:
					group = append(group, r)
				default:
					more = false
				}
			}
			writeSync(b, f, make([]byte, len(group)*len(data)))
			for _, r := range group {
				r <- struct{}{}
			}
		}
	})
	split(b, writers, func(_, n int) {
		reply := make(chan struct{}, 1)
		for range n {
			requests <- reply
			<-reply
		}
	})
	close(requests)
	done.Wait()
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

// BenchmarkStart is what a run waits for before its first node starts, in a store with 1,000 runs.
func BenchmarkStart(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	fill(b, s, 1000)
	n := 0
	for b.Loop() {
		n++
		begin(b, s, fmt.Sprint("new-", n), 0)
	}
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
