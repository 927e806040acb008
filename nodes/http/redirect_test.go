package http

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// world is a transport that simulates several hosts. routes maps a URL to "status URL" of a redirect;
// other URLs return 1. It records the requests.
type world struct {
	routes map[string]string
	got    []string
}

func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + r.URL.String()
	var names []string
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		line += " " + name
		if name == "Referer" {
			line += "=" + r.Header.Get(name)
		}
	}
	if r.Host != "" && r.Host != r.URL.Host {
		line += " host=" + r.Host
	}
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		line += " " + string(body)
	}
	w.got = append(w.got, line)
	res := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("1")), Request: r}
	if to, ok := w.routes[r.URL.Scheme+"://"+r.URL.Host+r.URL.Path]; ok {
		var address string
		fmt.Sscan(to, &res.StatusCode, &address)
		res.Header.Set("Location", address)
	}
	return res, nil
}

// TestRedirects tests what redirects send to other hosts. The Referer contained the secret in the query
// of the first URL, and custom headers were sent to any host.
func TestRedirects(t *testing.T) {
	const all = `"query": {"k": {"secret": "TOKEN"}}, "auth": {"bearer": {"secret": "TOKEN"}}, "headers": {"X-Key": {"secret": "TOKEN"}, "X-Plain": "{{$.q}}", "Cookie": "a=b", "Referer": "http://mine/", "Accept": "text/csv", "Host": "virtual"}`
	const own = " Accept Authorization Cookie Host Referer=http://mine/ User-Agent X-Key X-Plain"
	for _, c := range []struct {
		name, node string
		routes     map[string]string
		want       []string
		err        string
	}{
		{"the same host", `"url": "http://a/1", ` + all, map[string]string{"http://a/1": "302 /2"},
			[]string{"GET http://a/1?k=s3cret%2F%2B+token" + own + " host=virtual", "GET http://a/2" + own + " host=virtual"}, ""},
		{"no referer", `"url": "http://a/1", "query": {"k": {"secret": "TOKEN"}}`, map[string]string{"http://a/1": "302 /2"},
			[]string{"GET http://a/1?k=s3cret%2F%2B+token User-Agent", "GET http://a/2 User-Agent"}, ""},
		{"to another host", `"url": "http://a/1", ` + all, map[string]string{"http://a/1": "307 http://b/2"},
			[]string{"GET http://a/1?k=s3cret%2F%2B+token" + own + " host=virtual", "GET http://b/2 Accept User-Agent"}, ""},
		{"to another port", `"url": "http://a/1", ` + all, map[string]string{"http://a/1": "301 http://a:81/2"},
			[]string{"GET http://a/1?k=s3cret%2F%2B+token" + own + " host=virtual", "GET http://a:81/2 Accept User-Agent"}, ""},
		{"to a subdomain", `"url": "http://a/1", ` + all, map[string]string{"http://a/1": "301 http://x.a/2"},
			[]string{"GET http://a/1?k=s3cret%2F%2B+token" + own + " host=virtual", "GET http://x.a/2 Accept User-Agent"}, ""},
		{"there and back", `"url": "https://a/1", "auth": {"bearer": {"secret": "TOKEN"}}`, map[string]string{"https://a/1": "302 https://b/2", "https://b/2": "302 https://a/3"},
			[]string{"GET https://a/1 Authorization User-Agent", "GET https://b/2 User-Agent", "GET https://a/3 User-Agent"}, ""},
		{"https to http", `"url": "https://a/1"`, map[string]string{"https://a/1": "302 http://a/2"},
			[]string{"GET https://a/1 User-Agent"}, "GET https://a/1, redirected to http://a/2: the server redirects from https to http"},
		{"http to https to http", `"url": "http://a/1"`, map[string]string{"http://a/1": "302 https://a/2", "https://a/2": "302 http://a/3"},
			[]string{"GET http://a/1 User-Agent", "GET https://a/2 User-Agent"}, "GET http://a/1, redirected to http://a/3: the server redirects from https to http"},
		{"a user", `"url": "http://a/1"`, map[string]string{"http://a/1": "302 http://me:pw@b/2"},
			[]string{"GET http://a/1 User-Agent"}, "GET http://a/1, redirected to http://b/2: the server redirects to an address with a user in it"},
		{"a body goes along", `"url": "http://a/1", "method": "POST", "body": "x"`, map[string]string{"http://a/1": "307 http://a/2"},
			[]string{"POST http://a/1 Content-Type Idempotency-Key User-Agent x", "POST http://a/2 Content-Type Idempotency-Key User-Agent x"}, ""},
		{"see other", `"url": "http://a/1", "method": "POST", "body": "x"`, map[string]string{"http://a/1": "303 http://a/2"},
			[]string{"POST http://a/1 Content-Type Idempotency-Key User-Agent x", "GET http://a/2 Idempotency-Key User-Agent"}, ""},
		{"a body would be lost", `"url": "http://a/1", "method": "PUT", "body": "x"`, map[string]string{"http://a/1": "301 https://a/2?k=v"},
			[]string{"PUT http://a/1 Content-Type Idempotency-Key User-Agent x"}, "PUT http://a/1, redirected to https://a/2: the server redirects with status 301, after which a PUT becomes a GET without a body; ask https://a/2, or add ok: [301] to take this answer"},
		{"a redirect is wanted", `"url": "http://a/1", "method": "POST", "body": "x", "ok": [302], "output": "text"`, map[string]string{"http://a/1": "302 http://b/2"},
			[]string{"POST http://a/1 Content-Type Idempotency-Key User-Agent x"}, ""},
		{"a circle", `"url": "http://a/1"`, map[string]string{"http://a/1": "302 /1"}, nil, "GET http://a/1, redirected to /1: more than 10 redirects"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{routes: c.routes}
			k := New(Options{Transport: w, LookupEnv: lookupEnv})
			made, ds := k.Compile(nodestest.Node(t, "{"+c.node+"}"), core.Env{})
			if ds.Failed(true) {
				t.Fatal(ds)
			}
			_, err := made.Handler.Handle(t.Context(), core.NewInput("run1", "n", 1, shared()))
			if (err != nil || c.err != "") && (err == nil || err.Error() != c.err || !core.FailureOf(err).Permanent) {
				t.Errorf("error %v, want %s", err, c.err)
			}
			if c.want != nil && !slices.Equal(w.got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(w.got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestValuesThatClimb tests that a value ".." is rejected. Servers interpret it even if it is escaped.
func TestValuesThatClimb(t *testing.T) {
	for v, refused := range map[string]bool{
		".": true, "..": true, "%2e%2E": true, ".%2e": true, "%252e%252e": true, "..;a=b": true, "..;": true,
		"...": false, "a..b": false, ".hidden": false, "..%2Fadmin": false, "x": false, "%": false,
	} {
		w := &world{}
		made, ds := New(Options{Transport: w}).Compile(nodestest.Node(t, `{"url": "http://h/api/{{$.v}}/z?q={{$.v}}"}`), core.Env{})
		if ds.Failed(true) {
			t.Fatal(ds)
		}
		in := core.NewInput("run1", "n", 1, core.Shared{Extra: core.NewView([]string{"v"}, []any{v})})
		_, err := made.Handler.Handle(t.Context(), in)
		if said := err != nil && strings.Contains(err.Error(), "a whole segment of the path") && core.FailureOf(err).Permanent; said != refused || refused && len(w.got) > 0 || !refused && err != nil {
			t.Errorf("%s: %v, sent %v", v, err, w.got)
		}
	}
	// Segments of two parts, queries, and URLs that are fixed or a single value.
	for node, refused := range map[string]bool{
		`{"url": "http://h/.{{$.dot}}/z"}`: true, `{"url": "http://h/a/{{$.dots}}"}`: true, `{"url": "http://h/a?x={{$.dots}}"}`: false, `{"url": "http://h/a/../b"}`: false,
		`{"url": "{{$.whole}}"}`: false, `{"url": "{{$.whole}}/{{$.dots}}"}`: true, `{"url": "http://h/a", "query": {"q": "{{$.dots}}"}}`: false,
	} {
		made, ds := New(Options{Transport: &world{}}).Compile(nodestest.Node(t, node), core.Env{})
		if ds.Failed(true) {
			t.Fatal(ds)
		}
		in := core.NewInput("run1", "n", 1, core.Shared{Extra: core.NewView([]string{"dot", "dots", "whole"}, []any{".", "..", "http://h/a/../b"})})
		if _, err := made.Handler.Handle(t.Context(), in); (err != nil) != refused {
			t.Errorf("%s: %v", node, err)
		}
	}
}
