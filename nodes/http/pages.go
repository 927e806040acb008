package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Values of pages.by.
const (
	byNumber = "number"
	byOffset = "offset"
	byCursor = "cursor"
	byLink   = "link"
)

// pageSettings is the compiled key pages.
type pageSettings struct {
	by, param string
	from      int
	size      int // 0 if unknown
	next      []string
	max       int
	repeat    string
}

// Values of pages.repeat, for a page with the same rows as the previous one. By default that is
// an error.
const (
	repeatEnd  = "end"
	repeatKeep = "keep"
)

// pager fetches the pages in order.
type pager struct {
	h       *handler
	c       *call
	url     *url.URL // of the next page, nil after the last
	at      int      // its number or offset
	cursor  string
	fetched int
	status  int
	last    []any  // the rows of the previous page
	lastSum string // their sum if another process has read them, otherwise ""
	log     *slog.Logger
}

func (h *handler) pager(c *call, log *slog.Logger) *pager {
	p := &pager{h: h, c: c, url: c.url, at: h.pages.from, log: log}
	if h.pages.by == byNumber || h.pages.by == byOffset {
		p.setPage(strconv.Itoa(p.at))
	}
	return p
}

// setPage sets the page of the next request.
func (p *pager) setPage(page string) { p.url = withParam(p.c.url, p.h.pages.param, page, true) }

// next returns the rows of the next page, which may be empty. After the last page it returns
// io.EOF.
func (p *pager) next(ctx context.Context) ([]any, error) {
	if p.url == nil {
		return nil, io.EOF
	}
	if p.fetched == p.h.pages.max {
		return nil, core.Permanent(fmt.Errorf("there are more than %d pages; raise pages.max", p.fetched))
	}
	rows, err := p.fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", p.fetched+1, err)
	}
	p.fetched++
	if g := p.h.pages; g.repeat != repeatKeep && len(rows) > 0 && p.repeats(rows) {
		if g.repeat == repeatEnd {
			p.url = nil
			return nil, nil
		}
		return nil, core.Permanent(p.repeatedError())
	}
	p.last, p.lastSum = slices.Clone(rows), "" // the caller owns the list
	return rows, nil
}

// repeats reports whether rows are the rows of the previous page.
func (p *pager) repeats(rows []any) bool {
	if p.lastSum != "" {
		return p.lastSum == sum(rows)
	}
	return value.Equal(p.last, rows)
}

// repeatedError returns the error for a page with the same rows as the previous one.
func (p *pager) repeatedError() error {
	why := ""
	if p.h.pages.param != "" {
		why = fmt.Sprintf(": the server does not know %q", p.h.pages.param)
	}
	return fmt.Errorf("page %d holds the same rows as page %d%s (pages.repeat: end or keep, if that is meant)", p.fetched, p.fetched-1, why)
}

func (p *pager) fetch(ctx context.Context) ([]any, error) {
	a, err := p.c.send(ctx, p.url)
	if err != nil {
		return nil, err
	}
	defer a.close()
	data, err := a.body()
	if err != nil {
		return nil, err
	}
	doc, err := a.json(data)
	if err != nil {
		return nil, err
	}
	v, err := find(doc, p.h.rows)
	if err != nil {
		return nil, a.permanent(err)
	}
	rows, ok := v.([]any)
	if !ok {
		return nil, a.permanent(fmt.Errorf("%s of the answer is %s, want the array of rows", describe(p.h.rows), value.TypeName(v)))
	}
	p.status = a.status
	if p.fetched == 0 && len(rows) > 0 {
		p.warnMissingNext(doc)
	}
	return rows, a.permanent(p.advance(a, doc, rows))
}

// advance finds the URL of the page after the one that was read.
func (p *pager) advance(a *answer, doc any, rows []any) error {
	g := p.h.pages
	switch g.by {
	case byNumber, byOffset:
		step := 1
		if g.by == byOffset {
			step = g.size
		}
		if p.at += step; len(rows) == 0 || len(rows) < g.size {
			p.url = nil
			return nil
		}
		p.setPage(strconv.Itoa(p.at))
		return nil
	case byCursor:
		cursor, err := p.nextString(doc)
		if p.url = nil; err != nil || cursor == "" {
			return err
		}
		if cursor == p.cursor {
			return fmt.Errorf("the answer names the same next page again (%s)", strings.Join(g.next, "."))
		}
		p.cursor = cursor
		p.setPage(cursor)
		return nil
	}
	link := nextLink(a.res.Header.Values("Link"))
	if g.next != nil {
		var err error
		if link, err = p.nextString(doc); err != nil {
			return err
		}
	}
	return p.follow(a, link)
}

// warnMissingNext warns if the first page, whose content is doc, lacks the member with the next page,
// since its name may be misspelt. Members of null are not checked.
func (p *pager) warnMissingNext(doc any) {
	next := p.h.pages.next
	for i, name := range next {
		o, ok := doc.(*value.Object)
		if doc == nil {
			return
		}
		hint := ""
		if ok {
			if doc, ok = o.Get(name); ok {
				continue
			}
			if hint = source.DidYouMean(name, o.Keys()); hint != "" {
				hint = " (" + hint + ")"
			}
		}
		p.log.Warn(fmt.Sprintf("pages.next: page 1 has no %s%s, so it was taken for the last page", strings.Join(next[:i+1], "."), hint))
		return
	}
}

// nextString returns the string at the path next. It returns "" if the value is null or absent.
func (p *pager) nextString(doc any) (string, error) {
	v := doc
	for _, name := range p.h.pages.next {
		o, ok := v.(*value.Object)
		if !ok {
			return "", nil
		}
		v, _ = o.Get(name)
	}
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	}
	return "", fmt.Errorf("%s of the answer is %s, want a string", strings.Join(p.h.pages.next, "."), value.TypeName(v))
}

// follow sets the URL of the next page to a URL from the response. It must be on the same host,
// because the request contains the secrets of the node.
func (p *pager) follow(a *answer, link string) error {
	before := p.url
	if p.url = nil; link == "" {
		return nil
	}
	u, err := a.res.Request.URL.Parse(link)
	if err != nil {
		return errors.New("the address of the next page is none")
	}
	switch {
	case u.Host != p.c.url.Host || u.Scheme != p.c.url.Scheme:
		return fmt.Errorf("the next page lies on another host, %s://%s", u.Scheme, u.Host)
	case u.User != nil:
		return errors.New("the address of the next page has a user in it")
	case u.String() == before.String():
		return errors.New("the answer names itself as the next page")
	}
	p.url = u
	return nil
}

// nextLink returns the URL with rel="next" in Link headers, whose form RFC 8288 defines:
// <URL>; name=value; name="quoted value", <URL> …
func nextLink(headers []string) string {
	for _, rest := range headers {
		for {
			_, after, ok := strings.Cut(rest, "<")
			link, params, closed := strings.Cut(after, ">")
			if !ok || !closed {
				break
			}
			var rel string
			if rel, rest = relation(params); strings.EqualFold(rel, "next") {
				return link
			}
		}
	}
	return ""
}

// relation parses the parameters of one link. It returns the parameter rel and the text after
// the link.
func relation(params string) (rel, rest string) {
	quoted, start := false, 0
	take := func(param string) {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") {
			rel = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	for i, c := range params {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ';' || c == ',':
			take(params[start:i])
			if start = i + 1; c == ',' {
				return rel, params[start:]
			}
		}
	}
	take(params[start:])
	return rel, ""
}
