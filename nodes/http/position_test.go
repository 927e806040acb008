package http

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// streamAt opens a stream at a position and reads batches, -1 for all. It returns the rows and the
// summary or error, and the position in the form that it has after it was recorded.
func streamAt(t *testing.T, node string, at *value.Object, batches int) (rows string, end string, after *value.Object) {
	t.Helper()
	in := shared()
	in.Durability = &core.Durability{Position: at}
	s, err := compile(t, node, core.Env{}).Handler.(core.StreamSource).Open(t.Context(), core.NewInput("run1", "n", 1, in), nil)
	if err != nil {
		return "", err.Error(), nil
	}
	defer s.Close()
	for list := []any{}; ; batches-- {
		p, err := core.PositionOf(s)
		if err != nil {
			t.Fatal(err)
		}
		if p != nil {
			v, err := value.ParseJSON([]byte(value.JSON(p)))
			if err != nil {
				t.Fatal(err)
			}
			after = v.(*value.Object)
		}
		if rows = value.JSON(list); batches == 0 {
			return rows, "", after
		}
		batch, err := s.Next(t.Context())
		switch {
		case err == io.EOF:
			return rows, value.JSON(s.Summary()), after
		case err != nil:
			return rows, err.Error(), after
		}
		list = append(list, batch...)
	}
}

// TestPosition: a stream that begins at the page after any other sends the remaining requests of a
// stream that begins with the first page, and has its summary.
func TestPosition(t *testing.T) {
	var requests []string
	serve := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.RequestURI())
		pages(0)(w, r)
	})
	for _, by := range []string{
		`"by": "number", "param": "page"`, `"by": "offset", "param": "offset", "size": 2`, `"by": "cursor", "param": "after", "next": "meta.next"`,
		`"by": "link"`, `"by": "link", "next": "meta.link"`,
	} {
		node := fmt.Sprintf(`{"url": "%s/list?page_size=2", "rows": "rows", "pages": {%s}, "writes": ["all"], "stream": true}`, serve.URL, by)
		requests = nil
		_, want, _ := streamAt(t, node, nil, -1)
		all := requests
		for n, rest := range map[int]string{1: `[{"n":2},{"n":3},{"n":4}]`, 2: `[{"n":4}]`, 3: `[]`} {
			_, _, at := streamAt(t, node, nil, n)
			requests = nil
			got, end, _ := streamAt(t, node, at, -1)
			if got != rest || end != want || strings.Join(requests, " ") != strings.Join(all[n:], " ") {
				t.Errorf("%s after %d pages, at %s: rows %s, want %s; end %s, want %s; requests %s, want %s", by, n, value.JSON(at), got, rest, end, want, requests, all[n:])
			}
		}
	}
}

// TestPositionKnowsLastPage: a page that is a repetition of the page before it is found also by the
// process that reads only the second of them, and max counts the pages of both.
func TestPositionKnowsLastPage(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := min(2, len(r.URL.Query().Get("p")))
		fmt.Fprintf(w, `{"rows": [{"n": %d}], "next": "%s1"}`, n, r.URL.Query().Get("p"))
	})
	for _, c := range []struct{ keys, rows, end string }{
		{`"repeat": "end"`, `[]`, `{"rows":3,"pages":4}`},
		{`"repeat": "keep", "max": 5`, `[{"n":2},{"n":2}]`, `there are more than 5 pages; raise pages.max`},
		{`"max": 5`, `[]`, `page 4 holds the same rows as page 3: the server does not know "p" (pages.repeat: end or keep, if that is meant)`},
	} {
		node := fmt.Sprintf(`{"url": "%s", "rows": "rows", "pages": {"by": "cursor", "param": "p", "next": "next", %s}, "writes": ["all"], "stream": true}`, s.URL, c.keys)
		_, _, at := streamAt(t, node, nil, 3)
		_, _, at = streamAt(t, node, at, 0) // a process that reads nothing
		if rows, end, _ := streamAt(t, node, at, -1); rows != c.rows || end != c.end {
			t.Errorf("%s: rows %s, want %s; end %s, want %s", c.keys, rows, c.rows, end, c.end)
		}
	}
}

// TestPositionHasNoSecret: servers copy the parameters of a request into the address of the next page.
func TestPositionHasNoSecret(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		q.Set("at", q.Get("at")+"1")
		w.Header().Set("Link", "</?"+q.Encode()+`>; rel="next"`)
		fmt.Fprintf(w, `[{"n": %q}]`, q.Get("at"))
	})
	for query, known := range map[string]bool{`{"key": {"secret": "PASSWORD"}}`: false, `{"key": {"secret": "TOKEN"}}`: false, `{"key": "open"}`: true} {
		node := fmt.Sprintf(`{"url": "%s", "query": %s, "pages": {"by": "link"}, "writes": ["all"], "stream": true}`, s.URL, query)
		if _, _, at := streamAt(t, node, nil, 2); (at != nil) != known {
			t.Errorf("%s: the position is %s", query, value.JSON(at))
		}
	}
}
