package postgres

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/wavefold/wavefold/internal/postgrestest"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// payload makes records of 200 bytes, as in the benchmark of store/file.
var payload = []byte(`{"n":"` + strings.Repeat("x", 168) + `"}`)

// benchmarkServer starts a server that flushes.
func benchmarkServer(b *testing.B) string {
	server, stop, err := postgrestest.Start("fsync=on")
	if err != nil {
		postgrestest.Missing(b, err)
	}
	b.Cleanup(stop)
	return server.DSN("")
}

// BenchmarkAppend compares appends of 200 bytes, by writers with a run each, with the same by hand: an insert of each
// record into a table without other columns than the number and the data, over as many connections. Both take turns; x-insert is the
// median of the ratios. An operation is 128 records.
func BenchmarkAppend(b *testing.B) {
	dsn := benchmarkServer(b)
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := open(b, fmt.Sprintf("%s&schema=w%d", dsn, writers), Options{})
			byStore, byHand := appendToStore(b, s, writers), insertByHand(b, s.pool)
			var ratios, times []float64
			n := 128 / writers
			for b.Loop() {
				appended, inserted := measure(writers, n, byStore), measure(writers, n, byHand)
				ratios, times = append(ratios, appended/inserted), append(times, appended/float64(n*writers))
			}
			b.ReportMetric(median(times), "ns/record")
			b.ReportMetric(1e9/median(times), "records/s")
			b.ReportMetric(median(ratios), "x-insert")
		})
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

func appendToStore(b *testing.B, s *Store, writers int) func(int) {
	leases, last := make([]store.Lease, writers), make([]uint64, writers)
	for i := range leases {
		leases[i], last[i] = begin(b, s, fmt.Sprint(time.Now().UnixNano(), "-", i)), 1
	}
	return func(w int) {
		last[w]++
		rec := []store.Record{{Seq: last[w], Type: store.Batch, Data: payload}}
		if err := s.Append(b.Context(), leases[w].Run, leases[w].Token, rec, true); err != nil {
			b.Error(err)
		}
	}
}

func insertByHand(b *testing.B, pool *pgxpool.Pool) func(int) {
	if _, err := pool.Exec(b.Context(), "CREATE TABLE IF NOT EXISTS by_hand (n bigserial PRIMARY KEY, data bytea)"); err != nil {
		b.Fatal(err)
	}
	return func(int) {
		if _, err := pool.Exec(b.Context(), "INSERT INTO by_hand (data) VALUES ($1)", payload); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkStart is what a run waits for before its first node starts: the lease and the head.
func BenchmarkStart(b *testing.B) {
	s := open(b, benchmarkServer(b), Options{})
	n := 0
	for b.Loop() {
		n++
		begin(b, s, fmt.Sprint("new-", n))
	}
}

// BenchmarkList lists the newest 20 of 1,000 runs, and all of them.
func BenchmarkList(b *testing.B) {
	s := open(b, benchmarkServer(b), Options{})
	for i := range 1000 {
		lease := begin(b, s, fmt.Sprint("run-", i))
		recs := append(storetest.Records(2, 18), store.Record{Seq: 20, Type: store.End, Data: []byte(`{"status":"success"}`)})
		if err := s.Append(b.Context(), lease.Run, lease.Token, recs, true); err != nil {
			b.Fatal(err)
		}
	}
	for _, limit := range []int{20, 1000} {
		b.Run(fmt.Sprintf("runs=%d", limit), func(b *testing.B) {
			for b.Loop() {
				n := 0
				for _, err := range s.List(b.Context(), store.Query{Limit: limit}) {
					if n++; err != nil {
						b.Fatal(err)
					}
				}
				if n != limit {
					b.Fatalf("%d runs", n)
				}
			}
		})
	}
}
