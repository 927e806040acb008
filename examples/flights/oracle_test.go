package flights

import (
	"cmp"
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// records returns the rows of a CSV file without its header.
func records(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	list, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return list[1:]
}

// busiest computes the 20 rows of the report from the data, in plain Go.
func busiest(t *testing.T) []airport {
	t.Helper()
	places := map[string][]string{}
	for _, a := range records(t, "data/airports.csv") {
		places[a[0]] = a
	}
	delays := map[string][]int{}
	for _, f := range records(t, "data/flights-10k.csv") {
		date, origin, destination := f[0], f[3], f[4]
		delay, err := strconv.Atoi(f[1])
		distance, err2 := strconv.Atoi(f[2])
		if err != nil || err2 != nil {
			t.Fatalf("%v, %v", err, err2)
		}
		hour := date[11:13]
		night := hour >= "01" && hour <= "04"
		if delay < -30 || delay >= 720 || night || distance <= 0 || origin == destination {
			continue
		}
		delays[origin] = append(delays[origin], delay)
	}
	var list []airport
	for origin, d := range delays {
		a := airport{origin: origin, city: places[origin][2], state: places[origin][3], flights: len(d), worst: slices.Max(d)}
		sum := 0
		for _, minutes := range d {
			sum += minutes
			if minutes > 15 {
				a.late++
			}
		}
		a.meanDelay = math.Round(10*float64(sum)/float64(len(d))) / 10
		a.percentage = math.Round(100 * float64(a.late) / float64(len(d)))
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b airport) int {
		return cmp.Or(cmp.Compare(b.flights, a.flights), cmp.Compare(a.origin, b.origin))
	})
	return list[:20]
}
