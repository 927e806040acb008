package journal

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

func text(s string) source.Text { return source.Text{Value: s} }

// compiled returns a plan of the node n, which writes the fields any, ints of the Go type []int and
// number of the Go type int, and of the fan-out f, which writes ints.
func compiled(t testing.TB) *plan.Plan {
	t.Helper()
	h := core.HandlerFunc(nil) // the tests answer instead
	w := &core.Workflow{Name: text("w"),
		Fields: []core.FieldDecl{
			{Name: text("any"), Default: value.Missing},
			{Name: text("ints"), Default: value.Missing, Go: value.GoTypeFor[[]int](), Merge: text("array_append")},
			{Name: text("number"), Default: value.Missing, Go: value.GoTypeFor[int]()},
			{Name: text("list"), Default: []any{int64(1)}},
		},
		Nodes: []*core.Node{
			{ID: text("n"), Handler: h, Writes: []source.Text{text("any"), text("number")}, HasWrites: true},
			{ID: text("f"), Handler: h, Writes: []source.Text{text("ints")}, HasWrites: true, ForEach: &core.ForEach{Source: text("$.list")}},
		}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// commandOf returns a command for a node, as the machine issues it.
func commandOf(p *plan.Plan, node string, from, to int32) *machine.Command {
	n, _ := p.Node(node)
	return &machine.Command{Op: machine.OpRun, ID: machine.ID{Node: n.Index, From: from, To: to, Attempt: 1}, Plan: p, Node: n}
}

func encoded(t *testing.T, k *Codec, c *machine.Command, e *machine.Event) string {
	t.Helper()
	var x Encoded
	if err := k.AppendEvent(&x, c, e); err != nil {
		t.Fatal(err)
	}
	return string(x.JSON)
}

func decoded(t *testing.T, k *Codec, data string) *machine.Event {
	t.Helper()
	e, err := k.DecodeEvent([]byte(data))
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return e
}

func TestEventsComeBack(t *testing.T) {
	p := compiled(t)
	n, f := commandOf(p, "n", 0, 0), commandOf(p, "f", 2, 5)
	write := func(v any) machine.Outcome { return machine.Outcome{Writes: []plan.Write{{Field: 0, Value: v}}} }
	ints := func(writes map[int]any) []*state.ItemWrites {
		w := state.NewItemWrites(&p.Schema.Fields[1], 3)
		for i, v := range writes {
			w.Set(i, v)
		}
		return []*state.ItemWrites{w}
	}
	frame := machine.ID{Frame: 7, Node: 0, From: 3, To: 4, Attempt: 2}
	inner := &machine.Command{Op: machine.OpTimer, ID: frame, Plan: p, Node: n.Node}
	for _, tt := range []struct {
		name string
		c    *machine.Command
		e    machine.Event
		want string
	}{
		{"nothing", n, machine.Event{Started: 5, Ended: 9}, `{"node":"n","attempt":1,"started":5,"ended":9}`},
		{"cancel", nil, machine.Event{Kind: machine.Cancel, Ended: 4}, `{"kind":"cancel","ended":4}`},
		{"timer", inner, machine.Event{Kind: machine.TimerFired, Ended: 8}, `{"kind":"fired","node":"n","frame":7,"from":3,"to":4,"attempt":2,"ended":8}`},
		{"expired", inner, machine.Event{Kind: machine.Expired}, `{"kind":"expired","node":"n","frame":7,"from":3,"to":4,"attempt":2}`},
		{"gone", n, machine.Event{Kind: machine.Gone}, `{"kind":"gone","node":"n","attempt":1}`},
		{"placed", n, machine.Event{Kind: machine.Placed, Outcome: write(nil)}, `{"kind":"placed","node":"n","attempt":1,"outcome":{"writes":{"any":null}}}`},
		{"write", n, machine.Event{Outcome: write([]any{int64(1), 1.0, "a\n", true, value.ObjectOf("k", nil)})},
			`{"node":"n","attempt":1,"outcome":{"writes":{"any":[1,1.0,"a\n",true,{"k":null}]}}}`},
		{"go type", n, machine.Event{Outcome: machine.Outcome{Writes: []plan.Write{{Field: 2, Value: 12}}}}, `{"node":"n","attempt":1,"outcome":{"writes":{"number":12}}}`},
		{"null output", n, machine.Event{Outcome: machine.Outcome{HasOutput: true}}, `{"node":"n","attempt":1,"outcome":{"output":null}}`},
		{"missing output", n, machine.Event{Outcome: machine.Outcome{HasOutput: true, Output: value.Missing}}, `{"node":"n","attempt":1,"outcome":{"output":{"$missing":true}}}`},
		{"mark", n, machine.Event{Outcome: write([]any{value.ObjectOf("$blob", "x", "bytes", int64(1)), value.ObjectOf("$value", value.ObjectOf("$secret", "x")), value.ObjectOf("$missing", true)})},
			`{"node":"n","attempt":1,"outcome":{"writes":{"any":[{"$value":{"$blob":"x","bytes":1}},{"$value":{"$value":{"$value":{"$secret":"x"}}}},{"$value":{"$missing":true}}]}}}`},
		{"not UTF-8", n, machine.Event{Outcome: write("a\xff")}, `{"node":"n","attempt":1,"outcome":{"writes":{"any":"\u0000bytes:Yf8="}}}`},
		{"like not UTF-8", n, machine.Event{Outcome: write("\x00bytes:x")}, `{"node":"n","attempt":1,"outcome":{"writes":{"any":"\u0000bytes:AGJ5dGVzOng="}}}`},
		{"like a secret", n, machine.Event{Outcome: write("\x00secret:X\x00")}, `{"node":"n","attempt":1,"outcome":{"writes":{"any":"\u0000secret:\u0000X\u0000"}}}`},
		{"range", f, machine.Event{}, `{"node":"f","from":2,"to":5,"attempt":1}`},
		{"range of writes", f, machine.Event{Started: 100, Ended: 140, Writes: ints(map[int]any{0: []int{1}, 2: []int{}}), Ends: []int64{110, 115, 140}},
			`{"node":"f","from":2,"to":5,"attempt":1,"started":100,"ended":140,"writes":{"ints":[[1],{"$missing":true},[]]},"ends":[10,5,25]}`},
		{"range of outcomes", f, machine.Event{Items: []machine.Outcome{{}, {Failure: &core.Failure{Class: "x", Message: "m"}}, {}}, Writes: ints(map[int]any{0: []int{1}})},
			`{"node":"f","from":2,"to":5,"attempt":1,"items":{"1":{"failure":{"class":"x","message":"m"}}},"writes":{"ints":[[1],{"$missing":true},{"$missing":true}]}}`},
		{"range of one outcome", f, machine.Event{Outcome: machine.Outcome{Note: "n"}}, `{"node":"f","from":2,"to":5,"attempt":1,"outcome":{"note":"n"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &Codec{Plan: p}
			if tt.c != nil {
				tt.e.ID = tt.c.ID
			}
			got := encoded(t, k, tt.c, &tt.e)
			if got != tt.want {
				t.Fatalf("got  %s\nwant %s", got, tt.want)
			}
			back := decoded(t, k, got)
			if again := encoded(t, k, tt.c, back); again != got {
				t.Errorf("came back as %s\nwant %s", again, got)
			}
			if tt.e.Writes == nil && !reflect.DeepEqual(back, &tt.e) {
				t.Errorf("came back as %+v, want %+v", back, &tt.e)
			}
		})
	}
}

// TestEveryFieldOfAnAnswer fails if a field is added to an answer and not to its JSON form.
func TestEveryFieldOfAnAnswer(t *testing.T) {
	p := compiled(t)
	c, k := commandOf(p, "n", 0, 0), &Codec{Plan: p}
	e := &machine.Event{ID: c.ID}
	n := int64(0)
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		n++
		switch v.Interface().(type) {
		case *value.Object:
			v.Set(reflect.ValueOf(value.ObjectOf("k", n)))
			return
		case []plan.Write:
			v.Set(reflect.ValueOf([]plan.Write{{Field: 0, Value: n}}))
			return
		}
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				if name := v.Type().Field(i).Name; name != "Cause" && name != "Items" && name != "Ends" && name != "ID" && !(v.Type() == reflect.TypeFor[machine.Event]() && name == "Writes") {
					fill(v.Field(i))
				}
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			if v.Type() != reflect.TypeFor[[]machine.Claim]() {
				fill(v.Index(0))
			} else {
				v.Index(0).Field(0).SetString("inner")
			}
		case reflect.String:
			v.SetString(fmt.Sprint("s", n))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Float64:
			v.SetFloat(float64(n) + 0.5)
		case reflect.Interface:
			v.Set(reflect.ValueOf(n))
		case reflect.Uint8:
			v.SetUint(1)
		default:
			v.SetInt(n)
		}
	}
	fill(reflect.ValueOf(e).Elem())
	e.Kind = machine.Placed
	data := encoded(t, k, c, e)
	if back := decoded(t, k, data); !reflect.DeepEqual(back, e) {
		t.Errorf("%s\ncame back as %+v %+v\nwant %+v %+v", data, back, back.Outcome, e, e.Outcome)
	}
}

func TestLargeValuesAreBlobs(t *testing.T) {
	p := compiled(t)
	blobs := map[string][]byte{}
	k := &Codec{Plan: p,
		Put: func(data []byte) (string, error) {
			sum := fmt.Sprint("sha256:", len(blobs))
			blobs[sum] = bytes.Clone(data)
			return sum, nil
		},
		Get: func(sum string) ([]byte, error) { return blobs[sum], nil }}
	big := strings.Repeat("x", MaxInline)
	c := commandOf(p, "n", 0, 0)
	e := &machine.Event{ID: c.ID, Outcome: machine.Outcome{Writes: []plan.Write{{Value: big}}, Output: big[1:], HasOutput: true}}
	var x Encoded
	if err := k.AppendEvent(&x, c, e); err != nil {
		t.Fatal(err)
	}
	if want := `{"node":"n","attempt":1,"outcome":{"writes":{"any":{"$blob":"sha256:0","bytes":65538}},"output":{"$blob":"sha256:1","bytes":65537}}}`; string(x.JSON) != want || len(x.Blobs) != 2 {
		t.Fatalf("got %.200s %q, want %s", x.JSON, x.Blobs, want)
	}
	if back := decoded(t, k, string(x.JSON)); !reflect.DeepEqual(back, e) {
		t.Errorf("came back as %.300v", back)
	}
	e.Outcome.Writes[0].Value, e.Outcome.Output = big[2:], nil // exactly the limit
	x = Encoded{}
	if err := k.AppendEvent(&x, c, e); err != nil || len(x.Blobs) != 0 {
		t.Errorf("%q, %v", x.Blobs, err)
	}
}

func TestSecretsDoNotReachAJournal(t *testing.T) {
	p := compiled(t)
	blobs := map[string][]byte{}
	k := &Codec{Plan: p, Secrets: secret.NewSealer(map[string]string{"TOKEN": "hunter2/x", "PIN": "8675309", "SHORT": "abc"}),
		Put: func(data []byte) (string, error) { blobs["b"] = bytes.Clone(data); return "b", nil },
		Get: func(sum string) ([]byte, error) { return blobs[sum], nil }}
	c := commandOf(p, "n", 0, 0)
	e := &machine.Event{ID: c.ID, Outcome: machine.Outcome{Note: "n hunter2/x", Text: "hunter2%2Fx", HasOutput: true, Output: strings.Repeat("hunter2/x ", 1e4),
		Failure: &core.Failure{Message: "m hunter2/x", Stack: "aHVudGVyMi94"}, Writes: []plan.Write{
			{Value: []any{int64(8675309), 8675309.0, "abc", "8675309", value.ObjectOf("hunter2/x", "68756e746572322f78"), "\x00secret:TOKEN\x00", "\xffhunter2/x"}}, {Field: 2, Value: 8675309}}}}
	data := encoded(t, k, c, e)
	for _, leak := range []string{"hunter2", "8675309", "aHVudGVyMi94", "68756e74"} {
		if strings.Contains(data+string(blobs["b"]), leak) {
			t.Errorf("%s is in %s", leak, data)
		}
	}
	if back := decoded(t, k, data); !reflect.DeepEqual(back, e) {
		t.Errorf("%s\ncame back as %+v", data, back.Outcome)
	}
	other := &Codec{Plan: p, Secrets: secret.NewSealer(map[string]string{"PIN": "8675309"}), Get: k.Get}
	if _, err := other.DecodeEvent([]byte(data)); err == nil || !strings.Contains(err.Error(), "the secret TOKEN:") {
		t.Errorf("without TOKEN: %v", err)
	}
}

// typedRange is the answer to a range whose items have each written a number.
func typedRange(p *plan.Plan, n int) (*machine.Command, *machine.Event) {
	c := commandOf(p, "f", 0, int32(n))
	numbers := make([]int, n)
	w := state.TypedItemWrites(&p.Schema.Fields[1], numbers)
	e := &machine.Event{ID: c.ID, Started: 1e9, Ended: 1e9 + int64(n)*120, Writes: []*state.ItemWrites{w}}
	for i := range numbers {
		numbers[i] = i * 1001
		_ = w.Accept(i)
		e.Ends = append(e.Ends, 1e9+int64(i)*120)
	}
	return c, e
}

func TestTypedRange(t *testing.T) {
	p := compiled(t)
	c, e := typedRange(p, 4)
	k := &Codec{Plan: p}
	e.Writes[0].Drop(1)
	data := encoded(t, k, c, e)
	if want := `"writes":{"ints":[[0],{"$missing":true},[2002],[3003]]},"ends":[0,120,120,120]}`; !strings.HasSuffix(data, want) {
		t.Errorf("got %s, want %s", data, want)
	}
	if again := encoded(t, k, c, decoded(t, k, data)); again != data {
		t.Errorf("came back as %s, want %s", again, data)
	}
}

// TestEventsTakeNoAllocation: workers write every answer.
func TestEventsTakeNoAllocation(t *testing.T) {
	p := compiled(t)
	k := &Codec{Plan: p}
	n := commandOf(p, "n", 0, 0)
	ranged, e := typedRange(p, 256)
	for name, tt := range map[string]struct {
		c *machine.Command
		e *machine.Event
	}{
		"nothing": {n, &machine.Event{ID: n.ID, Started: 1e9, Ended: 2e9}},
		"write":   {n, &machine.Event{ID: n.ID, Outcome: machine.Outcome{Writes: []plan.Write{{Value: "some text"}}}}},
		"failure": {n, &machine.Event{ID: n.ID, Outcome: machine.Outcome{Failure: &core.Failure{Class: core.ClassError, Message: "m\n"}}}},
		"range":   {ranged, e},
	} {
		var x Encoded
		if got := testing.AllocsPerRun(100, func() {
			x.JSON = x.JSON[:0]
			if err := k.AppendEvent(&x, tt.c, tt.e); err != nil {
				t.Fatal(err)
			}
		}); got > 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
	if size := len(encoded(t, k, ranged, e)); size > 60*256 {
		t.Errorf("a range of 256 numbers takes %d bytes", size)
	}
	commands, issuer := []machine.Command{*n, *ranged}, new(Issuer)
	if got := testing.AllocsPerRun(100, func() { issuer.Issued(commands) }); got > 0 {
		t.Errorf("Issued: %v allocations", got)
	}
}

// rowsOf returns rows like those of a table with strings and numbers.
func rowsOf(n int) []any {
	keys, err := value.NewKeys([]string{"date", "delay", "distance", "origin", "destination"})
	if err != nil {
		panic(err)
	}
	rows := make([]any, n)
	for i := range rows {
		rows[i] = value.NewRow(keys, []any{"2001/02/14 15:12", int64(i%60 - 10), int64(342 + i), "SJC", "SNA"})
	}
	return rows
}

func BenchmarkAppendEvent(b *testing.B) {
	p := compiled(b)
	n := commandOf(p, "n", 0, 0)
	ranged, e := typedRange(p, 256)
	rows := rowsOf(10_000)
	for _, s := range []struct {
		name string
		c    *machine.Command
		e    *machine.Event
		per  int
	}{
		{"nothing", n, &machine.Event{ID: n.ID, Started: 1234567890, Ended: 1234568990}, 1},
		{"string", n, &machine.Event{ID: n.ID, Started: 1234567890, Ended: 1234568990, Outcome: machine.Outcome{Writes: []plan.Write{{Value: "some text"}}}}, 1},
		{"range", ranged, e, 256},
		{"rows", n, &machine.Event{ID: n.ID, Outcome: machine.Outcome{Writes: []plan.Write{{Value: rows}}}}, len(rows)},
	} {
		b.Run("answer="+s.name, func(b *testing.B) {
			k := &Codec{Plan: p}
			var x Encoded
			b.ReportAllocs()
			for b.Loop() {
				x.JSON = x.JSON[:0]
				if err := k.AppendEvent(&x, s.c, s.e); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*s.per), "ns/item")
			b.ReportMetric(float64(len(x.JSON))/float64(s.per), "B/item")
		})
	}
	b.Run("answer=rows,first", func(b *testing.B) { // the buffer grows
		k := &Codec{Plan: p}
		b.ReportAllocs()
		for b.Loop() {
			if err := k.AppendEvent(&Encoded{}, n, &machine.Event{ID: n.ID, Outcome: machine.Outcome{Writes: []plan.Write{{Value: rows}}}}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/item")
	})
	b.Run("issued=256", func(b *testing.B) {
		commands, issuer := []machine.Command{*ranged}, new(Issuer)
		for b.Loop() {
			issuer.Issued(commands)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256), "ns/item")
	})
}

// FuzzDecodeEvent: whatever a damaged journal contains, the result is an error or an event that has
// the same form again.
func FuzzDecodeEvent(f *testing.F) {
	p := compiled(f)
	for _, s := range []string{`{"node":"n","attempt":1,"outcome":{"writes":{"any":[1,{"$value":{"$blob":"x"}}]},"failure":{"class":"x"}}}`,
		`{"node":"f","from":2,"to":4,"attempt":1,"items":{"1":{"note":"x"}},"writes":{"ints":[[1],{"$missing":true}]},"ends":[1,2]}`,
		`{"kind":"cancel","ended":3}`, `{"watch":"","frame":3,"attempt":1}`, `{"run":"a/b","attempt":1}`, `{"node":"n","rows":{"from":1,"n":2,"sum":3}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		k := &Codec{Plan: p, Rows: true}
		e, err := k.DecodeEvent([]byte(data))
		if err != nil || e.Kind == machine.Cancel {
			return
		}
		c := &machine.Command{Op: machine.OpRun, ID: e.ID, Plan: p}
		if e.ID.Node >= 0 {
			c.Node = &p.Nodes[e.ID.Node]
		}
		var x, y Encoded
		if k.AppendEvent(&x, c, e) != nil {
			return // a Row, or items that do not fit
		}
		back, err := k.DecodeEvent(x.JSON)
		if err != nil {
			t.Fatalf("%s: %v", x.JSON, err)
		}
		if err := k.AppendEvent(&y, c, back); err != nil || !bytes.Equal(x.JSON, y.JSON) {
			t.Fatalf("%s came back as %s, %v", x.JSON, y.JSON, err)
		}
	})
}
