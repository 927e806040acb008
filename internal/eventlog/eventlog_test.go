package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// full returns an event in which every field has a value.
func full(t testing.TB) core.Event {
	yes := true
	e := core.Event{V: core.EventVersion, Seq: 1 << 60, Time: time.Date(2024, 1, 31, 8, 0, 0, 1, time.UTC), Type: core.NodeFailed, Run: "r",
		Node: "a[3]/b", Unit: "u", Kind: "k", Phase: "p", Level: core.Nth(0), Item: core.Nth(1), Round: core.Nth(2), Visit: 12, Attempt: 3,
		Total: core.Nth(4), Status: "fail", Duration: 5, Delay: 6, Reason: "why\n\"", Cause: "c",
		Error: &core.Failure{Class: "error", Message: "m", Permanent: true, FailsRun: true, RetryAfter: 7, Node: "n", Stack: "s", Category: core.Deterministic, Signature: "g"},
		From:  "f", To: "t", When: "$.x == 'é'", Result: &yes, Values: value.ObjectOf("$.x", int64(1)<<62), Step: core.StepCondition, Label: "l", Purpose: "run", Model: "m", Tool: "t", Turn: 1,
		Usage: &core.Usage{Calls: 1, Input: 2, CachedInput: 3, Output: 4, Reasoning: 5, Estimated: 6, Cost: 0.5}, Nodes: []string{"a", "b"}, Field: "x", Null: true,
		State: value.ObjectOf("x", nil), Inputs: value.ObjectOf("y", []any{int64(1), 2.5}),
		Limits: &core.Limits{Concurrency: 1, MaxInFlight: 2, Barrier: true, MaxVisits: 3, AddedKinds: []string{"wait"}}, Log: "l", Severity: "INFO", Done: 8, Of: 9, Read: 10, Size: 11}
	for _, v := range []reflect.Value{reflect.ValueOf(e), reflect.ValueOf(*e.Error), reflect.ValueOf(*e.Usage)} {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Tag.Get("json") != "-" && v.Field(i).IsZero() {
				t.Fatalf("%s has no value: a new field must be read", f.Name)
			}
		}
	}
	return e
}

// TestReadsWhatIsWritten checks that the reader supports every field of an event.
func TestReadsWhatIsWritten(t *testing.T) {
	want := full(t)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got core.Event
	if err := NewReader(bytes.NewReader(text)).Next(&got); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got)
	if err != nil || string(again) != string(text) {
		t.Errorf("got  %s\nwant %s, %v", again, text, err)
	}
}

func TestNext(t *testing.T) {
	const good = `{"v":1,"type":"log"}`
	for _, c := range []struct {
		name, text string
		events     int
		err        string
		cut        bool
	}{
		{"empty", "", 0, "", false},
		{"blank lines", "\n \r\n" + good + "\n\n", 1, "", false},
		{"no final line end", good + "\n" + good, 2, "", false},
		{"long line", good + "\n" + `{"v":1,"type":"log","log":"` + strings.Repeat("x", 1<<17) + `"}` + "\n" + good + "\n", 3, "", false},
		{"unknown fields", `{"v":1,"type":"log","new":{"a":[1]}}`, 1, "", false},
		{"cut off", good + "\n" + good[:9], 1, "line 2: the log is cut off in the middle of a line", true},
		{"cut off in a long line", good + "\n" + `{"v":1,"type":"log","log":"` + strings.Repeat("x", 1<<17), 1, "line 2: the log is cut off", true},
		{"cut off and ended", good[:9] + "\n", 0, "line 1: this is not an event: the JSON ends too early", false},
		{"no JSON", "name: flow\n", 0, "line 1: this is not an event", false},
		{"no object", "[1]\n", 0, "line 1: this is not an event: want a JSON object, got array", false},
		{"no version", `{"a":1}`, 0, "line 1: this is not an event: it has no v", false},
		{"another version", `{"v":2,"seq":"?"}`, 0, "line 1: event format 2, this program reads format 1", false},
		{"no type", `{"v":1}`, 0, "line 1: this is not an event: it has no type", false},
		{"wrong type", `{"v":1,"type":"log","seq":"1"}`, 0, "line 1: this is not an event: seq: want integer, got string", false},
		{"no time", `{"v":1,"type":"log","ts":"noon"}`, 0, `line 1: this is not an event: ts: want a time`, false},
		{"no index", `{"v":1,"type":"log","item":-1}`, 0, `line 1: this is not an event: item: -1 is out of range`, false},
		{"too many attempts", `{"v":1,"type":"log","attempt":9876543210}`, 0, `line 1: this is not an event: attempt: 9876543210 is out of range`, false},
		{"inside", `{"v":1,"type":"log","error":{"class":1}}`, 0, "line 1: this is not an event: error: class: want string, got integer", false},
		{"a key twice", `{"v":1,"type":"log","seq":1,"seq":2}`, 0, "duplicate key", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(c.text))
			n := 0
			var e core.Event
			var err error
			for err = r.Next(&e); err == nil; err = r.Next(&e) {
				n++
			}
			if err == io.EOF {
				err = nil
			}
			if n != c.events || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%d events, %v; want %d, %q", n, err, c.events, c.err)
			}
			if bad, ok := errors.AsType[*Error](err); c.cut != (ok && bad.Cut) {
				t.Errorf("cut %t, want %t", !c.cut, c.cut)
			}
		})
	}
}

