package sink

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// parquetDump returns a file as text: its columns with their types, then a row
// on each line.
func parquetDump(t testing.TB, path string) (text string, groups int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if by := file.Metadata().CreatedBy; by != createdBy {
		t.Errorf("created by %q", by)
	}
	var b strings.Builder
	for _, field := range file.Schema().Fields() {
		fmt.Fprintf(&b, "%s %s %v, ", field.Name(), field.Type(), field.Optional())
	}
	for _, g := range file.RowGroups() {
		rows := g.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				b.WriteString("\n")
				for _, v := range row {
					fmt.Fprintf(&b, "%v, ", v)
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return b.String(), len(file.RowGroups())
}

func TestParquet(t *testing.T) {
	const rows = `[{"z":9007199254740993,"f":1.5,"t":"x","b":true,"j":[1,{"a":2}],"n":null},{"z":-1,"f":2,"a":"late"},{}]`
	const want = "z INT(64,true) true, f DOUBLE true, t STRING true, b BOOLEAN true, j JSON true, n STRING true, a STRING true, \n" +
		"9007199254740993, 1.5, x, true, [1,{\"a\":2}], <null>, <null>, \n-1, 2, <null>, <null>, <null>, <null>, late, \n<null>, <null>, <null>, <null>, <null>, <null>, <null>, "
	for _, c := range []struct{ name, node, rows, want string }{
		{"types of the rows", `{"to": "out.parquet", "from": "rows"}`, rows, want},
		{"listed columns", `{"to": "out.parquet", "from": "rows", "columns": ["t", "z"]}`, rows, "t STRING true, z INT(64,true) true, \nx, 9007199254740993, \n<null>, -1, \n<null>, <null>, "},
		{"given types", `{"to": "out.parquet", "from": "rows", "columns": {"z": "number", "x": "boolean"}}`, `[{"z":1},{"z":2.5,"x":false}]`, "z DOUBLE true, x BOOLEAN true, \n1, <null>, \n2.5, false, "},
		{"whole floats of an integer", `{"to": "out.parquet", "from": "rows", "columns": {"z": "integer"}}`, `[{"z":2.0}]`, "z INT(64,true) true, \n2, "},
		{"types of the state", `{"to": "out.parquet", "from": "typed"}`, `[]`, "id INT(64,true) true, delay DOUBLE true, "},
		{"types of the state and the rows", `{"to": "out.parquet", "from": "typed"}`, `[{"x":"y","delay":1}]`, "x STRING true, delay DOUBLE true, id INT(64,true) true, \ny, 1, <null>, "},
		{"compression", `{"to": "out", "format": "parquet", "compression": "zstd", "from": "rows"}`, rows, want},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, asStream := range []bool{false, true} {
				dir := t.TempDir()
				in := core.NewInput("run", "n", 1, core.Shared{Dir: dir, View: core.NewView([]string{"rows", "typed"}, []any{rowsOf(t, c.rows), rowsOf(t, c.rows)})})
				if asStream {
					s := &stream{batches: [][]any{rowsOf(t, c.rows)}}
					if c.rows == "[]" {
						s.batches = nil
					}
					in, _ = streamed(dir, s)
				}
				r, err := compiled(t, c.node).Handle(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				path, _ := r.EdgeOutput.(*value.Object).Get("path")
				if got, _ := parquetDump(t, filepath.Join(dir, path.(string))); got != c.want {
					t.Errorf("as a stream %v: got\n%s\nwant\n%s", asStream, got, c.want)
				}
			}
		})
	}
}

func TestParquetFails(t *testing.T) {
	for _, c := range []struct{ name, node, first, then, want string }{
		{"mixed types", `{"to": "out.parquet", "from": "rows"}`, `[{"a":1},{"a":"x"}]`, "", "out.parquet: column a: the rows hold values of different types (integer or string); parquet has one type for each column"},
		{"long integers beside decimals", `{"to": "out.parquet", "from": "rows"}`, `[{"a":1.5},{"a":9007199254740993}]`, "", "out.parquet: column a: the rows hold values of different types (integer or number); parquet has one type for each column"},
		{"a late type", `{"to": "out.parquet", "from": "rows"}`, `[{"a":1}]`, `[{"a":2},{"a":"x"}]`, `out.parquet: row 3, column a: want integer, got string "x" (the first rows hold no such value; give the type with columns)`},
		{"a late long integer", `{"to": "out.parquet", "from": "rows"}`, `[{"a":1.5}]`, `[{"a":9007199254740993}]`, `out.parquet: row 2, column a: a column of numbers would change the integer 9007199254740993`},
		{"null at first", `{"to": "out.parquet", "from": "rows"}`, `[{"a":null}]`, `[{"a":1}]`, `out.parquet: row 2, column a: want string, got integer 1 (the first rows hold no such value; give the type with columns)`},
		{"another type than that of the state", `{"to": "out.parquet", "from": "typed"}`, `[{"id":1}]`, `[{"id":"x"}]`, `out.parquet: row 2, column id: want integer, got string "x"`},
		{"a late column", `{"to": "out.parquet", "from": "rows"}`, `[{"a":1}]`, `[{"a":2,"b":1}]`, `out.parquet: row 2: unknown column "b": the first rows have no such column; list the columns`},
		{"no columns", `{"to": "out.parquet", "from": "rows"}`, `[{}]`, "", `out.parquet: there are no columns; a parquet file needs one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := &stream{batches: [][]any{rowsOf(t, c.first)}}
			if c.then != "" {
				s.batches = append(s.batches, rowsOf(t, c.then))
			}
			in, _ := streamed(dir, s)
			_, err := compiled(t, c.node).Handle(t.Context(), in)
			if err == nil || err.Error() != c.want || !core.FailureOf(err).Permanent {
				t.Fatalf("error %v, want %s", err, c.want)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("left behind %v", entries)
			}
		})
	}
}

// Row groups are bounded by rows and by bytes, and every row is there.
func TestParquetGroups(t *testing.T) {
	for _, c := range []struct {
		name        string
		rows, width int
		limit       extent
		text        string
		groups      int
	}{
		{"rows", 2500, 1, extent{1000, 1 << 30}, "", 2}, // a group ends with its batch
		{"bytes", 2500, 1, extent{1 << 30, 700_000}, strings.Repeat("x", 1000), 2},
		{"many columns", 90, 1500, extent{1 << 30, 90 * 1500 * 8 / 2}, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := make([]table.Field, c.width)
			for i := range names {
				names[i].Name = fmt.Sprint("c", i)
			}
			keys, err := value.NewKeys(table.FieldNames(names))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "x.parquet")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var w *parquetWriter
			want, batch := 0, (c.rows+3)/4
			for at := 0; at < c.rows; at += batch {
				rows := make([]any, min(batch, c.rows-at))
				for i := range rows {
					values := make([]any, c.width)
					for j := range values {
						values[j] = int64(at + i)
					}
					if c.text != "" {
						values[0] = fmt.Sprint(at+i, c.text)
					}
					rows[i] = value.NewRow(keys, values)
				}
				if w == nil {
					if w, err = newParquetWriter(f, names, rows, true, codecs[""]); err != nil {
						t.Fatal(err)
					}
					w.limit = c.limit
				}
				if err := w.Write(t.Context(), rows); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
			text, groups := parquetDump(t, path)
			if groups != c.groups {
				t.Errorf("%d groups, want %d", groups, c.groups)
			}
			for i, line := range strings.Split(text, "\n")[1:] {
				if n := fmt.Sprint(i, c.text, ", "); !strings.HasPrefix(line, n) || c.width > 1 && !strings.HasSuffix(line, n) {
					t.Fatalf("row %d is %.50s", i, line)
				}
				want++
			}
			if want != c.rows {
				t.Errorf("%d rows, want %d", want, c.rows)
			}
		})
	}
}
