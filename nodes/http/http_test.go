package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

var secrets = map[string]string{"TOKEN": "s3cret/+ token", "PASSWORD": "hunter2"}

var kind = New(Options{LookupEnv: lookupEnv})

func lookupEnv(name string) (string, bool) { v, ok := secrets[name]; return v, ok }

// serve starts a server for one test.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func shared() core.Shared {
	return core.Shared{
		Args:  value.ObjectOf("name", "Ada", "n", int64(9007199254740993)),
		Extra: core.NewView([]string{"id", "q"}, []any{"../admin?x=1", "a b&c=d"}),
		Item:  int64(3), Index: core.Nth(2),
	}
}

func compile(t *testing.T, node string, env core.Env) core.Compiled {
	t.Helper()
	made, ds := kind.Compile(nodestest.Node(t, node), env)
	if ds.Failed(!strings.Contains(node, "NOBODY")) {
		t.Fatalf("%s: findings %v", node, ds)
	}
	return made
}

func handle(t *testing.T, node string) (core.Result, error) {
	t.Helper()
	return compile(t, node, core.Env{Dir: t.TempDir(), Items: true}).Handler.Handle(t.Context(), core.NewInput("run1", "n", 1, shared()))
}

// result formats a result for comparisons.
func result(r core.Result) string {
	s := ""
	for field, v := range r.Writes() {
		s += field + "=" + value.JSON(v) + " "
	}
	if r.HasEdgeOutput {
		s += "-> " + value.JSON(r.EdgeOutput)
	}
	return s
}

func TestConformance(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Millisecond):
			fmt.Fprint(w, `{"data": [{"id": 1}]}`)
		}
	})
	nodestest.Run(t, kind, nodestest.Case{
		Node:  fmt.Sprintf(`{"url": "%s/x", "rows": "data", "writes": ["rows"]}`, s.URL),
		Input: shared(),
	})
}

func TestDocs(t *testing.T) {
	nodestest.CheckDocs(t, kind, nodestest.Nested{Path: "auth", Config: authConfig{}}, nodestest.Nested{Path: "auth.basic", Config: basicConfig{}},
		nodestest.Nested{Path: "pages", Config: pagesConfig{}})
}

// TestRequests tests the URLs, parameters, headers and bodies of requests.
func TestRequests(t *testing.T) {
	var got string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.RequestURI + "\n"
		for _, k := range []string{"Accept", "Authorization", "Content-Type", "Idempotency-Key", "User-Agent", "X-Key"} {
			if v := r.Header.Get(k); v != "" {
				got += k + ": " + v + "\n"
			}
		}
		got += string(body)
		fmt.Fprint(w, "null")
	})
	for _, c := range []struct{ node, want string }{
		{`{"url": "URL/a?b=c"}`, "GET /a?b=c\nUser-Agent: wavefold\n"},
		{`{"url": "URL/users/{{$.id}}?q={{$.q}}"}`, "GET /users/..%2Fadmin%3Fx=1?q=a+b%26c%3Dd\nUser-Agent: wavefold\n"},
		{`{"url": "URL/a?z=1", "query": {"q": "{{$.q}}", "page": "{{$item}}", "key": {"secret": "TOKEN"}}}`,
			"GET /a?z=1&q=a+b%26c%3Dd&page=3&key=s3cret%2F%2B+token\nUser-Agent: wavefold\n"},
		{`{"url": "URL/a", "headers": {"accept": "text/csv", "User-Agent": "me", "X-Key": {"secret": "TOKEN"}}}`,
			"GET /a\nAccept: text/csv\nUser-Agent: me\nX-Key: s3cret/+ token\n"},
		{`{"url": "URL/a", "auth": {"bearer": {"secret": "TOKEN"}}}`, "GET /a\nAuthorization: Bearer s3cret/+ token\nUser-Agent: wavefold\n"},
		{`{"url": "URL/a", "auth": {"basic": {"user": "ada", "password": {"secret": "PASSWORD"}}}}`,
			"GET /a\nAuthorization: Basic YWRhOmh1bnRlcjI=\nUser-Agent: wavefold\n"},
		{`{"url": "URL/a", "method": "POST", "body": "args", "args": {"name": "x"}}`,
			"POST /a\nContent-Type: application/json\nIdempotency-Key: run1/n[2]\nUser-Agent: wavefold\n" + `{"name":"Ada","n":9007199254740993}`},
		{`{"url": "URL/a", "method": "PUT", "body": "<{{$.q}}>"}`, "PUT /a\nContent-Type: text/plain; charset=utf-8\nIdempotency-Key: run1/n[2]\nUser-Agent: wavefold\n<a b&c=d>"},
		{`{"url": "URL/a", "method": "PATCH", "body": "[{{$item}}]", "headers": {"Idempotency-Key": "mine", "Content-Type": "text/x"}}`,
			"PATCH /a\nContent-Type: text/x\nIdempotency-Key: mine\nUser-Agent: wavefold\n[3]"},
	} {
		if _, err := handle(t, strings.ReplaceAll(c.node, "URL", s.URL)); err != nil {
			t.Errorf("%s: %v", c.node, err)
		}
		if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.node, got, c.want)
		}
	}
}

