package parquet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	parquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// files is a Source of files in memory.
type files struct{ list []File }

func (f *files) Next(context.Context) (File, error) {
	if len(f.list) == 0 {
		return File{}, io.EOF
	}
	first := f.list[0]
	f.list = f.list[1:]
	return first, nil
}

// written returns a file with these rows.
func written[T any](t testing.TB, name string, list []T, options ...parquet.WriterOption) File {
	t.Helper()
	var out bytes.Buffer
	if err := parquet.Write(&out, list, options...); err != nil {
		t.Fatal(err)
	}
	return ofBytes(name, out.Bytes())
}

func ofBytes(name string, data []byte) File {
	return File{name, int64(len(data)), bytes.NewReader(data)}
}

// readAll returns the good rows, the bad rows and the hash of files.
func readAll(o table.ReadOptions, list ...File) (good []any, bad []table.BadRow, sum string, err error) {
	hash := sha256.New()
	r := NewReader(&files{list}, o, hash)
	row := int64(0)
	for {
		b, err := r.Next(context.Background())
		if err == io.EOF {
			return good, bad, fmt.Sprintf("%x", hash.Sum(nil)), nil
		}
		if err != nil {
			return good, bad, "", err
		}
		for i := range b.Rows {
			if p := b.Place(i); p.Row <= row {
				return nil, nil, "", fmt.Errorf("row %d comes after row %d", p.Row, row)
			} else {
				row = p.Row
			}
		}
		good, bad = append(good, b.Rows...), append(bad, b.Bad...)
	}
}

type inner struct {
	X int32   `parquet:"x"`
	Y *string `parquet:"y,optional"`
}

type everything struct {
	Bool   bool             `parquet:"bool"`
	I8     int8             `parquet:"i8"`
	I32    int32            `parquet:"i32"`
	I64    *int64           `parquet:"i64,optional"`
	U8     uint8            `parquet:"u8"`
	U32    uint32           `parquet:"u32"`
	U64    uint64           `parquet:"u64"`
	F32    float32          `parquet:"f32"`
	F64    *float64         `parquet:"f64,optional"`
	Text   string           `parquet:"text"`
	Dict   *string          `parquet:"dict,optional,dict"`
	Enum   string           `parquet:"enum,enum"`
	JSON   string           `parquet:"json,json"`
	Bytes  []byte           `parquet:"bytes"`
	Fixed  [3]byte          `parquet:"fixed"`
	ID     [16]byte         `parquet:"id,uuid"`
	Small  int32            `parquet:"small,decimal(2:9)"`
	Money  int64            `parquet:"money,decimal(3:18)"`
	Big    [9]byte          `parquet:"big,decimal(4:20)"`
	Day    int32            `parquet:"day,date"`
	Clock  int32            `parquet:"clock,time(millisecond)"`
	Fine   int64            `parquet:"fine,time(nanosecond)"`
	Milli  time.Time        `parquet:"milli,timestamp(millisecond)"`
	Micro  int64            `parquet:"micro,timestamp(microsecond)"`
	Local  int64            `parquet:"local,timestamp(nanosecond:local)"`
	Old    deprecated.Int96 `parquet:"old"`
	Tags   []string         `parquet:"tags,list"`
	Bare   []int32          `parquet:"bare"`
	Group  inner            `parquet:"group"`
	Maybe  *inner           `parquet:"maybe,optional"`
	Groups []inner          `parquet:"groups,list"`
	Map    map[string]int64 `parquet:"map"`
	IntMap map[int64]string `parquet:"intmap"`
	Matrix [][]int64        `parquet:"matrix,list"`
}

