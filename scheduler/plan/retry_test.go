package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

func TestDelay(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name    string
		retry   Retry
		attempt int
		want    time.Duration
	}{
		{"linear", Retry{Base: 100 * ms}, 1, 100 * ms},
		{"linear", Retry{Base: 100 * ms}, 2, 200 * ms},
		{"linear", Retry{Base: 100 * ms}, 19, 1900 * ms},
		{"linear, capped", Retry{Base: 100 * ms, Max: 250 * ms}, 3, 250 * ms},
		{"exponential", Retry{Base: 100 * ms, Factor: 2}, 1, 100 * ms},
		{"exponential", Retry{Base: 100 * ms, Factor: 2}, 2, 200 * ms},
		{"exponential", Retry{Base: 100 * ms, Factor: 2}, 5, 1600 * ms},
		{"exponential, capped", Retry{Base: 100 * ms, Factor: 2, Max: time.Second}, 5, time.Second},
		{"exponential, capped below the base", Retry{Base: time.Second, Factor: 2, Max: 300 * ms}, 1, 300 * ms},
		{"no wait", Retry{Factor: 2}, 9, 0},
		// The delay once stopped growing above 18 minutes.
		{"exponential, long", Retry{Base: 10 * time.Minute, Factor: 2}, 4, 80 * time.Minute},
		{"too long for a duration", Retry{Base: time.Duration(math.MaxInt64 / 2), Factor: 2}, 19, math.MaxInt64},
		{"too long for a duration, capped", Retry{Base: time.Duration(math.MaxInt64 / 2), Max: time.Hour}, 19, time.Hour},
		{"far out", Retry{Base: 1, Factor: 2}, 200, math.MaxInt64},
	} {
		if got := tt.retry.Delay(tt.attempt); got != tt.want {
			t.Errorf("%s: after attempt %d: got %v, want %v", tt.name, tt.attempt, got, tt.want)
		}
	}
}

// The delays of the presets, before jitter.
func TestPresets(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name  string
		waits []time.Duration
	}{
		{"none", nil},
		{"standard", []time.Duration{200 * ms, 400 * ms, 800 * ms, 1600 * ms}},
		{"aggressive", []time.Duration{500 * ms, 1000 * ms, 2000 * ms, 4000 * ms}},
		{"linear", []time.Duration{500 * ms, 500 * ms}},
		{"patient", []time.Duration{2000 * ms, 6000 * ms}},
	} {
		r, ok := presetOf(tt.name)
		if !ok || r.Attempts != len(tt.waits)+1 || r.Jitter != (r.Attempts > 1) || r.Transient {
			t.Errorf("%s: %+v", tt.name, r)
		}
		for i, want := range tt.waits {
			if got := r.Delay(i + 1); got != want {
				t.Errorf("%s: after attempt %d: got %s, want %s", tt.name, i+1, got, want)
			}
		}
	}
	r, _ := presetOf("standard")
	if got := r.Delay(15); got != time.Minute {
		t.Errorf("a preset waits %s at most, want 1m0s", got)
	}
}