// TestAnswers tests the results of responses.
func TestAnswers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			fmt.Fprint(w, `{"id": 9007199254740993, "data": {"items": [{"a": 1}, {"a": 2.0}]}}`)
		case "/lines":
			fmt.Fprint(w, "one\r\ntwo\n\nthree")
		case "/jsonl":
			fmt.Fprint(w, "{\"a\":1}\n\n{\"a\":2}\n")
		case "/gone":
			http.Error(w, "no such thing", http.StatusNotFound)
		case "/latin":
			w.Write([]byte("caf\xe9"))
		case "/huge":
			fmt.Fprint(w, `{"id": 99999999999999999999}`)
		case "/html":
			fmt.Fprint(w, "<html>sign in</html>")
		case "/limit":
			fmt.Fprint(w, strings.Repeat("x", 64))
		}
	})
	for _, c := range []struct{ node, want, err string }{
		{node: `{"url": "URL/big"}`, want: `-> {"id":9007199254740993,"data":{"items":[{"a":1},{"a":2.0}]}}`},
		{node: `{"url": "URL/big", "writes": ["doc"]}`, want: `doc={"id":9007199254740993,"data":{"items":[{"a":1},{"a":2.0}]}} -> {"status":200}`},
		{node: `{"url": "URL/big", "rows": "$.data.items", "writes": ["rows"]}`, want: `rows=[{"a":1},{"a":2.0}] -> {"status":200,"rows":2}`},
		{node: `{"url": "URL/big", "rows": "data.itmes"}`, err: `GET URL/big: the answer has no data.itmes, did you mean "items"?`},
		{node: `{"url": "URL/big", "rows": "id.x"}`, err: `GET URL/big: id of the answer is integer, want an object`},
		{node: `{"url": "URL/lines", "output": "lines"}`, want: `-> ["one","two","","three"]`},
		{node: `{"url": "URL/lines", "output": "text"}`, want: `-> "one\r\ntwo\n\nthree"`},
		{node: `{"url": "URL/jsonl", "output": "jsonl"}`, want: `-> [{"a":1},{"a":2}]`},
		{node: `{"url": "URL/lines", "output": "jsonl"}`, err: `GET URL/lines: line 1 is not JSON`},
		{node: `{"url": "URL/lines", "output": "none"}`, want: `-> {"status":200}`},
		{node: `{"url": "URL/lines", "method": "HEAD"}`, want: `-> null`},
		{node: `{"url": "URL/gone"}`, err: `GET URL/gone: 404 Not Found: "no such thing"`},
		{node: `{"url": "URL/gone", "ok": [404], "output": "text"}`, want: `-> "no such thing\n"`},
		{node: `{"url": "URL/latin", "output": "text"}`, err: `GET URL/latin: the answer is not UTF-8`},
		{node: `{"url": "URL/huge"}`, err: `GET URL/huge: the answer is JSON that no value holds exactly: `},
		{node: `{"url": "URL/huge"}`, err: `number 99999999999999999999 does not fit 64 bits; it begins with`},
		{node: `{"url": "URL/huge", "output": "jsonl"}`, err: `GET URL/huge: line 1 is JSON that no value holds exactly: `},
		{node: `{"url": "URL/html"}`, err: `GET URL/html: the answer is not JSON: `},
		{node: `{"url": "URL/limit", "output": "text", "max_body": 64}`, want: `-> "` + strings.Repeat("x", 64) + `"`},
		{node: `{"url": "URL/limit", "output": "text", "max_body": 63}`, err: `GET URL/limit: the answer is longer than 63 bytes; raise max_body`},
		{node: `{"url": "{{$.q}}"}`, err: `want an address that begins with http:// or https://`},
	} {
		r, err := handle(t, strings.ReplaceAll(c.node, "URL", s.URL))
		want := strings.ReplaceAll(c.err, "URL", s.URL)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %s", c.node, err, want)
		case c.err != "" && !core.FailureOf(err).Permanent:
			t.Errorf("%s: %v may be tried again", c.node, err)
		case c.err == "" && (err != nil || result(r) != c.want):
			t.Errorf("%s:\n got %s, %v\nwant %s", c.node, result(r), err, c.want)
		}
	}
}

