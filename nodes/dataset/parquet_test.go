package dataset_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// flights is a Parquet file of n rows.
func flights(t testing.TB, n int) string {
	t.Helper()
	type row struct {
		Delay  int64   `parquet:"delay,dict"`
		Origin *string `parquet:"origin,optional,dict"`
	}
	var out bytes.Buffer
	sjc := "SJC"
	list := make([]row, n)
	for i := range list {
		if list[i].Delay = int64(i % 10); i%2 == 0 {
			list[i].Origin = &sjc
		}
	}
	if err := parquet.Write(&out, list); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestParquet(t *testing.T) {
	whole := flights(t, 5000)
	dir := folder(t, map[string]string{"f.parquet": flights(t, 3), "in/1.parquet": flights(t, 1), "in/2.parquet": flights(t, 2), "many.parquet": whole, "cut.parquet": whole[:len(whole)/2], "x.dat": flights(t, 1)})
	const schema = `"schema":[{"column":"delay","type":"integer","nulls":0,"example":0},{"column":"origin","type":"string","nulls":1,"example":"SJC"}]`
	for _, c := range []struct{ node, want string }{
		{`{"source": "f.parquet", "writes": ["rows"]}`,
			`{"rows":[{"delay":0,"origin":"SJC"},{"delay":1,"origin":null},{"delay":2,"origin":"SJC"}]} -> {"path":"f.parquet","rows":3,"rejected":0,` + schema + `} (3 rows from f.parquet)`},
		{`{"source": "in/*.parquet", "select": ["origin"], "file_column": "file", "rejects": "bad", "checks": [{"name": "c", "expr": "$item.origin != null"}], "writes": ["rows", "bad"]}`,
			`{"bad":[{"row":3,"line":null,"file":"in/2.parquet","node":"n","check":"c","reason":"$item.origin != null is false, $item.origin = null","data":{"origin":null,"file":"in/2.parquet"}}],` +
				`"rows":[{"origin":"SJC","file":"in/1.parquet"},{"origin":"SJC","file":"in/2.parquet"}]} -> {"path":["in/1.parquet","in/2.parquet"],"rows":2,"rejected":1,` +
				`"schema":[{"column":"origin","type":"string","nulls":0,"example":"SJC"},{"column":"file","type":"string","nulls":0,"example":"in/1.parquet"}],` +
				`"quality":{"rows":3,"good":2,"rejected":1,"checks":[{"name":"c","expr":"$item.origin != null","severity":"error","passed":2,"failed":1,"examples":[{"row":3,"file":"in/2.parquet","value":{"$item.origin":null}}]}]}} partial_success (2 rows from in/1.parquet and 1 more, 1 rejected)`},
		{`{"source": "x.dat", "format": "parquet", "columns": {"delay": "string"}, "writes": ["rows"]}`,
			`{"rows":[{"delay":"0","origin":"SJC"}]} -> {"path":"x.dat","rows":1,"rejected":0,"schema":[{"column":"delay","type":"string","declared":true,"nulls":0,"example":"0"},{"column":"origin","type":"string","nulls":0,"example":"SJC"}]} (1 row from x.dat)`},
		{`{"source": "cut.parquet", "writes": ["rows"]}`, `cut.parquet: the Parquet file is cut off: it ends with `},
		{`{"source": "many.parquet", "max_failures": "9%", "checks": [{"name": "c", "expr": "$item.delay > 0"}], "writes": ["rows"]}`,
			`451 of 5000 rows are bad, more than 9% (max_failures), the first: many.parquet: row 1: check "c": $item.delay > 0 is false, $item.delay = 0`},
		{`{"source": ["f.parquet", "cut.parquet"], "optional": true, "limit": 3, "columns": {"delay": "boolean"}, "writes": ["rows"]}`, `f.parquet: column delay: the file has integer, the document wants boolean`},
	} {
		r, err := run(t, c.node, dir, core.Shared{})
		switch got := nodestest.Text(r); {
		case err == nil && got != c.want:
			t.Errorf("%s\n got %s\nwant %s", c.node, got, c.want)
		case err != nil && !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%s: error %v\nwant %s", c.node, err, c.want)
		}
	}
}

// The hash of a stream covers only what was read from a file: another value in a column that is not
// selected makes no difference.
func TestParquetStream(t *testing.T) {
	dir := folder(t, map[string]string{"f.parquet": flights(t, 3000)})
	hash := func(more string) string {
		rows, state, err := streamed(t, `{"source": "f.parquet", "stream": true, "writes": ["rows"]`+more+`}`, env(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := state.Get("rows")
		if n != int64(len(rows)) {
			t.Errorf("%d rows, the state says %v", len(rows), n)
		}
		sum, _ := state.Get("hash")
		return fmt.Sprint(sum)
	}
	all, delay := hash(""), hash(`, "select": ["delay"]`)
	if !strings.HasPrefix(all, "sha256:") || all != hash("") || all == delay {
		t.Errorf("hashes %s, %s", all, delay)
	}
	if got := hash(`, "limit": 10`); got != "<nil>" {
		t.Errorf("a part of the file has the hash %s", got)
	}
	_, ds := dataset.Kind.Compile(nodestest.Node(t, `{"source": "-", "format": "parquet", "max_row": "1MB", "header": true, "writes": ["rows"]}`), env(t, dir))
	const want = `1:12: error: node n: source: a Parquet file is read from its end and cannot come from standard input (save it as a file) [BAD_VALUE]
1:49: warning: node n: max_row: has no effect on parquet [IGNORED]
1:66: warning: node n: header: has no effect on parquet [IGNORED]`
	if got := strings.TrimSpace(nodestest.Findings(ds)); got != want {
		t.Errorf("findings %s", got)
	}
}
