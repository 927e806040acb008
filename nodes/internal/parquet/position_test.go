package parquet

import (
	"context"
	"crypto/sha256"
	"encoding"
	"fmt"
	"hash"
	"io"
	"slices"
	"testing"

	parquet "github.com/parquet-go/parquet-go"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// place is a position of a reader, with the state of its hash and the number of rows before it.
type place struct {
	at    *value.Object
	state []byte
	rows  int
}

// finish reads a table to its end, and returns its rows as JSON, its hash and its places.
func finish(t *testing.T, r *Reader, sum hash.Hash) (rows []string, hashed string, places []place) {
	t.Helper()
	for {
		if at, ok := r.Position(); ok {
			state, err := sum.(encoding.BinaryMarshaler).MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, place{at, state, len(rows)})
		}
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return rows, fmt.Sprintf("%x", sum.Sum(nil)), places
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range b.Rows {
			rows = append(rows, value.JSON(row))
		}
	}
}

// varied are rows of all types, in which the same value is null in some rows.
func varied(n int) []everything {
	full := sample()
	list := make([]everything, n)
	for i := range list {
		list[i] = full[(i*i/3)%2]
		list[i].U32, list[i].Text, list[i].JSON = uint32(i), fmt.Sprint("text ", i%13), "[1]"
	}
	return list
}

// TestPosition: a reader that continues after any batch of another one has the rows that follow and
// the same hash.
func TestPosition(t *testing.T) {
	const rows = 3000
	for _, options := range [][]parquet.WriterOption{
		{parquet.MaxRowsPerRowGroup(1200), parquet.PageBufferSize(300)},
		{parquet.MaxRowsPerRowGroup(1200), parquet.PageBufferSize(300), parquet.DataPageVersion(1)},
		{parquet.MaxRowsPerRowGroup(1024)},
	} {
		f := written(t, "f", varied(rows), options...)
		for _, o := range []table.ReadOptions{{}, {Select: []string{"u32", "groups", "dict"}}, {Limit: 2500}} {
			sum := sha256.New()
			all, want, places := finish(t, NewReader(&files{[]File{f}}, o, sum), sum)
			if len(places) < 3 {
				t.Errorf("%v: %d places", o, len(places))
			}
			for _, p := range places {
				for _, trusted := range []bool{true, false} {
					sum := sha256.New()
					r := NewReader(&files{[]File{f}}, o, sum)
					same, err := r.Continue(t.Context(), p.at, p.state, trusted)
					if err != nil || !same {
						t.Fatalf("%s: same %t, error %v", value.JSON(p.at), same, err)
					}
					rest, hashed, _ := finish(t, r, sum)
					if !slices.Equal(rest, all[p.rows:]) || hashed != want {
						t.Errorf("%s: %d rows follow, want %d, the same; the hash is %s, want %s", value.JSON(p.at), len(rest), len(all)-p.rows, hashed, want)
					}
				}
			}
		}
	}
}

// TestPositionOfOtherFile: a file in which a row before the position is another is found.
func TestPositionOfOtherFile(t *testing.T) {
	list := varied(5000)
	options := []parquet.WriterOption{parquet.MaxRowsPerRowGroup(1700)}
	sum := sha256.New()
	_, _, places := finish(t, NewReader(&files{[]File{written(t, "f", list, options...)}}, table.ReadOptions{}, sum), sum)
	list[5].Text = "text 0"
	other := written(t, "f", list, options...)
	few := written(t, "f", list[:2000], options...)
	found := 0
	for _, p := range places {
		for _, f := range []File{other, few} {
			same, err := NewReader(&files{[]File{f}}, table.ReadOptions{}, sha256.New()).Continue(t.Context(), p.at, p.state, false)
			if err != nil || same {
				t.Errorf("%s: same %t, error %v", value.JSON(p.at), same, err)
			}
			found++
		}
	}
	if found < 8 {
		t.Errorf("compared %d times", found)
	}
}
