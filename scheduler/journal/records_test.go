package journal

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// TestEveryOptionIsInTheHead fails if an option is added to the machine and not to the head.
func TestEveryOptionIsInTheHead(t *testing.T) {
	var o machine.Options
	v := reflect.ValueOf(&o).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("run")
		case reflect.Int:
			f.SetInt(int64(i) + 3)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Uint64:
			f.SetUint(1<<63 + 5)
		case reflect.Slice:
			if f.Type() == reflect.TypeFor[[]machine.Assignment]() {
				f.Set(reflect.ValueOf([]machine.Assignment{{Path: "rates.usd", Value: []any{int64(1), 1.5, nil}, Before: "b"}}))
				continue
			}
			if f.Type() == reflect.TypeFor[[]string]() {
				f.Set(reflect.ValueOf([]string{"prompt"}))
				continue
			}
			f.Set(reflect.ValueOf([]machine.Assumption{{Node: "a", Status: core.Fail}}))
		case reflect.Func: // the driver's own
		default:
			t.Fatalf("a field of kind %s", f.Kind())
		}
	}
	h := &Head{}
	h.SetMachine(o)
	k := &Codec{Plan: compiled(t)}
	data, err := k.AppendHead(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	back, err := k.DecodeHead(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Machine(); !reflect.DeepEqual(got, o) {
		t.Errorf("%s\ncame back as %+v, want %+v", data, got, o)
	}
}

func TestRecordsComeBack(t *testing.T) {
	k := &Codec{Plan: compiled(t), Secrets: secret.NewSealer(map[string]string{"TOKEN": "hunter2"})}
	now := time.Date(2026, 11, 23, 18, 0, 0, 5, time.UTC)
	h := &Head{Run: "r", Workflow: "w", File: "a.yaml", Format: Format, Engine: "v1", Logic: machine.Logic, Cut: machine.Cut, Plan: "p", Order: "o",
		Sources: []Source{{Path: "a.yaml", Kind: "document", SHA256: "x", Blob: "sha256:x"}}, Nodes: k.Plan.Recorded().Parts, Fields: map[string]string{"total": "integer"},
		Inputs:  value.ObjectOf("float", 1.0, "int", int64(1)<<60, "secret", "hunter2", "$blob", "x", "bytes", "a\xff"),
		Options: Options{Durability: "full", Budget: core.Budget{Calls: 1, Tokens: 2, Cost: 0.5}, AutoApprove: true, Model: "m", Parallel: 2, Strict: true},
		Started: now, ConcurrencyKey: "key", Parent: &Parent{Run: "p", From: "n", Kind: "replay"}, Progress: "p.json"}
	data, err := k.AppendHead(nil, h)
	if err != nil || strings.Contains(string(data), "hunter2") {
		t.Fatalf("%s, %v", data, err)
	}
	back, err := k.DecodeHead(data)
	if err == nil {
		var r plan.Recorded
		r, err = back.Recorded()
		back.Nodes, back.nodes = r.Parts, nil
	}
	if err != nil || !reflect.DeepEqual(back, h) {
		t.Errorf("%s\ncame back as %+v, %v\nwant %+v", data, back, err, h)
	}
	m := &Mark{Kind: store.MarkResumed, At: 5, Wall: now, Host: "h", By: "b", PID: 7, Down: 3, Data: value.ObjectOf("note", "hunter2", "x", 1.0)}
	data, err = k.AppendMark(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := k.DecodeMark(data); err != nil || again(k.AppendMark(nil, back)) != string(data) || back.Wall != now {
		t.Errorf("%s came back as %+v, %v", data, back, err)
	}
	s := &Side{After: 3, Event: core.Event{Type: core.ModelAsked, Node: "n", Attempt: 1}}
	data, err = k.AppendSide(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := k.DecodeSide(data); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%s came back as %+v, %v", data, back, err)
	}
	e := &End{Status: "failed", Reason: "hunter2", At: 9, Usage: core.Usage{Calls: 1, Cost: 1}, Cursor: value.ObjectOf("from", nil, "to", 1.0), Report: value.ObjectOf("x", int64(1))}
	data, err = k.AppendEnd(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := k.DecodeEnd(data); err != nil || again(k.AppendEnd(nil, back)) != string(data) || back.Reason != e.Reason {
		t.Errorf("%s came back as %+v, %v", data, back, err)
	}
}

// again returns a record that was read and written again.
func again(data []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func TestBatch(t *testing.T) {
	b := &Batch{N: 3, At: 12, Issued: 1 << 31}
	if got, want := string(b.AppendJSON(nil)), `{"n":3,"at":12,"issued":2147483648}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b.Add(&Encoded{JSON: []byte(`{"node":"a"}`)})
	b.Add(&Encoded{JSON: []byte(`{"node":"b\\\",","x":[1,{}]}`), Blobs: []string{"x", "y"}})
	data := b.AppendJSON(nil)
	if want := `{"n":3,"at":12,"events":[{"node":"a"},{"node":"b\\\",","x":[1,{}]}],"issued":2147483648,"blobs":["x","y"]}`; string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	back, err := DecodeBatch(data)
	if err != nil || !reflect.DeepEqual(back, b) {
		t.Errorf("came back as %+v, %v", back, err)
	}
	if events := back.Each(); len(events) != 2 || string(events[0]) != `{"node":"a"}` || string(events[1]) != `{"node":"b\\\",","x":[1,{}]}` {
		t.Errorf("events %s", events)
	}
	for _, damaged := range []string{``, `{`, `{"n":1,"events":{}}`, `{"n":"x"}`} {
		if _, err := DecodeBatch([]byte(damaged)); err == nil {
			t.Errorf("%s is accepted", damaged)
		}
	}
	room := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(10, func() { b.AppendJSON(room) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