func sample() []everything {
	n, f, y, d := int64(math.MaxInt64), 0.1, "why", "dd"
	micro := time.Date(2001, 2, 14, 15, 12, 0, 250_000_000, time.UTC)
	return []everything{
		{true, -8, -32, &n, 200, 4_000_000_000, 9_000_000_000_000_000_000, 0.5, &f, "é", &d, "RED", `{"a":[1,2.0]}`, []byte{0xff, 0}, [3]byte{1, 2, 3},
			[16]byte{0xf8, 0x1d, 0x4f, 0xae, 0x7d, 0xec, 0x11, 0xd0, 0xa7, 0x65, 0, 0xa0, 0xc9, 0x1e, 0x6b, 0xf6}, -1234, 5, [9]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe},
			11367, 54_720_500, 54_720_000_000_001, micro, micro.UnixMicro(), micro.UnixNano() + 5, deprecated.Int96{0, 0, 2440588 + 11367},
			[]string{"a", "", "c"}, []int32{1, 2}, inner{1, &y}, &inner{2, nil}, []inner{{3, &y}, {4, nil}}, map[string]int64{"k": 1}, map[int64]string{7: "x"}, [][]int64{{1, 2}, {}, {3}}},
		{},
	}
}

const wantSample = `[{"bool":true,"i8":-8,"i32":-32,"i64":9223372036854775807,"u8":200,"u32":4000000000,"u64":9000000000000000000,"f32":0.5,"f64":0.1,"text":"é","dict":"dd","enum":"RED","json":{"a":[1,2.0]},` +
	`"bytes":"/wA=","fixed":"AQID","id":"f81d4fae-7dec-11d0-a765-00a0c91e6bf6","small":"-12.34","money":"0.005","big":"-0.0002","day":"2001-02-14","clock":"15:12:00.5","fine":"15:12:00.000000001",` +
	`"milli":"2001-02-14T15:12:00.25Z","micro":"2001-02-14T15:12:00.25Z","local":"2001-02-14T15:12:00.250000005","old":"2001-02-14T00:00:00Z",` +
	`"tags":["a","","c"],"bare":[1,2],"group":{"x":1,"y":"why"},"maybe":{"x":2,"y":null},"groups":[{"x":3,"y":"why"},{"x":4,"y":null}],"map":{"k":1},"intmap":[{"key":7,"value":"x"}],"matrix":[[1,2],[],[3]]},` +
	`{"bool":false,"i8":0,"i32":0,"i64":null,"u8":0,"u32":0,"u64":0,"f32":0.0,"f64":null,"text":"","dict":null,"enum":"","json":null,"bytes":"","fixed":"AAAA","id":"00000000-0000-0000-0000-000000000000","small":"0.00","money":"0.000","big":"0.0000",` +
	`"day":"1970-01-01","clock":"00:00:00","fine":"00:00:00","milli":"0001-01-01T00:00:00Z","micro":"1970-01-01T00:00:00Z","local":"1970-01-01T00:00:00","old":"-4713-11-24T00:00:00Z",` +
	`"tags":[],"bare":[],"group":{"x":0,"y":null},"maybe":null,"groups":[],"map":{},"intmap":[],"matrix":[]}]`

func TestTypes(t *testing.T) {
	list := sample()
	list[1].JSON = "null"
	for _, version := range []int{1, 2} {
		f := written(t, "all.parquet", list, parquet.DataPageVersion(version))
		good, bad, _, err := readAll(table.ReadOptions{}, f)
		if err != nil || len(bad) > 0 {
			t.Fatal(bad, err)
		}
		if got := value.JSON(good); got != wantSample {
			t.Errorf("version %d:\n got %s\nwant %s", version, got, wantSample)
		}
	}
}

