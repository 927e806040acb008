package expressions

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// TestColumnReads checks which columns of $item an expression reports, and which of them all
// rows may lack. In an expression over rows, these are the columns that later terms of an &&
// read.
func TestColumnReads(t *testing.T) {
	for _, tt := range []struct {
		src     string
		overRow bool
		want    string
	}{
		{"$item.type == 'refund' && $item.refund_id > 0", true, "type refund_id?"},
		{"$item.type == 'refund' && $item.refund_id > 0", false, "type refund_id"},
		{"$item.a == 1 || $item.b == 2 && !($item.c == 3)", true, "a b c?"},
		{"coalesce($item.a, 1) == 1 && $item.b == 2", true, "b?"},
	} {
		var got []string
		s := Scope{Roots: RootItem, Item: source.Columns{OnRead: func(r source.ColumnRead) {
			name := r.Column.Value
			if r.HeaderOnly {
				name += "?"
			}
			got = append(got, name)
		}}}
		if tt.overRow {
			s.Columns = &Columns{}
		}
		if p, ds := Compile(source.At(tt.src, source.Position{}), s, "node a"); p == nil {
			t.Fatal(ds)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s, over a row %v: %s, want %s", tt.src, tt.overRow, s, tt.want)
		}
	}
}