// TestRetries tests which failures are temporary, and the delay of the retry.
func TestRetries(t *testing.T) {
	status, header := 0, ""
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(status)
	})
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	far := time.Now().Add(48 * time.Hour).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		status    int
		header    string
		permanent bool
		wait      time.Duration
	}{
		{400, "", true, 0}, {401, "", true, 0}, {403, "7", true, 0}, {404, "", true, 0}, {408, "", false, 0}, {425, "", false, 0},
		{429, "7", false, 7 * time.Second}, {500, "", false, 0}, {503, date, false, time.Hour}, {503, "soon", false, 0}, {503, "-4", false, 0},
		// A Retry-After of more than an hour is a permanent failure, and so is a number of more
		// than 64 bits.
		{429, "3600", false, time.Hour}, {429, "3601", true, 0}, {429, "99999999999999999999", true, 0}, {503, far, true, 0},
	} {
		status, header = c.status, c.header
		_, err := handle(t, fmt.Sprintf(`{"url": "%s"}`, s.URL))
		f := core.FailureOf(err)
		if f.Permanent != c.permanent {
			t.Errorf("%d: permanent %v", c.status, f.Permanent)
		}
		if d := f.RetryAfter - c.wait; d > 0 || d < -time.Minute || c.wait < time.Minute && d != 0 {
			t.Errorf("%d %q: wait %v", c.status, c.header, f.RetryAfter)
		}
	}
	s.Close()
	if _, err := handle(t, fmt.Sprintf(`{"url": "%s"}`, s.URL)); err == nil || core.FailureOf(err).Permanent {
		t.Errorf("a refused connection: %v", err)
	}
}

// TestNoAnswer tests the errors of missing and incomplete responses: they name the request and have
// the right category.
func TestNoAnswer(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	short := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "[1,")
	})
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(untrusted.Close)
	moved := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, untrusted.URL+"/far?token=t0ken", http.StatusFound)
	})
	away := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	mute := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, c := range map[string]struct {
		url, want string
		permanent bool
	}{
		"cut off":    {short.URL, "GET " + short.URL + ": the answer broke off after 3 bytes: unexpected EOF", false},
		"untrusted":  {untrusted.URL, "GET " + untrusted.URL + ": the server's certificate is not to be trusted; SSL_CERT_FILE names a file of authorities to trust: ", true},
		"no TLS":     {strings.Replace(plain.URL, "http:", "https:", 1), ": the server does not speak TLS there (is it http://?): ", true},
		"empty":      {plain.URL, "GET " + plain.URL + ": the answer is empty, want JSON (output: none wants nothing)", true},
		"mute":       {mute.URL, "GET " + mute.URL + ": the server closed the connection without an answer: EOF", false},
		"elsewhere":  {away.URL, ": the server redirects to file://", true},
		"redirected": {moved.URL, "GET " + moved.URL + ", redirected to " + untrusted.URL + "/far: the server's certificate is not to be trusted", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := compile(t, fmt.Sprintf(`{"url": %q}`, c.url), core.Env{Dir: t.TempDir()}).Handler
			_, err := h.Handle(t.Context(), core.NewInput("run1", "n", 1, shared()))
			if err == nil || !strings.Contains(err.Error(), c.want) || core.FailureOf(err).Permanent != c.permanent {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestAnswerWithoutEnd tests that the node's timeout ends a slow response, with an error that has the
// number of bytes read.
func TestAnswerWithoutEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	drip := io.MultiReader(strings.NewReader("[1,"), readerFunc(func([]byte) (int, error) { cancel(); return 0, ctx.Err() }))
	k := New(Options{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(drip), Request: r}, nil
	})})
	made, ds := k.Compile(nodestest.Node(t, `{"url": "http://example.test/x?key=k"}`), core.Env{})
	if ds.Failed(true) {
		t.Fatal(ds)
	}
	_, err := made.Handler.Handle(ctx, core.NewInput("run1", "n", 1, shared()))
	const want = "GET http://example.test/x: the answer has not ended after 3 bytes: context canceled"
	if err == nil || err.Error() != want || !errors.Is(err, context.Canceled) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

