package expressions

import (
	"testing"
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// The five conditions used to measure the cost of evaluation. Each is compared with a
// reference: closures written by hand for this condition, which read a state that is a
// Go map. The references support less than the language does (no integers, no values of
// Go types, no missing values), so they are a lower bound.

type (
	refState = map[string]any
	refValue func(refState) any
	refTest  func(refState) bool
)

func refField(name string) refValue { return func(s refState) any { return s[name] } }

func refPath(names ...string) refValue {
	first, rest := names[0], names[1:]
	return func(s refState) any {
		v := s[first]
		for _, n := range rest {
			m, ok := v.(map[string]any)
			if !ok {
				return nil
			}
			v = m[n]
		}
		return v
	}
}

func refNumber(v refValue, holds func(float64) bool) refTest {
	return func(s refState) bool {
		f, ok := v(s).(float64)
		return ok && holds(f)
	}
}

func refLength(v refValue, holds func(float64) bool) refTest {
	return func(s refState) bool {
		switch x := v(s).(type) {
		case []any:
			return holds(float64(len(x)))
		case string:
			return holds(float64(len(x)))
		}
		return holds(0)
	}
}

func refText(v refValue, k string, want bool) refTest {
	return func(s refState) bool {
		x, ok := v(s).(string)
		return (ok && x == k) == want
	}
}

func refAnd(a, b refTest) refTest { return func(s refState) bool { return a(s) && b(s) } }
func refOr(a, b refTest) refTest  { return func(s refState) bool { return a(s) || b(s) } }

func above(k float64) func(float64) bool   { return func(f float64) bool { return f > k } }
func atLeast(k float64) func(float64) bool { return func(f float64) bool { return f >= k } }
func atMost(k float64) func(float64) bool  { return func(f float64) bool { return f <= k } }

var conditions = []struct {
	name, text string
	reference  refTest
}{
	{"len-and-num", `length($.findings) > 0 && $.risk_score > 0.5`,
		refAnd(refLength(refField("findings"), above(0)), refNumber(refField("risk_score"), above(0.5)))},
	{"bool-eq", `$.is_duplicate == true`,
		func(v refValue) refTest { return func(s refState) bool { b, ok := v(s).(bool); return ok && b } }(refField("is_duplicate"))},
	{"not", `!$.skipped_by_user`,
		func(v refValue) refTest { return func(s refState) bool { b, _ := v(s).(bool); return !b } }(refField("skipped_by_user"))},
	{"nested-or", `$.summary.severity == "high" || $.summary.count >= 3`,
		refOr(refText(refPath("summary", "severity"), "high", true), refNumber(refPath("summary", "count"), atLeast(3)))},
	{"deep-and", `$.a.b.c.d > 10 && $.user.name != "bob" && length($.tags) <= 5`,
		refAnd(refAnd(refNumber(refPath("a", "b", "c", "d"), above(10)), refText(refPath("user", "name"), "bob", false)),
			refLength(refField("tags"), atMost(5)))},
}

const conditionState = `{"findings":[{"id":1},{"id":2}],"risk_score":0.7,"is_duplicate":true,"skipped_by_user":false,
"summary":{"severity":"low","count":5.0},"a":{"b":{"c":{"d":11.0}}},"user":{"name":"alice"},"tags":["x","y","z"]}`

// slotEnv is an Env that stores its fields by slot, as the engine's does.
type slotEnv struct{ slots []any }

func (e *slotEnv) Field(slot int) any          { return e.slots[slot] }
func (*slotEnv) Node(int) (status, output any) { return value.Missing, value.Missing }
func (*slotEnv) Input(string) any              { return value.Missing }
func (*slotEnv) Item() any                     { return value.Missing }
func (*slotEnv) Index() any                    { return value.Missing }
func (*slotEnv) Extra(Root) any                { return value.Missing }
func loadCondition(tb testing.TB, text string) (*Program, *slotEnv, refState) {
	v, err := value.ParseJSON([]byte(conditionState))
	if err != nil {
		tb.Fatal(err)
	}
	o := v.(*value.Object)
	p := MustCompile(text, Scope{})
	env := &slotEnv{}
	for _, f := range p.Fields() {
		x, _ := o.Get(f)
		env.slots = append(env.slots, x)
	}
	return p, env, o.Map()
}

var benchResult bool

func BenchmarkTest(b *testing.B) {
	for _, c := range conditions {
		p, env, state := loadCondition(b, c.text)
		if !p.Test(env) || !c.reference(state) {
			b.Fatalf("%s must hold", c.name)
		}
		b.Run("cond="+c.name+"/engine=program", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchResult = p.Test(env)
			}
		})
		b.Run("cond="+c.name+"/engine=reference", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchResult = c.reference(state)
			}
		})
	}
}

// BenchmarkRatio alternates between program and reference every few microseconds, so
// that other load on the machine affects both equally, and reports their ratio.
func BenchmarkRatio(b *testing.B) {
	const turn = 256
	for _, c := range conditions {
		p, env, state := loadCondition(b, c.text)
		b.Run("cond="+c.name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				for range turn {
					benchResult = p.Test(env)
				}
				middle := time.Now()
				for range turn {
					benchResult = c.reference(state)
				}
				ours += middle.Sub(start)
				theirs += time.Since(middle)
			}
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*turn), "ns/test")
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, c := range conditions {
		b.Run("cond="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, _ := Compile(source.Text{Value: c.text}, Scope{}, ""); p == nil {
					b.Fatal("does not compile")
				}
			}
		})
	}
}