// Many rows in many pages and row groups, with columns of every kind, are read as they
// were written.
func TestPagesAndGroups(t *testing.T) {
	type row struct {
		N     int64    `parquet:"n"`
		Plain *int64   `parquet:"plain,optional"`
		Dict  *string  `parquet:"dict,optional,dict"`
		Const string   `parquet:"const,dict"`
		List  []string `parquet:"list,list"`
	}
	var list []row
	want := []any{}
	for i := range int64(5000) {
		r := row{N: i, Const: "c"}
		o := value.ObjectOf("n", i, "plain", nil, "dict", nil, "const", "c", "list", []any{})
		if i%3 != 0 {
			v := i * 1_000_003
			r.Plain = &v
			o.Set("plain", v)
		}
		if i%5 != 0 {
			v := fmt.Sprint("d", i%17)
			r.Dict = &v
			o.Set("dict", v)
		}
		for j := range i % 4 {
			r.List = append(r.List, fmt.Sprint(i, ".", j))
			o.Set("list", append(o.Map()["list"].([]any), fmt.Sprint(i, ".", j)))
		}
		list, want = append(list, r), append(want, o)
	}
	for _, version := range []int{1, 2} {
		f := written(t, "f", list, parquet.PageBufferSize(300), parquet.MaxRowsPerRowGroup(1700), parquet.DataPageVersion(version))
		p, err := parquet.OpenFile(f, f.Size)
		if err != nil || len(p.RowGroups()) != 3 {
			t.Fatal(err, len(p.RowGroups()))
		}
		good, bad, _, err := readAll(table.ReadOptions{}, f)
		if err != nil || len(bad) > 0 || value.JSON(good) != value.JSON(want) {
			t.Errorf("version %d: %d rows, %v, %v", version, len(good), bad, err)
		}
		for _, limit := range []int64{1, 1024, 1700, 1701, 4999, 5000, 6000} {
			good, _, _, err := readAll(table.ReadOptions{Limit: limit, Select: []string{"list", "n"}}, f)
			n := min(int(limit), 5000)
			if err != nil || len(good) != n {
				t.Fatalf("limit %d: %d rows, %v", limit, len(good), err)
			}
			last := want[n-1].(*value.Object).Map()
			if got := value.JSON(good[n-1]); got != value.JSON(value.ObjectOf("list", last["list"], "n", last["n"])) {
				t.Errorf("limit %d: the last row is %s", limit, got)
			}
		}
	}
}

func TestBadRows(t *testing.T) {
	type row struct {
		F float64 `parquet:"f"`
		U uint64  `parquet:"u"`
		S string  `parquet:"s,dict"`
		J string  `parquet:"j,json"`
	}
	list := []row{{1, 1, "a", "1"}, {math.NaN(), 1, "a", "1"}, {math.Inf(-1), 1, "a", "1"}, {1, math.MaxUint64, "a", "1"}, {1, 1, "\xff", "1"}, {1, 1, "a", "{"}, {2, 2, "b", "2"}}
	good, bad, _, err := readAll(table.ReadOptions{RowType: &value.Type{Kind: value.ObjectType, Properties: []value.Property{{Name: "s", Type: &value.Type{Kind: value.StringType, Enum: []any{"a"}}}}}}, written(t, "f", list))
	if err != nil || value.JSON(good) != `[{"f":1.0,"u":1,"s":"a","j":1},{"f":null,"u":1,"s":"a","j":1}]` {
		t.Errorf("%s, %v", value.JSON(good), err)
	}
	var reasons []string
	for _, b := range bad {
		reasons = append(reasons, fmt.Sprint(b.Row, " ", b.Reason))
	}
	const want = `3 f: infinity is not a number here|4 u: 18446744073709551615 does not fit 64 bits with a sign|5 s: the text is not UTF-8|6 j: the JSON cannot be read: the JSON value is cut off|7 s: want one of ["a"], got string "b"`
	if got := strings.Join(reasons, "|"); got != want {
		t.Errorf("bad rows %s\nwant %s", got, want)
	}
}