type (
	readerFunc    func([]byte) (int, error)
	transportFunc func(*http.Request) (*http.Response, error)
)

func (f readerFunc) Read(p []byte) (int, error)                           { return f(p) }
func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pages serves five rows in pages of two, for every value of pages.by.
func pages(broken int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		from := 0
		switch {
		case q.Has("page"):
			fmt.Sscan(q.Get("page"), &from)
			from = 2 * (from - 1)
		case q.Has("offset"):
			fmt.Sscan(q.Get("offset"), &from)
		case q.Has("after"):
			fmt.Sscan(strings.TrimPrefix(q.Get("after"), "row "), &from)
		case q.Has("at"):
			fmt.Sscan(q.Get("at"), &from)
		}
		if broken > 0 && from == 2*(broken-1) {
			fmt.Fprint(w, `{"rows": [{"n":`)
			return
		}
		var rows []string
		for n := from; n < min(from+2, 5); n++ {
			rows = append(rows, fmt.Sprintf(`{"n":%d}`, n))
		}
		next, link := "null", "null"
		if from+2 < 5 {
			next, link = fmt.Sprintf(`"row %d"`, from+2), fmt.Sprintf(`"/list?at=%d"`, from+2)
			w.Header().Add("Link", fmt.Sprintf(`</list?at=0>; rel="first", </list?at=%d>; title="a, <b>"; rel="next"`, from+2))
		}
		fmt.Fprintf(w, `{"rows": [%s], "meta": {"next": %s, "link": %s}}`, strings.Join(rows, ","), next, link)
	}
}

func TestPages(t *testing.T) {
	s := serve(t, pages(0))
	for _, p := range []string{
		`{"by": "number", "param": "page"}`, `{"by": "number", "param": "page", "size": 2}`, `{"by": "offset", "param": "offset", "size": 2}`,
		`{"by": "cursor", "param": "after", "next": "meta.next"}`, `{"by": "link"}`, `{"by": "link", "next": "meta.link"}`,
	} {
		count := 3
		if p == `{"by": "number", "param": "page"}` {
			count = 4 // an empty page is the last one
		}
		node := fmt.Sprintf(`{"url": "%s/list?page_size=2", "rows": "rows", "pages": %s, "writes": ["all"]`, s.URL, p)
		r, err := handle(t, node+"}")
		want := fmt.Sprintf(`all=[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4}] -> {"status":200,"rows":5,"pages":%d}`, count)
		if err != nil || result(r) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", p, result(r), err, want)
		}
		if got := pull(t, node+`, "stream": true}`, -1); got != fmt.Sprintf(`[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4}] {"rows":5,"pages":%d}`, count) {
			t.Errorf("%s as a stream: %s", p, got)
		}
	}
}

