//go:build unix

package flights3m_test

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// This is the job of the workflow as a handwritten loop: what a Go programmer would write
// for this one task. The tests compare the workflow with it: the results, the time and the
// memory.

type flight struct {
	Date        string `parquet:"date,optional"`
	Delay       int64  `parquet:"delay,optional"`
	Distance    int64  `parquet:"distance,optional"`
	Origin      string `parquet:"origin,optional"`
	Destination string `parquet:"destination,optional"`
}

type summaryKey struct{ origin, month string }

type summary struct {
	Origin, City, State, Month string
	Flights, Late, Distance    int64
	delay                      int64
}

func (s *summary) meanDelay() float64 { return float64(s.delay) / float64(s.Flights) }

type airport struct{ city, state string }

func airports(path string) (map[string]airport, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	out := make(map[string]airport, len(records))
	for _, r := range records[1:] { // iata, name, city, state, …
		out[r[0]] = airport{r[2], r[3]}
	}
	return out, nil
}

// byHand returns the summaries in order, and the number of rejected rows.
func byHand(flights, places string) ([]summary, int, error) {
	known, err := airports(places)
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(flights)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	r := parquet.NewGenericReader[flight](f)
	defer r.Close()
	groups := map[summaryKey]*summary{}
	rejected := 0
	batch := make([]flight, 1024)
	for {
		n, err := r.Read(batch)
		for i := range batch[:n] {
			row := &batch[i]
			if len(row.Date) != 8 || row.Distance <= 0 || row.Delay <= -1440 || row.Delay >= 2880 {
				rejected++
				continue
			}
			place, ok := known[row.Origin]
			if !ok {
				continue
			}
			key := summaryKey{row.Origin, row.Date[:2]}
			s := groups[key]
			if s == nil {
				s = &summary{Origin: key.origin, City: place.city, State: place.state, Month: key.month}
				groups[key] = s
			}
			s.Flights++
			s.delay += row.Delay
			s.Distance += row.Distance
			if row.Delay > 15 {
				s.Late++
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
	}
	out := make([]summary, 0, len(groups))
	for _, s := range groups {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b summary) int {
		return cmp.Or(cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Month, b.Month))
	})
	return out, rejected, nil
}
