package llm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/llm/openai"
)

func status(code int, after time.Duration) error {
	return &llm.StatusError{Status: code, RetryAfter: after, Message: "no"}
}

func TestWithRetry(t *testing.T) {
	fails := func(times int, err error) llmtest.Answer { return llmtest.Answer{Times: times, Err: err} }
	for _, tt := range []struct {
		name    string
		o       llm.Retry
		answers []llmtest.Answer
		within  time.Duration // deadline of the context; 0 means none
		calls   int
		err     string // "" if an answer is expected
		min     time.Duration
	}{
		{"at once", llm.Retry{}, nil, 0, 1, "", 0},
		{"a second, then two", llm.Retry{}, []llmtest.Answer{fails(2, status(500, 0))}, 0, 3, "", 3 * time.Second},
		{"four times", llm.Retry{}, []llmtest.Answer{fails(9, status(500, 0))}, 0, 4, "answered 500 Internal Server Error: no (asked 4 times)", 7 * time.Second},
		{"once", llm.Retry{Attempts: 1}, []llmtest.Answer{fails(9, status(500, 0))}, 0, 1, "answered 500 Internal Server Error: no", 0},
		{"as the server says", llm.Retry{}, []llmtest.Answer{fails(1, status(429, 30*time.Second))}, 0, 2, "", 30 * time.Second},
		{"the server asks for too much", llm.Retry{}, []llmtest.Answer{fails(9, status(429, time.Hour))}, 0, 1, "the server asks to wait for 1h0m0s, more than 1m0s", 0},
		{"waits are bounded", llm.Retry{Attempts: 5, Delay: 10 * time.Second, MaxDelay: 15 * time.Second}, []llmtest.Answer{fails(4, status(503, 0))}, 0, 5, "", 55 * time.Second},
		{"what will not pass", llm.Retry{}, []llmtest.Answer{fails(9, status(400, 0))}, 0, 1, "answered 400 Bad Request: no", 0},
		{"no money", llm.Retry{}, []llmtest.Answer{fails(9, core.Categorized(status(429, time.Second), core.BudgetExhausted))}, 0, 1, "answered 429 Too Many Requests: no", 0},
		{"permanent", llm.Retry{}, []llmtest.Answer{fails(9, core.Permanent(status(500, 0)))}, 0, 1, "answered 500 Internal Server Error: no", 0},
		{"a broken connection", llm.Retry{}, []llmtest.Answer{fails(1, errors.New("read: connection reset by peer"))}, 0, 2, "", time.Second},
		{"no time to wait", llm.Retry{}, []llmtest.Answer{fails(9, status(500, 0))}, 2 * time.Second, 2, "answered 500 Internal Server Error: no (asked 2 times)", time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := llmtest.Script(t, append(slices.Clone(tt.answers), llmtest.Answer{Text: "hi"})...)
				ctx := t.Context()
				if tt.within > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, tt.within)
					defer cancel()
				}
				start := time.Now()
				r, err := llm.WithRetry(script, tt.o).Complete(ctx, &llm.Request{})
				took := time.Since(start)
				if (tt.err == "") != (err == nil) || err != nil && !strings.HasSuffix(err.Error(), tt.err) && !strings.Contains(err.Error(), tt.err+")") || err == nil && r.Text != "hi" {
					t.Errorf("got %+v, %v", r, err)
				}
				if n := script.Count("", ""); n != tt.calls {
					t.Errorf("asked %d times, want %d", n, tt.calls)
				}
				if took < tt.min || took > tt.min+tt.min/4 {
					t.Errorf("waited %v, want %v and up to a quarter more", took, tt.min)
				}
			})
		})
	}
}

// The caller is notified of each wait before another attempt.
func TestRetryTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notices []string
		withNotices := func(ctx context.Context) context.Context {
			notices = nil
			return core.WithMeter(ctx, &core.Meter{Again: func(why string) { notices = append(notices, why) }})
		}
		m := llm.WithRetry(llmtest.Script(t, llmtest.Answer{Err: status(503, 0)}), llm.Retry{Attempts: 3})
		if _, err := m.Complete(withNotices(t.Context()), &llm.Request{}); err == nil {
			t.Error("no error")
		}
		for i, notice := range notices {
			if !strings.Contains(notice, "503") || !strings.Contains(notice, "; the model is asked again in ") || !strings.HasSuffix(notice, fmt.Sprintf(" (%d of 3)", i+2)) {
				t.Errorf("told %s", notice)
			}
		}
		if len(notices) != 2 {
			t.Errorf("told %q, want 2", notices)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := m.Complete(withNotices(ctx), &llm.Request{}); err == nil || len(notices) != 1 { // the second wait would exceed the deadline
			t.Errorf("told %q, want 1; %v", notices, err)
		}
	})
}