// TestFirstPageWithoutNext tests the warning about a first page without the member with the next
// page.
func TestFirstPageWithoutNext(t *testing.T) {
	var answer string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, answer) })
	for _, c := range []struct{ answer, next, want string }{
		{`{"rows": [{"n": 1}], "meta": {"next": "b"}}`, "meta.nxt", `pages.next: page 1 has no meta.nxt (did you mean "next"?), so it was taken for the last page`},
		{`{"rows": [{"n": 1}], "meta": {"next": "b"}}`, "$.mta.next", `pages.next: page 1 has no mta (did you mean "meta"?), so`},
		{`{"rows": [{"n": 1}], "meta": "b"}`, "meta.next", `pages.next: page 1 has no meta.next, so`},
		{`{"rows": [{"n": 1}], "meta": {"next": null}}`, "meta.next", ""},
		{`{"rows": [{"n": 1}], "meta": {"next": ""}}`, "meta.next", ""},
		{`{"rows": [{"n": 1}], "meta": null}`, "meta.next", ""},
		{`{"rows": []}`, "meta.next", ""}, // nothing is lost
	} {
		for _, by := range []string{`"by": "cursor", "param": "after"`, `"by": "link"`} {
			answer = c.answer
			made := compile(t, fmt.Sprintf(`{"url": "%s", "rows": "rows", "pages": {%s, "next": "%s"}, "writes": ["all"]}`, s.URL, by, c.next), core.Env{})
			log := &nodestest.Log{}
			in := shared()
			in.Log = slog.New(log)
			_, err := made.Handler.Handle(t.Context(), core.NewInput("run1", "n", 1, in))
			if got := log.Text(); err != nil || !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%s of %s: %q, %v, want %q", c.next, c.answer, got, err, c.want)
			}
		}
	}
}

// pull reads a stream to its end or up to a number of batches, and closes it.
func pull(t *testing.T, node string, batches int) string {
	t.Helper()
	made := compile(t, node, core.Env{})
	in := core.NewInput("run1", "n", 1, shared())
	r, err := made.Handler.Handle(t.Context(), in)
	if err != nil {
		return err.Error()
	}
	s, err := made.Handler.(core.StreamSource).Open(t.Context(), in, r.Writes()[made.Stream.Value].(*value.Object))
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	rows := []any{}
	for ; batches != 0; batches-- {
		batch, err := s.Next(t.Context())
		if err == io.EOF {
			return value.JSON(rows) + " " + value.JSON(s.Summary())
		}
		if err != nil {
			return value.JSON(rows) + " " + err.Error()
		}
		rows = append(rows, batch...)
	}
	return value.JSON(rows)
}

func TestBrokenPages(t *testing.T) {
	s := serve(t, pages(2))
	node := fmt.Sprintf(`{"url": "%s/list", "rows": "rows", "pages": {"by": "number", "param": "page"}, "writes": ["all"]`, s.URL)
	want := "page 2: GET " + s.URL + "/list: the answer is not JSON: "
	if _, err := handle(t, node+"}"); err == nil || !strings.HasPrefix(err.Error(), want) || !core.FailureOf(err).Permanent {
		t.Errorf("%v", err)
	}
	if got := pull(t, node+`, "stream": true}`, -1); !strings.HasPrefix(got, `[{"n":0},{"n":1}] `+want) {
		t.Errorf("as a stream: %s", got)
	}
	if got := pull(t, node+`, "stream": true}`, 1); got != `[{"n":0},{"n":1}]` {
		t.Errorf("one page: %s", got)
	}
	endless := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			fmt.Fprint(w, `{"rows": [{}], "next": "x", "link": "/same"}`)
		case "/away":
			fmt.Fprint(w, `{"rows": [{}], "link": "http://elsewhere.test/"}`)
		case "/bad":
			fmt.Fprint(w, `{"rows": {}, "next": []}`)
		case "/new":
			fmt.Fprintf(w, `{"rows": [{"n": %q}]}`, r.URL.Query().Get("p"))
		case "/odd":
			fmt.Fprint(w, `{"rows": [], "next": []}`)
		default:
			fmt.Fprint(w, `{"rows": [{}]}`)
		}
	})
	for _, c := range []struct{ path, pages, want string }{
		{"/new", `{"by": "number", "param": "p", "max": 3}`, "there are more than 3 pages; raise pages.max"},
		{"/same", `{"by": "cursor", "param": "p", "next": "next"}`, "page 2: GET URL/same: the answer names the same next page again (next)"},
		{"/same", `{"by": "link", "next": "link"}`, "page 1: GET URL/same: the answer names itself as the next page"},
		{"/away", `{"by": "link", "next": "link"}`, "page 1: GET URL/away: the next page lies on another host, http://elsewhere.test"},
		{"/bad", `{"by": "number", "param": "p"}`, "page 1: GET URL/bad: rows of the answer is object, want the array of rows"},
		{"/odd", `{"by": "cursor", "param": "p", "next": "next"}`, "page 1: GET URL/odd: next of the answer is array, want a string"},
	} {
		_, err := handle(t, fmt.Sprintf(`{"url": "%s%s", "rows": "rows", "pages": %s}`, endless.URL, c.path, c.pages))
		if want := strings.ReplaceAll(c.want, "URL", endless.URL); err == nil || err.Error() != want {
			t.Errorf("%s %s: %v, want %s", c.path, c.pages, err, want)
		}
	}
}

