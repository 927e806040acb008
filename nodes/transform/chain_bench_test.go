package transform

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// The benchmark's chain is typical of an ETL job: checks, derived columns, a join with
// a small table, groups. It is compared with loops that do exactly the same over rows
// as maps and over structs. All of them make their rows from the same values, as a file
// reader would.

const chainSteps = `{"checks": [{"name": "delay", "expr": "$item.delay > -100"}, {"name": "distance", "expr": "$item.distance > 0"}], "on_bad_row": "skip"},
	{"derive": {"month": "substr($item.date, 5, 2)", "late": "$item.delay > 15"}},
	{"join": {"with": "airports", "on": {"origin": "iata"}, "take": ["city"]}},
	{"group": {"by": ["city", "month"], "aggregate": {"n": "count", "late": "count_if($item.late)", "total": "sum(delay)", "far": "max(distance)"}}}`

// flight is a row as a struct. box returns its values as a reader that knows their
// types would.
type flight struct {
	date                string
	delay, distance     int64
	origin, destination string
	box                 [5]any
}

var flightColumns = []string{"date", "delay", "distance", "origin", "destination"}

func madeFlights(n int) []flight {
	list := make([]flight, n)
	var memo [5]table.Memo
	for i := range list {
		f := &list[i]
		*f = flight{date: fmt.Sprintf("2001/%02d/%02d", i%3+1, i%28+1), delay: int64(i*7919%240 - 60), distance: int64(100 + i*31%2500),
			origin: fmt.Sprint("A", i*17%300), destination: fmt.Sprint("A", i*13%300)}
		f.box = [5]any{memo[0].Text(f.date), memo[1].Integer(f.delay), memo[2].Integer(f.distance), memo[3].Text(f.origin), memo[4].Text(f.destination)}
	}
	return list
}

type result struct{ n, late, total, far int64 }

func madeAirports() (rows []any, cities map[string]string) {
	cities = map[string]string{}
	for i := range 3376 {
		iata, city := fmt.Sprint("A", i), fmt.Sprint("City ", i/2)
		rows = append(rows, value.ObjectOf("iata", iata, "city", city, "state", "XX"))
		cities[iata] = city
	}
	return rows, cities
}

func loopTyped(list []flight, rows int, cities map[string]string) (groups int, sum int64) {
	type key struct{ city, month string }
	out := map[key]*result{}
	for i := range rows {
		f := list[i%len(list)] // a copy, as from a reader
		if f.delay <= -100 || f.distance <= 0 {
			continue
		}
		late := f.delay > 15
		city, ok := cities[f.origin]
		if !ok {
			continue
		}
		k := key{city, f.date[5:7]}
		r := out[k]
		if r == nil {
			r = &result{}
			out[k] = r
		}
		r.n++
		if late {
			r.late++
		}
		r.total += f.delay
		r.far = max(r.far, f.distance)
	}
	for _, r := range out {
		sum += r.total + r.late + r.far
	}
	return len(out), sum
}

// mapStages returns the steps over rows as maps. They are called through function
// values, as an engine with untyped rows would call them.
func mapStages(cities map[string]string) []func(map[string]any) (map[string]any, bool) {
	return []func(map[string]any) (map[string]any, bool){
		func(m map[string]any) (map[string]any, bool) {
			return m, m["delay"].(int64) > -100 && m["distance"].(int64) > 0
		},
		func(m map[string]any) (map[string]any, bool) {
			m["month"] = m["date"].(string)[5:7]
			m["late"] = m["delay"].(int64) > 15
			return m, true
		},
		func(m map[string]any) (map[string]any, bool) {
			city, ok := cities[m["origin"].(string)]
			m["city"] = city
			return m, ok
		},
	}
}

func loopMaps(list []flight, rows int, stages []func(map[string]any) (map[string]any, bool)) (groups int, sum int64) {
	type key struct{ city, month string }
	out := map[key]*result{}
next:
	for i := range rows {
		m, f := make(map[string]any, len(flightColumns)), &list[i%len(list)]
		for j, name := range flightColumns {
			m[name] = f.box[j]
		}
		for _, stage := range stages {
			var ok bool
			if m, ok = stage(m); !ok {
				continue next
			}
		}
		k := key{m["city"].(string), m["month"].(string)}
		r := out[k]
		if r == nil {
			r = &result{}
			out[k] = r
		}
		r.n++
		if m["late"].(bool) {
			r.late++
		}
		r.total += m["delay"].(int64)
		r.far = max(r.far, m["distance"].(int64))
	}
	for _, r := range out {
		sum += r.total + r.late + r.far
	}
	return len(out), sum
}

// flightStream makes rows in batches, as a file reader does.
type flightStream struct {
	list     []flight
	at, rows int
	build    *table.Builder
	ready    []any // prepared rows, if any
}

func (s *flightStream) Next(context.Context) ([]any, error) {
	rows := make([]any, min(1024, s.rows-s.at))
	if len(rows) == 0 {
		return nil, io.EOF
	}
	for i := range rows {
		if s.ready != nil {
			rows[i] = s.ready[(s.at+i)%len(s.ready)]
			continue
		}
		row, values := s.build.Row()
		copy(values, s.list[(s.at+i)%len(s.list)].box[:])
		rows[i] = row
	}
	s.at += len(rows)
	return rows, nil
}

func (s *flightStream) Summary() *value.Object { return &value.Object{} }
func (s *flightStream) Close() error           { return nil }

func stepsOver(tb testing.TB, steps string, in core.Shared) (groups int, sum int64) {
	made, ds := Kind.Compile(nodestest.Node(tb, `{"reads": ["in"], "writes": ["out"], "steps": [`+steps+`]}`), core.Env{})
	if ds.Failed(false) {
		tb.Fatal(ds)
	}
	r, err := made.Handler.Handle(tb.Context(), core.NewInput("r", "n", 1, in))
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range r.Writes()["out"].([]any) {
		for _, name := range []string{"total", "late", "far"} {
			sum += member(row, name).(int64)
		}
		groups++
	}
	return groups, sum
}

// BenchmarkChain measures the chain and the loops that it is compared with.
func BenchmarkChain(b *testing.B) {
	const rows = 200_000
	list := madeFlights(5000)
	airports, cities := madeAirports()
	keys, err := value.NewKeys(flightColumns)
	if err != nil {
		b.Fatal(err)
	}
	made := &flightStream{list: list, rows: len(list), build: table.NewBuilder(keys)}
	var ready []any
	for range 5 {
		batch, _ := made.Next(b.Context())
		ready = append(ready, batch...)
	}
	steps := func(ready []any) (int, int64) {
		open := func(context.Context, string, *value.Object) (core.Stream, bool, error) {
			return &flightStream{list: list, rows: rows, build: table.NewBuilder(keys), ready: ready}, true, nil
		}
		return stepsOver(b, chainSteps, core.Shared{Open: open, Extra: core.NewView([]string{"airports"}, []any{airports})})
	}
	stages := mapStages(cities)
	wantGroups, wantSum := loopTyped(list, rows, cities)
	for _, c := range []struct {
		name string
		run  func() (int, int64)
	}{
		{"by=steps", func() (int, int64) { return steps(nil) }},
		{"by=steps/rows=ready", func() (int, int64) { return steps(ready) }},
		{"by=loop/rows=maps", func() (int, int64) { return loopMaps(list, rows, stages) }},
		{"by=loop/rows=structs", func() (int, int64) { return loopTyped(list, rows, cities) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if groups, sum := c.run(); groups != wantGroups || sum != wantSum {
					b.Fatalf("%d groups, %d, want %d, %d", groups, sum, wantGroups, wantSum)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
