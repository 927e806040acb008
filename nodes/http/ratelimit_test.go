package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// answering compiles a node whose requests a function answers, without a network.
func answering(t *testing.T, node string, answer func(*http.Request) (*http.Response, error)) core.Handler {
	t.Helper()
	made, ds := New(Options{Transport: transportFunc(answer)}).Compile(nodestest.Node(t, node), core.Env{Items: true})
	if ds.Failed(true) {
		t.Fatal(ds)
	}
	return made.Handler
}

func respond(r *http.Request, status int, body io.Reader, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: h, Body: io.NopCloser(body), Request: r}
}

// TestRule82EqualPages tests a server that ignores the parameter and returns the same page each time.
func TestRule82EqualPages(t *testing.T) {
	pages := map[string][]string{
		"twice":  {`[{"n":1}]`, `[{"n":1}]`, `[{"n":2}]`, `[]`},
		"later":  {`[{"n":1}]`, `[{"n":2}]`, `[{"n":1}]`, `[]`},
		"thrice": {`[{"n":1},{"n":1}]`, `[{"n":2}]`, `[{"n":2}]`, `[{"n":2}]`, `[]`},
		"empty":  {`[]`, `[]`},
		"floats": {`[{"n":1}]`, `[{"n":1.0}]`, `[]`},
	}
	for _, c := range []struct{ server, repeat, want, err string }{
		{"twice", "", "", `page 2 holds the same rows as page 1: the server does not know "page" (pages.repeat: end or keep, if that is meant)`},
		{"twice", `, "repeat": "end"`, `-> [{"n":1}]`, ""},
		{"twice", `, "repeat": "keep"`, `-> [{"n":1},{"n":1},{"n":2}]`, ""},
		{"later", "", `-> [{"n":1},{"n":2},{"n":1}]`, ""},
		{"thrice", "", "", `page 3 holds the same rows as page 2: the server does not know "page" (pages.repeat: end or keep, if that is meant)`},
		{"thrice", `, "repeat": "end"`, `-> [{"n":1},{"n":1},{"n":2}]`, ""},
		{"empty", "", `-> []`, ""},
		{"floats", "", "", `page 2 holds the same rows as page 1: the server does not know "page" (pages.repeat: end or keep, if that is meant)`},
	} {
		for _, by := range []string{`"by": "number", "param": "page"`, `"by": "cursor", "param": "page", "next": "next"`, `"by": "link", "next": "link"`} {
			asked := 0
			h := answering(t, `{"url": "http://h/x", "rows": "rows", "pages": {`+by+c.repeat+`}}`, func(r *http.Request) (*http.Response, error) {
				list := pages[c.server]
				rows, next := list[min(asked, len(list)-1)], "null"
				if asked++; asked < len(list) {
					next = fmt.Sprintf(`"/x?p=%d"`, asked)
				}
				return respond(r, 200, strings.NewReader(`{"rows": `+rows+`, "next": `+next+`, "link": `+next+`}`)), nil
			})
			r, err := h.Handle(t.Context(), core.NewInput("r", "n", 1, shared()))
			want := c.err
			if strings.Contains(by, "link") {
				want = strings.Replace(want, `: the server does not know "page"`, "", 1)
			}
			switch {
			case want == "" && (err != nil || result(r) != c.want):
				t.Errorf("%s, %s%s: %s, %v", c.server, by, c.repeat, result(r), err)
			case want != "" && (err == nil || err.Error() != want || !core.FailureOf(err).Permanent):
				t.Errorf("%s, %s%s: %v, want %s", c.server, by, c.repeat, err, want)
			}
		}
	}
}

