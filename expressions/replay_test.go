package expressions

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// overJSON returns explained values after a round trip through JSON, as in a log.
func overJSON(t testing.TB, values *value.Object) *value.Object {
	t.Helper()
	v, err := value.ParseJSON([]byte(value.JSON(values)))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Object)
}

// TestReplayOfCorpus checks that whenever the replay of a condition is known, it equals
// the original result.
func TestReplayOfCorpus(t *testing.T) {
	all, known := 0, 0
	for _, c := range corpus(t) {
		p, _ := Compile(source.Text{Value: c.text}, Scope{}, "")
		if p == nil {
			continue
		}
		env := c.env.Bind(p)
		r, ok := p.Replay()
		if !ok {
			t.Errorf("line %d: %s cannot be replayed", c.line, c.text)
			continue
		}
		all++
		got, ok := r.Test(overJSON(t, p.Explain(env)))
		if want := p.Test(env); ok && got != want {
			t.Errorf("line %d: %s on %s: %t, want %t", c.line, c.text, value.JSON(p.Explain(env)), got, want)
		}
		if ok {
			known++
		}
	}
	if all < 300 || known*10 < all*9 {
		t.Errorf("%d of %d are known", known, all)
	}
}

func TestReplay(t *testing.T) {
	for _, c := range []struct {
		text, values  string
		result, known bool
	}{
		{"length($.rows) > 5", `{"length($.rows)":6}`, true, true},
		{"length($.rows) > 5", `{"length($.rows)":5}`, false, true},
		{"length($.rows) > 5", `{"$.rows":[1]}`, false, false},
		{"length($.rows) == length($.rows) && $.rows[0] == 1", `{"length($.rows)":1,"$.rows[0]":1}`, true, true},
		{"$nodes.a.status == 'fail' || !$.x.y", `{"$nodes.a.status":"success","$.x.y":0}`, true, true},
		{"$.x == null", `{"$.x":null}`, false, false}, // a missing value is not null
		{"$.x > 1", `{"$.x":null}`, false, true},
		{"$.x / 2 == 2.5", `{"$.x":5.0}`, true, true},
		{"true", `{}`, true, true},
	} {
		p := MustCompile(c.text, Scope{})
		r, ok := p.Replay()
		if !ok {
			t.Fatal(c.text)
		}
		v, err := value.ParseJSON([]byte(c.values))
		if err != nil {
			t.Fatal(err)
		}
		if result, known := r.Test(v.(*value.Object)); result != c.result || known != c.known {
			t.Errorf("%s on %s: %t, %t", c.text, c.values, result, known)
		}
	}
}