func TestStreamOfLines(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := 2500
		fmt.Sscan(r.URL.Query().Get("n"), &n)
		for i := range n {
			fmt.Fprintf(w, "{\"n\":%d}\n", i)
		}
		fmt.Fprint(w, r.URL.Query().Get("tail"))
	})
	node := `{"url": "%s?n=%d&tail=%s", "output": "jsonl", "writes": ["rows"], "stream": true%s}`
	if got := pull(t, fmt.Sprintf(node, s.URL, 2500, "", ""), -1); !strings.HasSuffix(got, `{"n":2499}] {"rows":2500}`) {
		t.Errorf("got %.80s", got)
	}
	for _, c := range []struct{ tail, more, want string }{
		{"%7B", "", "line 4 is not JSON"}, {"7", "", "row 4 is integer, want an object"}, {"", `, "max_body": 20`, "the answer is longer than 20 bytes"},
	} {
		if got := pull(t, fmt.Sprintf(node, s.URL, 3, c.tail, c.more), -1); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.tail, got, c.want)
		}
	}
}

func TestSave(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(strings.Repeat("\xff", 100))) })
	dir := t.TempDir()
	run := func(more string) (core.Result, error) {
		made := compile(t, fmt.Sprintf(`{"url": "%s/raw", "save": "in/{{$item}}.bin"%s}`, s.URL, more), core.Env{Dir: dir, Items: true})
		return made.Handler.Handle(t.Context(), core.NewInput("r", "n", 1, shared()))
	}
	r, err := run("")
	if err != nil || result(r) != `-> {"status":200,"path":"in/3.bin","bytes":100}` {
		t.Fatalf("%s, %v", result(r), err)
	}
	if _, err := run(`, "max_body": 99`); err == nil || !strings.Contains(err.Error(), "longer than 99 bytes") {
		t.Errorf("too long: %v", err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "in", "*"))
	data, _ := os.ReadFile(filepath.Join(dir, "in", "3.bin"))
	if len(files) != 1 || len(data) != 100 {
		t.Errorf("%v, %d bytes", files, len(data))
	}
}

// TestEndlessAnswers tests that endless responses end at the limit, and that a silent one ends with
// the context.
func TestEndlessAnswers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.URL.Path == "/flood" {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if _, err := handle(t, fmt.Sprintf(`{"url": "%s/flood", "output": "text", "max_body": "1MB"}`, s.URL)); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("flood: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := compile(t, fmt.Sprintf(`{"url": "%s/silent"}`, s.URL), core.Env{}).Handler.Handle(ctx, core.NewInput("r", "n", 1, shared()))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent: %v", err)
	}
}