// TestRule83PerSecond tests the interval between the starts of requests over pages, redirects,
// attempts and concurrent items, and that Retry-After takes precedence.
func TestRule83PerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var mu sync.Mutex
		var starts []time.Duration
		h := answering(t, `{"url": "http://h/{{$item}}", "rows": "rows", "pages": {"by": "number", "param": "p"}, "per_second": 4}`, func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			starts = append(starts, time.Since(begin))
			mu.Unlock()
			switch {
			case r.URL.Path == "/0":
				return respond(r, 302, strings.NewReader(""), "Location", "/3?p="+r.URL.Query().Get("p")), nil
			case r.URL.Path == "/9":
				return respond(r, 429, strings.NewReader(""), "Retry-After", "10"), nil
			case r.URL.Query().Get("p") == "3":
				return respond(r, 200, strings.NewReader(`{"rows": []}`)), nil
			}
			return respond(r, 200, strings.NewReader(`{"rows": [`+r.URL.Query().Get("p")+`]}`)), nil
		})
		handle := func(item int64) error {
			_, err := h.Handle(t.Context(), core.NewInput("r", "n", 1, core.Shared{Item: item, Index: core.Nth(int(item))}))
			return err
		}
		var wg sync.WaitGroup
		for item := range int64(3) {
			wg.Go(func() {
				if err := handle(item); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(starts) != 12 { // three items of three pages, and three redirects
			t.Errorf("%d requests", len(starts))
		}
		for i, s := range starts {
			if s != time.Duration(i)*250*time.Millisecond {
				t.Errorf("request %d began after %s", i, s)
			}
		}
		// After a response with Retry-After all requests of the node wait.
		starts, begin = nil, time.Now()
		if err := handle(9); core.FailureOf(err).RetryAfter != 10*time.Second {
			t.Error(err)
		}
		if err := handle(1); err != nil {
			t.Error(err)
		}
		if starts[1]-starts[0] != 10*time.Second || starts[2]-starts[1] != 250*time.Millisecond {
			t.Error(starts)
		}
		// A request that waits for its start can be cancelled.
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := h.Handle(ctx, core.NewInput("r", "n", 1, core.Shared{Item: int64(1), Index: core.Nth(1)}))
		if want := "page 1: GET http://h/1: not sent yet: context deadline exceeded"; err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// silent is a body that blocks after its text until the request ends.
type silent struct {
	ctx  context.Context
	text string
	drip time.Duration
}

func (s *silent) Read(p []byte) (int, error) {
	if s.text == "" {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	time.Sleep(s.drip)
	n := copy(p, s.text[:1])
	s.text = s.text[1:]
	return n, nil
}

// TestRule83IdleTimeout tests that a server that stops sending ends the attempt, with an error that
// names the server. Without a timeout it blocked the node forever.
func TestRule83IdleTimeout(t *testing.T) {
	for _, c := range []struct {
		name, node string
		timeout    time.Duration
		answer     func(*http.Request) (*http.Response, error)
		want       string
		after      time.Duration
		class      string
	}{
		{"no answer", `{"url": "http://h/x?k=v"}`, 0, nil, "GET http://h/x: no byte for 1m0s (idle_timeout)", time.Minute, core.ClassTimeout},
		{"no answer, shorter", `{"url": "http://h/x", "idle_timeout": "5s"}`, 0, nil, "GET http://h/x: no byte for 5s (idle_timeout)", 5 * time.Second, core.ClassTimeout},
		{"no end", `{"url": "http://h/x", "idle_timeout": "5s"}`, 0, func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, &silent{r.Context(), "[1,", time.Second}), nil
		}, "GET http://h/x: the answer has not ended after 3 bytes, and no byte came for 5s (idle_timeout)", 8 * time.Second, core.ClassTimeout},
		{"a slow one", `{"url": "http://h/x", "idle_timeout": "5s"}`, 0, func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, io.MultiReader(&silentEnd{"[1,2]", 4 * time.Second})), nil
		}, "", 20 * time.Second, ""},
		{"a page", `{"url": "http://h/x", "pages": {"by": "number", "param": "p"}}`, 0, nil, "page 1: GET http://h/x: no byte for 1m0s (idle_timeout)", time.Minute, core.ClassTimeout},
		{"a refusal without end", `{"url": "http://h/x"}`, 0, func(r *http.Request) (*http.Response, error) {
			return respond(r, 500, &silent{r.Context(), "", 0}), nil
		}, "GET http://h/x: 500", 2 * time.Minute, core.ClassError},
		{"the timeout of the node", `{"url": "http://h/x"}`, 2 * time.Second, nil, "GET http://h/x: no answer yet: context deadline exceeded", 2 * time.Second, core.ClassError},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := c.answer
				if answer == nil {
					answer = func(r *http.Request) (*http.Response, error) {
						<-r.Context().Done()
						return nil, r.Context().Err()
					}
				}
				ctx := t.Context()
				if c.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.timeout)
					defer cancel()
				}
				begin := time.Now()
				_, err := answering(t, c.node, answer).Handle(ctx, core.NewInput("r", "n", 1, shared()))
				if took := time.Since(begin); took > c.after || c.want != "" && took < min(c.after, time.Minute) {
					t.Errorf("took %s", took)
				}
				if c.want == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if err == nil || err.Error() != c.want || core.FailureOf(err).Class != c.class || core.FailureOf(err).Permanent {
					t.Errorf("%v, %+v, want %s", err, core.FailureOf(err), c.want)
				}
			})
		})
	}
}

// silentEnd is a slow body that ends.
type silentEnd struct {
	text string
	wait time.Duration
}

func (s *silentEnd) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	time.Sleep(s.wait)
	n := copy(p, s.text[:1])
	s.text = s.text[1:]
	return n, nil
}

// TestAReaderMayBeSlow tests that time between reads of a stream does not count as idle.
func TestAReaderMayBeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat("{\"a\":1}\n", 2*batchRows+1)
		made, ds := New(Options{Transport: transportFunc(func(r *http.Request) (*http.Response, error) { return respond(r, 200, strings.NewReader(body)), nil })}).
			Compile(nodestest.Node(t, `{"url": "http://h/x", "output": "jsonl", "stream": true, "writes": ["rows"]}`), core.Env{})
		if ds.Failed(true) {
			t.Fatal(ds)
		}
		s, err := made.Handler.(core.StreamSource).Open(t.Context(), core.NewInput("r", "n", 1, shared()), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for n := 0; ; {
			rows, err := s.Next(t.Context())
			if err == io.EOF && n == 2*batchRows+1 {
				return
			}
			if n += len(rows); err != nil {
				t.Fatal(n, err)
			}
			time.Sleep(time.Hour)
		}
	})
}