// TestFlat checks that reading flat lines gives what decoding gives, for events with any of
// their members, and for lines that were changed at random.
func TestFlat(t *testing.T) {
	all := full(t)
	all.Reason, all.When = "why", ""
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	members := v.(*value.Object)
	flat := 0
	odd := rapid.SampledFrom([]any{nil, true, false, int64(0), int64(-1), int64(1) << 31, int64(1<<31 - 1), int64(1) << 62, 0.5, "", "é", "a\"b", "2024-01-31T08:00:00Z", []any{}, value.NewObject(0)})
	rapid.Check(t, func(t *rapid.T) {
		keys := append(rapid.SliceOfNDistinct(rapid.SampledFrom(members.Keys()), 0, 6, rapid.ID).Draw(t, "keys"), "v", "type")
		line := []byte{'{'}
		for i, key := range keys {
			if i > 0 {
				line = append(line, ',')
			}
			v, _ := members.Get(key)
			if rapid.IntRange(0, 9).Draw(t, "changes") == 0 {
				v = odd.Draw(t, "value")
			}
			line, _ = value.AppendJSON(line, key)
			line, _ = value.AppendJSON(append(line, ':'), v)
		}
		line = append(line, '}')
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "edits") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			line = slices.Replace(line, at, at+rapid.IntRange(0, 1).Draw(t, "length"), []byte(rapid.SampledFrom([]string{"", " ", "0", "-", "1", `"`, ",", "}", "{", "é", "\\", "e", "\xff", "\x01"}).Draw(t, "byte"))...)
			if len(line) == 0 {
				return
			}
		}
		r := NewReader(nil)
		var got, want core.Event
		if !r.flat(line, &got) {
			return
		}
		flat++
		if err := r.decode(line, &want); err != nil {
			t.Fatalf("%s was read, but it is wrong: %v", line, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got %+v, want %+v", line, got, want)
		}
	})
	if flat == 0 {
		t.Errorf("no line was flat")
	}
}

// TestItemsAreFlat checks that the most frequent lines of a log are read without a general value.
func TestItemsAreFlat(t *testing.T) {
	for _, e := range []core.Event{
		{Type: core.ItemStarted, Kind: "tool", Item: core.Nth(3), Attempt: 1},
		{Type: core.ItemFinished, Kind: "tool", Item: core.Nth(3), Attempt: 1, Status: "success", Duration: 5, Unit: "p", Round: core.Nth(1)},
		{Type: core.NodeSkipped, Status: "skipped", Reason: "the condition is false", Cause: "a"},
		{Type: core.StateWritten, Field: "x", Null: true},
	} {
		e.V, e.Seq, e.Run, e.Node, e.Level = core.EventVersion, 1, "r", "a[3]/b", core.Nth(0)
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got core.Event
		if !NewReader(nil).flat(text, &got) || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestNoEnd: a file that is not a log and has no line breaks used to be read until the
// memory was exhausted.
func TestNoEnd(t *testing.T) {
	var e core.Event
	if err := NewReader(zeros{}).Next(&e); err == nil || !strings.Contains(err.Error(), "line 1: this is not an event") {
		t.Errorf("got %v", err)
	}
}

// FuzzNext checks that the reader never panics, and that encoding and reading preserve
// every event that it accepts.
func FuzzNext(f *testing.F) {
	text, err := json.Marshal(full(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"v":1,"type":"log"}` + "\n" + `{"v":1,"ty`))
	f.Add([]byte(`{"v":1,"type":"x","level":null,"result":false,"error":{"retry_after":1e3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		for {
			var e, again core.Event
			if r.Next(&e) != nil {
				return
			}
			text, err := json.Marshal(e)
			if err != nil {
				continue // a year beyond 9999
			}
			if err := NewReader(bytes.NewReader(text)).Next(&again); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if second, err := json.Marshal(again); err != nil || string(second) != string(text) {
				t.Fatalf("got  %s\nwant %s, %v", second, text, err)
			}
		}
	})
}
