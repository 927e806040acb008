package http

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// pageStream is the stream of the rows of all pages.
type pageStream struct {
	*pager
	rows int64
}

var _ core.Positioned = (*pageStream)(nil)

// Members of a position, in addition to the number of rows.
const (
	posPages = "pages" // number of pages
	posNext  = "next"  // the number, offset, cursor or URL of the next page, absent after the last
	posLast  = "last"  // the sum of the rows of the last page
)

// Next returns the rows of the next page that has some.
func (s *pageStream) Next(ctx context.Context) ([]any, error) {
	for {
		rows, err := s.next(ctx)
		if err == io.EOF {
			return nil, err
		}
		if err == nil {
			err = core.Permanent(objects(rows, s.rows))
		}
		if err != nil {
			return nil, s.c.mask.Error(err)
		}
		if s.rows += int64(len(rows)); len(rows) > 0 {
			return rows, nil
		}
	}
}

// Position returns the page after the pages that were read. It returns nil before the first
// page, and if the place of the page contains a secret, which must not be recorded.
func (s *pageStream) Position() (*value.Object, error) {
	if s.fetched == 0 {
		return nil, nil
	}
	out := value.ObjectOf(posPages, int64(s.fetched), core.RowCount, s.rows)
	if s.lastSum != "" || len(s.last) > 0 {
		out.Set(posLast, cmp.Or(s.lastSum, sum(s.last)))
	}
	next := ""
	switch by := s.h.pages.by; {
	case s.url == nil:
		return out, nil
	case by == byCursor:
		next = s.cursor
	case by == byLink:
		next = s.url.String()
	default:
		next = strconv.Itoa(s.at)
	}
	if s.c.mask.Text(next) != next {
		return nil, nil
	}
	out.Set(posNext, next)
	return out, nil
}

// resume continues at a position.
func (s *pageStream) resume(at *value.Object) (err error) {
	pages, _ := at.Get(posPages)
	fetched, _ := pages.(int64)
	rows, _ := at.Get(core.RowCount)
	s.fetched = int(fetched)
	s.rows, _ = rows.(int64)
	last, _ := at.Get(posLast)
	s.lastSum, _ = last.(string)
	v, _ := at.Get(posNext)
	next, ok := v.(string)
	switch by := s.h.pages.by; {
	case !ok:
		s.url = nil
	case by == byCursor:
		s.cursor = next
		s.setPage(next)
	case by == byLink:
		s.url, err = url.Parse(next)
	default:
		s.at, err = strconv.Atoi(next)
		s.setPage(next)
	}
	return core.Permanent(err)
}

// sum returns the SHA-256 hash of rows.
func sum(rows []any) string {
	h := sha256.Sum256([]byte(value.JSON(rows)))
	return hex.EncodeToString(h[:])
}

// Summary returns the number of rows and pages.
func (s *pageStream) Summary() *value.Object {
	return value.ObjectOf(core.RowCount, s.rows, "pages", int64(s.fetched))
}

// Close does nothing, because the connection of each page was released.
func (s *pageStream) Close() error { return nil }