// TestSecretsStayPrivate tests that no error contains a secret, and that no secret is sent to another
// host.
func TestSecretsStayPrivate(t *testing.T) {
	var seen http.Header
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { seen = r.Header; fmt.Fprint(w, "1") })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
			return
		}
		http.Error(w, "bad key "+r.Header.Get("X-Key")+" "+r.URL.RawQuery+" "+r.Header.Get("Authorization"), http.StatusForbidden)
	})
	node := `{"url": "%s%s", "headers": {"X-Key": {"secret": "TOKEN"}}, "query": {"key": {"secret": "TOKEN"}}, "auth": {"basic": {"user": "ada", "password": {"secret": "PASSWORD"}}}}`
	_, err := handle(t, fmt.Sprintf(node, s.URL, "/"))
	for _, secret := range []string{"s3cret", "hunter2", "YWRhOmh1bnRlcjI="} {
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s is in %v", secret, err)
		}
	}
	if _, err := handle(t, fmt.Sprintf(node, s.URL, "/away")); err != nil {
		t.Fatal(err)
	}
	if seen.Get("X-Key") != "" || seen.Get("Authorization") != "" || seen.Get("User-Agent") != "wavefold" {
		t.Errorf("another host was sent %v", seen)
	}
	unset := fmt.Sprintf(`{"url": "%s", "auth": {"bearer": {"secret": "NOBODY"}}}`, s.URL)
	if _, ds := kind.Compile(nodestest.Node(t, unset), core.Env{}); len(ds) != 1 || ds[0].Severity != source.Warning || !strings.Contains(ds[0].Message, "auth.bearer: the environment variable NOBODY is not set") {
		t.Error(ds)
	}
	_, err = handle(t, unset)
	if err == nil || err.Error() != "auth.bearer: the environment variable NOBODY is not set" {
		t.Error(err)
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct{ node, want string }{
		{`{}`, `key "url" is missing`},
		{`{"url": "ftp://x"}`, `url: "ftp://x": want an address that begins with http:// or https://`},
		{`{"url": "http://"}`, `the address has no host`},
		{`{"url": "http://me:pw@x"}`, `url: "http://***@x": a user in the address would show in logs; use auth`},
		{`{"url": "http://me:p w@x"}`, `url: "http://***@x" is not an address`},
		{`{"url": "http://x", "methd": "GET"}`, `unknown key "methd"`},
		{`{"url": "http://x", "method": "get"}`, `"get" is none of GET, HEAD`},
		{`{"url": "http://x", "body": "y"}`, `body: a GET request has no body`},
		{`{"url": "http://x", "method": "POST", "body": "args"}`, `body: the node has no args to send`},
		{`{"url": "http://x", "headers": {"a b": "c"}}`, `"a b" cannot be the name of a header`},
		{`{"url": "http://x", "headers": {"authorization": "c"}, "auth": {"bearer": {"secret": "T"}}}`, `Authorization is given here and under auth`},
		{`{"url": "http://x", "auth": {}}`, `auth: want bearer or basic, one of them`},
		{`{"url": "http://x", "rows": "a[0]"}`, `rows: want names with points between them, found "a[0]"`},
		{`{"url": "http://x", "output": "text", "rows": "a"}`, `rows: belongs to output json`},
		{`{"url": "http://x", "pages": {"by": "cursor", "param": "c"}}`, `by: cursor needs next`},
		{`{"url": "http://x", "pages": {"by": "number"}}`, `by: number needs param`},
		{`{"url": "http://x", "pages": {"by": "offset", "param": "o"}}`, `by: offset needs size`},
		{`{"url": "http://x", "pages": {"by": "link", "param": "o"}}`, `pages.param: has no meaning for by: link`},
		{`{"url": "http://x", "pages": {"by": "link"}, "output": "text"}`, `pages are JSON; output is text`},
		{`{"url": "http://x", "stream": true, "writes": ["a"]}`, `only pages, or output jsonl, come piece by piece`},
		{`{"url": "http://x", "stream": true, "pages": {"by": "link"}}`, `a stream needs one field`},
		{`{"url": "http://x", "save": "a", "output": "text"}`, `output: does not go with save`},
		{`{"url": "http://x", "save": "../a"}`, `save: `},
		{`{"url": "http://x", "per_second": 0}`, `per_second: want a number above 0 and at most 1000000, found 0`},
		{`{"url": "http://x", "per_second": -0.5}`, `per_second: want a number above 0 and at most 1000000, found -0.5`},
		{`{"url": "http://x", "per_second": "x"}`, `per_second`},
		{`{"url": "http://x", "idle_timeout": "0s"}`, `idle_timeout`},
		{`{"url": "http://x", "pages": {"by": "link", "repeat": "drop"}}`, `"drop" is none of end, keep`},
		{`{"url": "http://x", "output": "none", "into": "a", "writes": ["a"]}`, `output: none has nothing to put into a field`},
	} {
		_, ds := kind.Compile(nodestest.Node(t, c.node), core.Env{})
		if got := ds.Error(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.node, got, c.want)
		}
		for _, d := range ds {
			if !d.Pos.IsValid() {
				t.Errorf("%s: %v has no position", c.node, d)
			}
		}
	}
}