func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		script := llmtest.Script(t, llmtest.Answer{Err: status(429, 50*time.Second)})
		time.AfterFunc(5*time.Second, cancel)
		start := time.Now()
		if _, err := llm.WithRetry(script, llm.Retry{}).Complete(ctx, &llm.Request{}); err == nil || time.Since(start) != 5*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := llmtest.Script(t, llmtest.Answer{Delay: time.Hour}.Once(), llmtest.Answer{Text: "hi", Delay: time.Second})
		m := llm.WithRetry(llm.WithTimeout(script, time.Minute), llm.Retry{})
		start := time.Now()
		r, err := m.Complete(t.Context(), &llm.Request{})
		if err != nil || r.Text != "hi" || time.Since(start) < 62*time.Second {
			t.Errorf("got %+v, %v after %v", r, err, time.Since(start))
		}
		late := llm.WithTimeout(llmtest.Script(t, llmtest.Answer{Delay: time.Hour}), time.Minute)
		_, err = late.Complete(t.Context(), &llm.Request{})
		if err == nil || err.Error() != "the model did not answer within 1m0s" || core.CategoryOf(err) != core.TransientInfra || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = late.Complete(ctx, &llm.Request{}); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "model") {
			t.Errorf("the caller's own deadline is told as %v", err)
		}
		if m := llm.WithTimeout(script, 0); m != llm.Model(script) {
			t.Error("no timeout is something around the model")
		}
	})
}

// starts records when calls begin and how many are in flight.
type starts struct {
	mu       sync.Mutex
	at       []time.Duration
	now, top int
	begin    time.Time
}

func (s *starts) model(took time.Duration, tokens int64) llm.Model {
	s.begin = time.Now()
	return llm.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		s.mu.Lock()
		s.at = append(s.at, time.Since(s.begin))
		s.now++
		s.top = max(s.top, s.now)
		s.mu.Unlock()
		time.Sleep(took)
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
		return &llm.Response{Text: "hi", Usage: core.Usage{Output: tokens}}, nil
	})
}

// maxPerMinute returns the largest number of starts in any minute.
func (s *starts) maxPerMinute() int {
	slices.Sort(s.at)
	maxPerMinute, first := 0, 0
	for i, at := range s.at {
		for at-s.at[first] >= time.Minute {
			first++
		}
		maxPerMinute = max(maxPerMinute, i-first+1)
	}
	return maxPerMinute
}

func together(t *testing.T, n int, m llm.Model, r *llm.Request) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, err := m.Complete(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestWithLimitConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s starts
		together(t, 20, llm.WithLimit(s.model(time.Second, 1), llm.Limits{Concurrent: 3}), &llm.Request{})
		if s.top != 3 || time.Since(s.begin) != 7*time.Second {
			t.Errorf("%d at once, %v in all", s.top, time.Since(s.begin))
		}
	})
}

func TestWithLimitRequests(t *testing.T) {
	for _, limit := range []int{1, 7, 60, 500} {
		synctest.Test(t, func(t *testing.T) {
			var s starts
			together(t, 3*limit, llm.WithLimit(s.model(0, 1), llm.Limits{Requests: limit}), &llm.Request{})
			if maxPerMinute := s.maxPerMinute(); maxPerMinute > limit+1 {
				t.Errorf("%d requests in a minute, limit %d", maxPerMinute, limit)
			}
			if took := time.Since(s.begin); took > 4*time.Minute {
				t.Errorf("three minutes' worth of requests took %v", took)
			}
		})
	}
}

// With 1,000 tokens a minute, 30 calls of 100 tokens take about three minutes, although
// their output is not known in advance.
func TestWithLimitTokens(t *testing.T) {
	for name, r := range map[string]*llm.Request{
		"output":     {},
		"input":      {Messages: []llm.Message{{Text: strings.Repeat("word ", 100)}}},
		"much input": {Messages: []llm.Message{{Text: strings.Repeat("word ", 100), Calls: []llm.ToolCall{{Arguments: strings.Repeat("x", 5)}}}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var s starts
			m := llm.WithLimit(s.model(time.Millisecond, 100), llm.Limits{Tokens: 1000, Concurrent: 1})
			together(t, 30, m, r)
			if maxPerMinute := s.maxPerMinute(); maxPerMinute > 13 {
				t.Errorf("%s: %d calls in a minute", name, maxPerMinute)
			}
			if took := time.Since(s.begin); took > 200*time.Second || took < 150*time.Second {
				t.Errorf("%s: took %v", name, took)
			}
		})
	}
}

func TestLimitsRespectContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s starts
		for _, l := range []llm.Limits{{Requests: 1}, {Tokens: 10}, {Concurrent: 1}} {
			inner := s.model(10*time.Minute, 1)
			m := llm.WithLimit(inner, l)
			if l.Concurrent == 0 {
				m = llm.WithLimit(s.model(0, 1000), l)
				m.Complete(t.Context(), &llm.Request{})
			} else {
				go m.Complete(t.Context(), &llm.Request{})
				synctest.Wait()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			_, err := m.Complete(ctx, &llm.Request{})
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
				t.Errorf("%+v: got %v after %v", l, err, time.Since(start))
			}
			if l.Requests > 0 && !strings.Contains(err.Error(), "limit of requests a minute") {
				t.Errorf("got %v", err)
			}
			cancel()
		}
		time.Sleep(10 * time.Minute) // the call in flight ends
	})
}

// A panic of the model releases the slot.
func TestLimitAfterPanic(t *testing.T) {
	m := llm.WithLimit(llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) { panic("oops") }), llm.Limits{Concurrent: 1})
	for range 2 {
		if _, err := llm.Complete(t.Context(), m, &llm.Request{}); err == nil || !strings.Contains(err.Error(), "oops") {
			t.Errorf("got %v", err)
		}
	}
}

func TestPrices(t *testing.T) {
	p := llm.Prices{"gpt-5": {Input: 10, Output: 100}, "gpt-5-mini": {Input: 1, Output: 8, CachedInput: 0.1}, "free": {}}
	u := core.Usage{Input: 1_000_000, CachedInput: 400_000, Output: 500_000}
	for _, tt := range []struct {
		model string
		want  float64
		known bool
	}{
		{"gpt-5", 60, true}, {"gpt-5-mini-2026-01-01", 0.6 + 0.04 + 4, true}, {"free", 0, true}, {"llama", 0, false}, {"gpt", 0, false},
	} {
		if got, ok := p.Cost(tt.model, u); got < tt.want-1e-9 || got > tt.want+1e-9 || ok != tt.known {
			t.Errorf("%s: got %v, %t, want %v", tt.model, got, ok, tt.want)
		}
	}
	for _, tt := range []struct {
		requested, answered string
		want                float64
	}{{"gpt-5", "gpt-5-x", 0.00011}, {"gpt-5", "deployment-7", 0.00011}, {"llama", "llama", 7}} {
		inner := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) {
			return &llm.Response{Model: tt.answered, Usage: core.Usage{Input: 1, Output: 1, Cost: 7}}, nil
		})
		r, err := llm.WithPrices(inner, p).Complete(t.Context(), &llm.Request{Model: tt.requested})
		if err != nil || r.Usage.Cost < tt.want-1e-9 || r.Usage.Cost > tt.want+1e-9 {
			t.Errorf("%s by %s: got %+v, %v", tt.requested, tt.answered, r, err)
		}
	}
}

// picky supports no feature of a request.
type picky struct{ llm.Model }

func (picky) Lacks(*llm.Request) string { return "all of it" }

func TestWrappersKeepWhatAModelLacks(t *testing.T) {
	m := llm.WithPrices(llm.WithRetry(llm.WithLimit(llm.WithTimeout(picky{}, 1), llm.Limits{Requests: 1}), llm.Retry{}), llm.Prices{"x": {}})
	if got := llm.Lacks(m, &llm.Request{}); got != "all of it" {
		t.Errorf("got %q", got)
	}
	if got := llm.Lacks(llm.WithEnv(picky{}, func(string) (string, bool) { return "?", true }), &llm.Request{}); got != "all of it" {
		t.Errorf("got %q", got)
	}
}

// Check reports an unusable model before any call, through all wrappers.
func TestCheck(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	soon := func(name string) (string, bool) { return "soon", name == llm.EnvTimeout }
	keyed := openai.New(openai.Options{Key: "k"})
	for _, tt := range []struct {
		m    llm.Model
		want string
	}{
		{llm.Named(llm.WithEnv(openai.FromEnv(none), none), "x"), "set OPENAI_API_KEY"},
		{llm.WithEnv(keyed, soon), "WAVEFOLD_MODEL_TIMEOUT"},
		{llm.WithEnv(keyed, none), ""},
		{picky{}, ""},
	} {
		if err := llm.Check(tt.m); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q in it", err, tt.want)
		}
	}
}

