package http

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// maxRedirects is as many as browsers follow, roughly.
const maxRedirects = 10

// harmless lists the headers that go to another host. Any other may hold a secret, also
// one that the document does not call a secret.
var harmless = []string{"Accept", "Accept-Language", "Content-Type", "Range", "User-Agent"}

// redirect follows a redirect. Nothing that may be secret goes to another host, also not
// on the way back from there, and from https nothing leads to plain http.
func (c *call) redirect(r *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	if slices.Contains(c.h.ok, r.Response.StatusCode) {
		return http.ErrUseLastResponse
	}
	if err := c.mayFollow(r, last, len(via)); err != nil {
		return core.Permanent(err)
	}
	r.Header.Del("Referer") // the address it would hold may have secrets in its query
	if own := c.headers.Get("Referer"); own != "" {
		r.Header.Set("Referer", own)
	}
	if c.left(r, via) {
		for name := range r.Header {
			if !slices.Contains(harmless, name) {
				r.Header.Del(name)
			}
		}
	}
	c.watch.pause()
	defer c.watch.alive()
	return c.h.pace.wait(r.Context())
}

// mayFollow reports why a redirect cannot be followed. r would follow last, the one
// before.
func (c *call) mayFollow(r, last *http.Request, done int) error {
	status := r.Response.StatusCode
	switch {
	case done >= maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case r.URL.Scheme != "https" && r.URL.Scheme != "http":
		return fmt.Errorf("the server redirects to %s://", r.URL.Scheme)
	case r.URL.Scheme != "https" && last.URL.Scheme == "https":
		return errors.New("the server redirects from https to http")
	case r.URL.User != nil:
		return errors.New("the server redirects to an address with a user in it")
	case r.Method != last.Method && status != http.StatusSeeOther:
		return fmt.Errorf("the server redirects with status %d, after which a %s becomes a GET without a body; ask %s, or add ok: [%d] to take this answer",
			status, last.Method, c.shown(r.URL), status)
	}
	return nil
}

// left reports whether a redirect leads to another host, or led there before.
func (c *call) left(r *http.Request, via []*http.Request) bool {
	return r.URL.Host != c.url.Host || slices.ContainsFunc(via, func(v *http.Request) bool { return v.URL.Host != c.url.Host })
}

// climbs returns the segment of an address's path that is "." or "..", in any encoding,
// and "" if there is none. To escape it does not help: servers take it for a step.
func climbs(u *url.URL) string {
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		plain, _, _ := strings.Cut(segment, ";") // parameters of a segment
		for range maxEncodings {
			decoded, err := url.PathUnescape(plain)
			if err != nil || decoded == plain {
				break
			}
			plain = decoded
		}
		if plain, _, _ = strings.Cut(plain, ";"); plain == "." || plain == ".." {
			return segment
		}
	}
	return ""
}

// maxEncodings is how many times a value may be encoded over and over for climbs.
const maxEncodings = 5