func TestDeclaredTypes(t *testing.T) {
	type row struct {
		I int64   `parquet:"i"`
		B []byte  `parquet:"b"`
		D int32   `parquet:"d,decimal(2:9)"`
		E int32   `parquet:"e,decimal(0:9)"`
		O bool    `parquet:"o"`
		F float64 `parquet:"f"`
		L []int64 `parquet:"l,list"`
	}
	f := written(t, "f", []row{{7, []byte("text"), 1250, 42, true, 1.5, []int64{1}}})
	declare := func(name string, k value.TypeKind) table.ReadOptions {
		return table.ReadOptions{Types: table.Types{{Name: name, Kind: k}}, Select: []string{name}}
	}
	for _, c := range []struct {
		o    table.ReadOptions
		want string
	}{
		{declare("i", value.StringType), `[{"i":"7"}]`}, {declare("i", value.NumberType), `[{"i":7.0}]`}, {declare("i", value.IntegerType), `[{"i":7}]`},
		{declare("b", value.StringType), `[{"b":"text"}]`}, {declare("d", value.NumberType), `[{"d":12.5}]`}, {declare("d", value.StringType), `[{"d":"12.50"}]`},
		{declare("e", value.IntegerType), `[{"e":42}]`}, {declare("o", value.StringType), `[{"o":"true"}]`}, {declare("f", value.StringType), `[{"f":"1.5"}]`}, {declare("l", value.ArrayType), `[{"l":[1]}]`},
		{declare("d", value.IntegerType), "f: column d: the file has string, the document wants integer"},
		{declare("f", value.IntegerType), "f: column f: the file has number, the document wants integer"},
		{declare("l", value.StringType), "f: column l: the file has array, the document wants string"},
		{declare("ii", value.StringType), `f: the file has no column "ii", did you mean "i"?`},
		{table.ReadOptions{Select: []string{"x"}}, `f: the file has no column "x"; it has "i", "b", "d", "e", "o", "f", "l"`},
		{table.ReadOptions{FileColumn: "i"}, `f: key "i" appears twice`},
		{table.ReadOptions{FileColumn: "from", Select: []string{"i"}}, `[{"i":7,"from":"f"}]`},
	} {
		good, bad, _, err := readAll(c.o, f)
		if got := value.JSON(good); err == nil && (got != c.want || len(bad) > 0) || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %s, %v, %v, want %s", c.o, got, bad, err, c.want)
		}
	}
}

