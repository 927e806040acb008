package benchmarks

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Table is a table of docs/performance.md.
type Table struct {
	ID      string // of the comment that marks its place, as in <!-- figures: shapes -->
	Unit    string // what time and memory are counted for, as "node" or "item"
	Figures []Figure
}

// A Figure is a row of a table: the measure of a subject and, if there is a reference, the
// ratio of their times. For growth the reference is the same work with fewer units.
type Figure struct {
	Name      string
	Subject   Case
	Reference Case // no Name: there is none
	Slow      bool // it is measured, but the tests do not run it
}

// A Case is work that can be repeated.
type Case struct {
	Name  string
	Units int // nodes, items or rows of one call
	// Start prepares the work and returns the function that is measured. It fails the test
	// if the function would not do the work.
	Start func(tb testing.TB) (run func())
	// Sample measures work that is not a function, as the start of a process. A case has
	// either Start or Sample.
	Sample func(tb testing.TB) Sample
}

// A Sample is what one unit cost.
type Sample struct {
	Time, CPU     float64 // nanoseconds; CPU adds all threads of the process up
	Allocs, Bytes float64
}

// A Measure is the median of the samples of each case, and of the ratios of subject to
// reference, which are taken round by round.
type Measure struct {
	Figure             Figure
	Subject, Reference Sample
	Time, CPU          Ratio // zero without a reference
}

// A Ratio is a median and its spread.
type Ratio struct{ Median, Min, Max float64 }

const (
	rounds = 9
	slice  = 10 * time.Millisecond // for one case in one round, unless one call takes longer
	// A figure that takes longer than enough has fewer rounds, but not less than atLeast.
	enough  = 3 * time.Second
	atLeast = 5
)

// Take measures a figure. Subject and reference take turns, so that other load on the
// machine affects both.
func (f Figure) Take(tb testing.TB) Measure {
	cases := []Case{f.Subject}
	if f.Reference.Name != "" {
		cases = append(cases, f.Reference)
	}
	take := make([]func() Sample, len(cases))
	samples := make([][]Sample, len(cases))
	for i, c := range cases {
		take[i] = c.sampler(tb)
	}
	begin := time.Now()
	for round := range rounds {
		if round >= atLeast && time.Since(begin) > enough {
			break
		}
		for i := range take {
			samples[i] = append(samples[i], take[i]())
		}
	}
	m := Measure{Figure: f, Subject: middle(samples[0])}
	if len(cases) == 2 {
		m.Reference = middle(samples[1])
		m.Time = ratio(samples, func(s Sample) float64 { return s.Time })
		m.CPU = ratio(samples, func(s Sample) float64 { return s.CPU })
	}
	return m
}

// sampler returns a function that calls the case repeatedly for about the length of a slice.
func (c Case) sampler(tb testing.TB) func() Sample {
	if c.Sample != nil {
		return func() Sample { return c.Sample(tb) }
	}
	run := c.Start(tb)
	run()
	begin := time.Now()
	run()
	calls := max(1, int(slice/max(1, time.Since(begin))))
	return func() Sample {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin, cpu := time.Now(), processTime()
		for range calls {
			run()
		}
		took, used := time.Since(begin), processTime()-cpu
		runtime.ReadMemStats(&after)
		n := float64(calls * c.Units)
		return Sample{float64(took) / n, float64(used) / n, float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n}
	}
}

func middle(s []Sample) Sample {
	of := func(f func(Sample) float64) float64 {
		v := make([]float64, len(s))
		for i := range s {
			v[i] = f(s[i])
		}
		return median(v)
	}
	return Sample{of(func(s Sample) float64 { return s.Time }), of(func(s Sample) float64 { return s.CPU }),
		of(func(s Sample) float64 { return s.Allocs }), of(func(s Sample) float64 { return s.Bytes })}
}

func ratio(samples [][]Sample, f func(Sample) float64) Ratio {
	v := make([]float64, len(samples[0]))
	for i := range v {
		if r := f(samples[1][i]); r > 0 {
			v[i] = f(samples[0][i]) / r
		}
	}
	return Ratio{median(v), slices.Min(v), slices.Max(v)}
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Bench runs both cases of a figure as benchmarks.
func (f Figure) Bench(b *testing.B, unit string) {
	for _, c := range []Case{f.Subject, f.Reference} {
		if c.Start == nil {
			continue
		}
		b.Run("case="+c.Name, func(b *testing.B) {
			run := c.Start(b)
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N*c.Units), "ns/"+strings.ReplaceAll(unit, " ", "-"))
		})
	}
}
