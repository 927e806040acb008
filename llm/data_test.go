package llm

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core/value"
)

// A short value next to a huge one stays whole, and the same object is always cut alike.
func TestDataIsCut(t *testing.T) {
	huge := strings.Repeat("log line\n", 600_000) // 5 MB
	o := value.ObjectOf(
		"input", value.ObjectOf("issue", "ENG-1"),
		"collect", value.ObjectOf("log", huge, "severity", "high", "evals", value.ObjectOf("seen", value.ObjectOf("pass", true))),
		"rows", []any{int64(1), strings.Repeat("ü", 100_000), "last"})
	b, err := DataJSON(o, DefaultEachData, DefaultAllData)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 2*DefaultEachData+1000 {
		t.Errorf("%d bytes are shown", len(b))
	}
	v, err := value.ParseJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	shown := value.JSON(v)
	for _, want := range []string{`"input":{"issue":"ENG-1"}`, `"severity":"high","evals":{"seen":{"pass":true}}`, "more bytes left out", `"last"]`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is not shown", want)
		}
	}
	again, _ := DataJSON(o, DefaultEachData, DefaultAllData)
	if string(again) != string(b) {
		t.Error("the same object is cut in two ways")
	}
}

func TestShortened(t *testing.T) {
	many := make([]any, 100_000)
	for i := range many {
		many[i] = int64(i)
	}
	wide := value.NewObject(1000)
	for i := range 1000 {
		wide.Set(strings.Repeat("k", i), true)
	}
	for _, tt := range []struct {
		name  string
		v     any
		limit int
		want  string // a substring of the result
	}{
		{"whole", "abc", 10, `"abc"`},
		{"a text", strings.Repeat("x", 1000), 100, "xx… 942 more bytes left out"},
		{"a text of escapes", strings.Repeat("\x00", 1000), 100, "… 991 more bytes left out"},
		{"a text of quotes", strings.Repeat(`"`, 1000), 100, "more bytes left out"},
		{"a text of several bytes a character", strings.Repeat("€", 1000), 100, "… 2943 more bytes left out"},
		{"bytes that are no UTF-8", strings.Repeat("\xff", 1000), 100, "more bytes left out"},
		{"numbers", many, 1000, `"… 99733 more elements left out"]`},
		{"keys", wide, 500, `"…":"… `},
		{"no room", many, 0, `["… 100000 more elements left out"]`},
		{"less than none", "abcdef", -5, `"… 6 more bytes left out"`},
		{"nothing to cut", true, 0, "true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := value.JSON(shortened(tt.v, tt.limit))
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s in it", got[:min(len(got), 1200)], tt.want)
			}
			if len(got) > max(tt.limit, 2*marker) {
				t.Errorf("%d bytes for a limit of %d", len(got), tt.limit)
			}
		})
	}
}

func TestFairShare(t *testing.T) {
	for _, tt := range []struct {
		sizes       []int
		total, want int
	}{
		{[]int{10, 1000, 20}, 130, 100},
		{[]int{50, 50}, 60, 30},
		{[]int{5}, -1, 0},
	} {
		if got := fairShare(tt.sizes, tt.total); got != tt.want {
			t.Errorf("%v to %d: got %d, want %d", tt.sizes, tt.total, got, tt.want)
		}
	}
	if got := fairShare([]int{1, 2}, 3); got < 2 {
		t.Errorf("what fits is cut to %d", got)
	}
}

// TestDataProperty checks that any data is encoded as JSON with the same keys, within its
// limits, and completely if it fits.
func TestDataProperty(t *testing.T) {
	values := rapid.Deferred(anyValue)
	rapid.Check(t, func(t *rapid.T) {
		o := value.NewObject(0)
		for range rapid.IntRange(0, 6).Draw(t, "members") {
			o.Set(rapid.StringN(0, 20, -1).Draw(t, "key"), values.Draw(t, "value"))
		}
		each, all := rapid.IntRange(200, 2000).Draw(t, "each"), rapid.IntRange(1200, 6000).Draw(t, "all")
		b, err := DataJSON(o, each, all)
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.ParseJSON(b)
		if err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		keys := 0
		for _, k := range o.Keys() {
			keys += size(k) + 4
		}
		if len(b) > all+keys+8 {
			t.Errorf("%d bytes for %d", len(b), all)
		}
		if v.(*value.Object).Len() != o.Len() {
			t.Errorf("%d of %d members", v.(*value.Object).Len(), o.Len())
		}
		whole := value.JSON(o)
		if len(whole) <= min(each, all) && value.JSON(v) != whole {
			t.Errorf("got %s, want %s", value.JSON(v), whole)
		}
	})
}

func anyValue() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Just(any(nil)), rapid.Int64().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
		rapid.StringN(0, 5, -1).AsAny(),
		rapid.Custom(func(t *rapid.T) any {
			return strings.Repeat(rapid.StringN(1, 3, -1).Draw(t, "part"), rapid.IntRange(1, 2000).Draw(t, "times"))
		}),
		rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(rapid.Deferred(anyValue), 0, 8).Draw(t, "elements") }),
		rapid.Custom(func(t *rapid.T) any {
			o := value.NewObject(0)
			for range rapid.IntRange(0, 6).Draw(t, "members") {
				key := strings.Repeat(rapid.StringN(0, 4, -1).Draw(t, "key"), rapid.IntRange(1, 100).Draw(t, "long"))
				o.Set(key, rapid.Deferred(anyValue).Draw(t, "value"))
			}
			return o
		}))
}