func TestSeveralFiles(t *testing.T) {
	type ab struct {
		A int64  `parquet:"a"`
		B string `parquet:"b"`
	}
	type ba struct {
		B string `parquet:"b,dict"`
		A int32  `parquet:"a"`
	}
	type other struct {
		A string `parquet:"a"`
		B string `parquet:"b"`
	}
	type less struct {
		A int64 `parquet:"a"`
	}
	type more struct {
		A int64  `parquet:"a"`
		B string `parquet:"b"`
		C string `parquet:"c"`
	}
	one, two := written(t, "1", []ab{{1, "x"}}), written(t, "2", []ba{{"y", 2}})
	good, _, sum, err := readAll(table.ReadOptions{Several: true, FileColumn: "f"}, one, two, written(t, "none", []ab{}))
	if err != nil || value.JSON(good) != `[{"a":1,"b":"x","f":"1"},{"a":2,"b":"y","f":"2"}]` {
		t.Errorf("%s, %v", value.JSON(good), err)
	}
	if _, _, again, _ := readAll(table.ReadOptions{}, one, two, written(t, "none", []ab{})); again != sum {
		t.Error("the same files have two hashes")
	}
	if _, _, changed, _ := readAll(table.ReadOptions{}, one, written(t, "2", []ba{{"z", 2}}), written(t, "none", []ab{})); changed == sum {
		t.Error("other data has the same hash")
	}
	for want, f := range map[string]File{
		"f: column a is string, in 1 it is integer; the files of one table have the same columns": written(t, "f", []other{{}}),
		`f: there is no column "b", which 1 has; the files of one table have the same columns`:    written(t, "f", []less{{}}),
		`f: the column "c" is not in 1; the files of one table have the same columns`:             written(t, "f", []more{{}}),
	} {
		if _, _, _, err := readAll(table.ReadOptions{}, one, f); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, _, _, err := readAll(table.ReadOptions{Select: []string{"a"}}, one, written(t, "f", []less{{}})); err != nil {
		t.Errorf("files that agree in the selected columns: %v", err)
	}
}

// A file that is cut off anywhere causes an error that names the file, before the first
// row, because the footer is at the end.
func TestCutShort(t *testing.T) {
	whole := new(bytes.Buffer)
	if err := parquet.Write(whole, sample()[:1]); err != nil {
		t.Fatal(err)
	}
	data := whole.Bytes()
	for n := range data {
		good, bad, _, err := readAll(table.ReadOptions{}, ofBytes("cut.parquet", data[:n]))
		if err == nil || len(good)+len(bad) > 0 || !strings.HasPrefix(err.Error(), "cut.parquet: ") {
			t.Fatalf("%d of %d bytes: %d rows, %v", n, len(data), len(good), err)
		}
	}
	for want, text := range map[string]string{
		"f: it has 3 bytes and is not a Parquet file":                                 "PAR",
		`f: it is not a Parquet file: it begins with "id,n", want "PAR1"`:             "id,name\n1,Ada\n2,Bob\n",
		`f: the Parquet file is cut off: it ends with "1234", want "PAR1"`:            "PAR1 and more 1234",
		"f: the Parquet file is cut off: its footer has 808464432 bytes, the file 20": "PAR1        0000PAR1",
		"f: the Parquet file is encrypted, and encrypted files are not read":          "PARE        0000PARE",
	} {
		if _, _, _, err := readAll(table.ReadOptions{}, ofBytes("f", []byte(text))); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// FuzzDamage changes bytes of a file. Reading must succeed or return an error. It must
// never panic or return a row with values of wrong types.
func FuzzDamage(f *testing.F) {
	type row struct {
		N *int64   `parquet:"n,optional"`
		S string   `parquet:"s,dict"`
		T string   `parquet:"t"`
		L []string `parquet:"l,list"`
	}
	n := int64(7)
	data := new(bytes.Buffer)
	if err := parquet.Write(data, []row{{&n, "a", "b", []string{"x", "y"}}, {nil, "a", "c", nil}, {&n, "b", "", []string{"z"}}}, parquet.Compression(&parquet.Snappy)); err != nil {
		f.Fatal(err)
	}
	whole := data.Bytes()
	for at := range whole {
		f.Add(uint16(at), byte(0xff))
	}
	f.Fuzz(func(t *testing.T, at uint16, with byte) {
		damaged := bytes.Clone(whole)
		damaged[int(at)%len(damaged)] ^= with
		good, bad, _, err := readAll(table.ReadOptions{}, ofBytes("f", damaged))
		if len(good)+len(bad) > 3 && err == nil {
			t.Fatalf("%d rows", len(good)+len(bad))
		}
		for _, r := range good {
			if _, err := value.Canonical(r); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// brokenReader fails after a number of bytes.
type brokenReader struct {
	io.ReaderAt
	from, to int64
}

func (b brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off < b.to && off+int64(len(p)) > b.from {
		return 0, errors.New("the disk is broken")
	}
	return b.ReaderAt.ReadAt(p, off)
}

func TestDiskError(t *testing.T) {
	f := written(t, "f", sample()[:1])
	for from, want := range map[int64]string{4: "f: row group 1, column bool: the header of the page at byte 4: ", 0: "f: "} {
		f := f
		f.ReaderAt = brokenReader{f.ReaderAt, from, 100}
		if _, _, _, err := readAll(table.ReadOptions{}, f); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "the disk is broken") {
			t.Errorf("error %v", err)
		}
	}
}

// The header of a page must not make the library allocate gigabytes.
func TestHugePages(t *testing.T) {
	for want, h := range map[string]format.PageHeader{
		"": {Type: format.DataPage, CompressedPageSize: 1, UncompressedPageSize: 1, DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 9})},
		"the page at byte 0 expands to 1073741824 bytes, more than the 536870912 that are allowed":                {Type: format.DataPage, CompressedPageSize: 1, UncompressedPageSize: 1 << 30},
		"the page at byte 0 has 10 bytes, which are not in the file: it is damaged":                               {Type: format.DataPage, CompressedPageSize: 10},
		"the page at byte 0 has 10 values, more than the row group or than the 33554432 that are allowed":         {Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 10})},
		"the page at byte 0 has 2147483647 values, more than the row group or than the 33554432 that are allowed": {Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumRows: math.MaxInt32})},
		"the page at byte 0 has 1073741824 values, more than the row group or than the 33554432 that are allowed": {Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: 1 << 30})},
	} {
		data, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, 0)
		if h.CompressedPageSize == 0 {
			data = data[:len(data)-1]
		}
		if err := checkPages(bytes.NewReader(data), 0, int64(len(data)), 9); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := NewReader(&files{[]File{written(t, "f", make([]inner, 3000))}}, table.ReadOptions{}, nil)
	if _, err := r.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if r.Total() != 3000 {
		t.Errorf("total %d", r.Total())
	}
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
