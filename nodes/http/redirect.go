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

// maxRedirects limits the redirects of one request. It is about the limit of browsers.
const maxRedirects = 10

// crossHostHeaders lists the headers that are sent to another host. Any other header may contain a
// secret, even if the document does not declare it as one.
var crossHostHeaders = []string{"Accept", "Accept-Language", "Content-Type", "Range", "User-Agent"}

// redirect prepares the request of a redirect. It removes everything that may be secret once a
// redirect has led to another host, and rejects redirects from https to http.
func (c *call) redirect(r *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	if slices.Contains(c.h.ok, r.Response.StatusCode) {
		return http.ErrUseLastResponse
	}
	if err := c.checkRedirect(r, last, len(via)); err != nil {
		return core.Permanent(err)
	}
	r.Header.Del("Referer") // the URL in it may have secrets in its query
	if own := c.headers.Get("Referer"); own != "" {
		r.Header.Set("Referer", own)
	}
	if c.leavesHost(r, via) {
		for name := range r.Header {
			if !slices.Contains(crossHostHeaders, name) {
				r.Header.Del(name)
			}
		}
	}
	c.watch.pause()
	defer c.watch.restart()
	return c.h.limiter.wait(r.Context())
}

// checkRedirect returns an error if a redirect must not be followed. r is the new request, last the
// previous one.
func (c *call) checkRedirect(r, last *http.Request, done int) error {
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
			status, last.Method, c.displayURL(r.URL), status)
	}
	return nil
}

// leavesHost reports whether this redirect or an earlier one leads to another host.
func (c *call) leavesHost(r *http.Request, via []*http.Request) bool {
	return r.URL.Host != c.url.Host || slices.ContainsFunc(via, func(v *http.Request) bool { return v.URL.Host != c.url.Host })
}

// dotSegment returns the segment of a URL's path that is "." or "..", in any encoding. It returns ""
// if there is none. Escaping such a segment does not help, because servers decode it first.
func dotSegment(u *url.URL) string {
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		plain, _, _ := strings.Cut(segment, ";") // without parameters of the segment
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

// maxEncodings limits the nested encodings that dotSegment decodes.
const maxEncodings = 5