func TestNamed(t *testing.T) {
	script := llmtest.Script(t, llmtest.Answer{Text: "hi"})
	requested := llm.Request{Model: "small"}
	if r, err := llm.Named(script, "big").Complete(t.Context(), &requested); err != nil || r.Model != "big" || script.Requests()[0].Model != "big" || requested.Model != "small" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestChosenModel(t *testing.T) {
	env := func(name, v string) func(string) (string, bool) {
		return func(n string) (string, bool) { return v, n == name }
	}
	chosen := openai.FromEnv(env(openai.EnvModel, "small"))
	for want, m := range map[string]llm.Model{
		"small": llm.WithEnv(chosen, env("", "")),
		"big":   llm.WithEnv(llm.Named(chosen, "big"), env(llm.EnvTimeout, "soon")),
	} {
		if got := llm.ChosenModel(m); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, m := range []llm.Model{openai.New(openai.Options{Key: "k"}), picky{}} {
		if got := llm.ChosenModel(m); got != "" {
			t.Errorf("%T: nobody has chosen %q", m, got)
		}
	}
}

func TestWithEnv(t *testing.T) {
	with := func(name, value string) func(string) (string, bool) {
		return func(n string) (string, bool) { return value, n == name }
	}
	for _, tt := range []struct {
		name, value, want string // expected in the error; "" if an answer is expected
	}{
		{"OTHER", "x", ""},
		{llm.EnvTimeout, "soon", `WAVEFOLD_MODEL_TIMEOUT is "soon"; want a duration such as 90s or 5m`},
		{llm.EnvTimeout, "-1s", "WAVEFOLD_MODEL_TIMEOUT"},
		{llm.EnvTimeout, "0s", ""},
		{llm.EnvAttempts, "many", `WAVEFOLD_MODEL_ATTEMPTS is "many"; want a whole number`},
		{llm.EnvConcurrency, "-1", "WAVEFOLD_MODEL_CONCURRENCY"},
		{llm.EnvConcurrency, "2", ""},
		{llm.EnvRequests, "1.5", "WAVEFOLD_MODEL_RPM"},
		{llm.EnvTokens, "1k", "WAVEFOLD_MODEL_TPM"},
		{llm.EnvPrices, "gpt=1", `WAVEFOLD_MODEL_PRICES is "gpt=1"; want model=INPUT,OUTPUT`},
		{llm.EnvPrices, "gpt=1,NaN", "WAVEFOLD_MODEL_PRICES"},
		{llm.EnvPrices, "=1,2", "WAVEFOLD_MODEL_PRICES"},
		{llm.EnvPrices, " gpt=1,2 scripted=1000000,2000000,3 ", ""},
	} {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			script := llmtest.Script(t, llmtest.Answer{Text: "hi", Input: 1, Output: 1})
			r, err := llm.WithEnv(script, with(tt.name, tt.value)).Complete(t.Context(), &llm.Request{})
			if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v", r, err)
			}
			if err != nil && !core.FailureOf(err).FailsRun {
				t.Error("the run goes on")
			}
			if err == nil && (r.Usage.Cost == 3) != (tt.name == llm.EnvPrices) {
				t.Errorf("got %+v", r.Usage)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		script := llmtest.Script(t, llmtest.Answer{Delay: time.Hour})
		start := time.Now()
		_, err := llm.WithEnv(script, with("", "")).Complete(t.Context(), &llm.Request{})
		if took := time.Since(start); err == nil || script.Count("", "") != llm.DefaultAttempts || took < 20*time.Minute || took > 21*time.Minute {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// A thousand concurrent callers use a server that rejects one request in a hundred; each of
// them gets its own answer.
func TestThousandCallers(t *testing.T) {
	echo := llm.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: "for " + r.Messages[0].Text, Usage: core.Usage{Input: 2, Output: 3}}, nil
	})
	s := llmtest.Serve(t, echo, llmtest.ServerOptions{Seed: 7, Faults: []llmtest.Fault{{Share: 0.01, Status: 429, RetryAfter: 2 * time.Second}}})
	synctest.Test(t, func(t *testing.T) {
		backend := openai.New(openai.Options{BaseURL: s.URL, Model: "m", Client: s.Client()})
		m := llm.WithRetry(llm.WithLimit(backend, llm.Limits{Concurrent: 100}), llm.Retry{})
		var mu sync.Mutex
		var total core.Usage
		ctx := core.WithMeter(t.Context(), &core.Meter{Answered: func(c core.ModelCall) {
			mu.Lock()
			defer mu.Unlock()
			total = total.Plus(c.Usage)
		}})
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				text := fmt.Sprintf("caller %d", i)
				r, err := llm.Complete(ctx, m, &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}})
				if err != nil || r.Text != "for "+text {
					t.Errorf("%s got %+v, %v", text, r, err)
				}
			})
		}
		all.Wait()
		if want := (core.Usage{Calls: 1000, Input: 2000, Output: 3000}); total != want {
			t.Errorf("accounted for %+v, want %+v", total, want)
		}
	})
	refused := 0
	for _, r := range s.Requests() {
		if r.Status == 429 {
			refused++
		}
	}
	if n := len(s.Requests()); refused < 3 || n != 1000+refused {
		t.Errorf("%d requests, %d of them refused", n, refused)
	}
}