func TestRetryPolicies(t *testing.T) {
	const ms = time.Millisecond
	number := func(n int) *source.Int { return &source.Int{Value: n} }
	wait := func(d time.Duration) *source.Located[time.Duration] { return &source.Located[time.Duration]{Value: d} }
	factor := func(f float64) *source.Located[float64] { return &source.Located[float64]{Value: f} }
	word := func(s string) source.Text { return source.At(s, source.Position{File: "w", Line: 7, Column: 3}) }
	named := func(name string, r core.RetryPolicy) *core.RetryPolicy { r.Name = word(name); return &r }
	at := func(d time.Duration) *source.Located[time.Duration] {
		return &source.Located[time.Duration]{Value: d, Pos: word("").Pos}
	}
	standard, _ := presetOf("standard")
	changed := func(f func(*Retry)) Retry { r := standard; f(&r); return r }
	own := []*core.RetryPolicy{
		named("gentle", core.RetryPolicy{Preset: word("mild"), Attempts: number(7)}), // declared before the policy on which it is based
		named("mild", core.RetryPolicy{Preset: word("standard"), Max: wait(time.Second), RetryOn: word("transient")}),
	}
	for _, tt := range []struct {
		name string
		own  []*core.RetryPolicy
		on   core.OnError
		want Retry
		fail string // prefix of the findings; "" if there are none
	}{
		{"a preset", nil, core.OnError{Preset: word("standard")}, standard, ""},
		{"its attempts replaced", nil, core.OnError{Preset: word("standard"), Attempts: number(2)}, changed(func(r *Retry) { r.Attempts = 2 }), ""},
		{"its waits replaced", nil, core.OnError{Preset: word("standard"), Base: wait(50 * ms), Factor: factor(1.5), Jitter: new(false)},
			changed(func(r *Retry) { r.Base, r.Factor, r.Jitter = 50*ms, 1.5, false }), ""},
		{"its cap replaced", nil, core.OnError{Preset: word("standard"), Max: wait(time.Second)}, changed(func(r *Retry) { r.Max, r.Cap = time.Second, 0 }), ""},
		{"made linear", nil, core.OnError{Preset: word("standard"), Backoff: word("linear")}, changed(func(r *Retry) { r.Factor = 0 }), ""},
		{"an own one over another", own, core.OnError{Preset: word("gentle"), RetryOn: word("any")},
			changed(func(r *Retry) { r.Attempts, r.Max, r.Cap = 7, time.Second, 0 }), ""},
		{"an own one as it is", own, core.OnError{Preset: word("gentle")},
			changed(func(r *Retry) { r.Attempts, r.Max, r.Cap, r.Transient = 7, time.Second, 0, true }), ""},
		{"none at all", nil, core.OnError{Attempts: number(3), Factor: factor(3)}, Retry{Attempts: 3, Base: 100 * ms, Factor: 3}, ""},
		{"a name nobody knows", own, core.OnError{Preset: word("gentel")}, Retry{},
			`w:7:3: error: node n: on_error.preset: unknown retry policy "gentel" (did you mean "gentle"?)`},
		{"in a circle", []*core.RetryPolicy{named("a", core.RetryPolicy{Preset: word("b")}), named("b", core.RetryPolicy{Preset: word("a")})},
			core.OnError{Preset: word("a"), Attempts: number(1)}, Retry{}, `w:7:3: error: retry policy b: preset: "a" is based on itself`},
		{"the name of a preset", []*core.RetryPolicy{named("patient", core.RetryPolicy{Attempts: number(2)})}, core.OnError{Attempts: number(1)}, Retry{},
			`w:7:3: error: retry policy "patient": every workflow has a preset of that name`},
		{"twice", []*core.RetryPolicy{named("a", core.RetryPolicy{Attempts: number(2)}), named("a", core.RetryPolicy{})}, core.OnError{Preset: word("a")}, Retry{},
			`w:7:3: error: retry policy "a" is defined twice`},
		{"without attempts", []*core.RetryPolicy{named("a", core.RetryPolicy{Base: wait(ms)})}, core.OnError{Policy: word("retry"), Preset: word("a")}, Retry{},
			`w:7:3: error: node n: on_error: policy retry needs attempts`},
		{"linear with a factor", nil, core.OnError{Attempts: number(2), Backoff: word("linear"), Factor: &source.Located[float64]{Value: 2, Pos: word("").Pos}}, Retry{},
			`w:7:3: error: node n: on_error.factor: backoff linear has no factor`},
		{"a factor below 1", nil, core.OnError{Attempts: number(2), Factor: &source.Located[float64]{Value: 0.5, Pos: word("").Pos}}, Retry{},
			`w:7:3: error: node n: on_error.factor: want a number of at least 1, got 0.5`},
		{"waits of one attempt", nil, core.OnError{Attempts: number(1), Base: at(ms)}, Retry{Attempts: 1, Base: ms},
			`w:7:3: warning: node n: on_error: base_ms: has no effect on a node with one attempt (attempts counts the first one: write attempts: 2 for one retry) [IGNORED]`},
		{"the longest wait of one attempt", nil, core.OnError{Attempts: number(1), Max: at(ms)}, Retry{Attempts: 1, Base: 100 * ms, Max: ms}, `on_error: max_ms: has no effect on a node with one attempt`},
		{"the backoff of one attempt", nil, core.OnError{Attempts: number(1), Backoff: word("exponential")}, Retry{Attempts: 1, Base: 100 * ms, Factor: 2}, `on_error: backoff: has no effect on a node with one attempt`},
		{"the factor of one attempt", nil, core.OnError{Attempts: number(1), Factor: factor(3)}, Retry{Attempts: 1, Base: 100 * ms, Factor: 3}, `on_error: factor: has no effect on a node with one attempt`},
		{"the jitter of a preset with one attempt", nil, core.OnError{Preset: word("none"), Jitter: new(true)}, Retry{Attempts: 1, Base: 100 * ms, Jitter: true}, `on_error: jitter: has no effect on a node with one attempt`},
		{"the failures of one attempt", nil, core.OnError{Preset: word("none"), RetryOn: word("transient")}, Retry{Attempts: 1, Base: 100 * ms, Transient: true}, `on_error: retry_on: has no effect on a node with one attempt`},
		{"a preset without retries, then attempts", nil, core.OnError{Preset: word("none"), Attempts: number(2), Base: at(ms)}, Retry{Attempts: 2, Base: ms}, ""},
		{"one attempt, then skip", nil, core.OnError{Attempts: number(1), Then: word("skip")}, Retry{Attempts: 1, Base: 100 * ms}, ""},
		{"one attempt of a preset, without jitter", nil, core.OnError{Preset: word("standard"), Attempts: number(1), Jitter: new(false)}, changed(func(r *Retry) { r.Attempts, r.Jitter = 1, false }), ""},
		{"never used", own, core.OnError{Attempts: number(2)}, Retry{Attempts: 2, Base: 100 * ms}, `w:7:3: warning: retry policy "gentle" is never used`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			on := tt.on
			if on.Policy.Value == "" {
				on.Policy = source.Text{Value: "retry"}
			}
			w := &core.Workflow{Name: source.Text{Value: "w"}, RetryPolicies: tt.own, Nodes: []*core.Node{{ID: source.Text{Value: "n"}, HasWrites: true,
				OnError: &on, Handler: core.HandlerFunc(nil)}}}
			p, ds := Compile(w, core.NewRegistry(), Options{Lint: lint})
			found := ""
			for _, d := range ds {
				found += d.Error() + "\n"
			}
			if !strings.Contains(found, tt.fail) || tt.fail == "" && found != "" {
				t.Errorf("found %swant  %s", found, tt.fail)
			}
			if tt.want.Attempts > 0 && (p == nil || *p.Nodes[0].Retry != tt.want) {
				t.Errorf("got %+v\nwant %+v", *p.Nodes[0].Retry, tt.want)
			}
		})
	}
}
