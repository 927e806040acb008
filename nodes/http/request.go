package http

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/retryafter"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// pair is a query parameter or a header.
type pair struct {
	name string
	paramValue
}

// paramValue is a template, or a secret.
type paramValue struct {
	text   *templates.Template
	secret secret.Value
}

// call holds the data that all requests of one attempt share.
type call struct {
	h       *handler
	client  *http.Client
	url     *url.URL
	headers http.Header
	body    []byte
	mask    secret.Masker
	watch   *watch // of the current request
}

// call renders the templates for one attempt. It returns a call even with an error, because the
// caller needs its mask.
func (h *handler) call(in core.Input) (*call, error) {
	c := &call{h: h, headers: http.Header{}}
	var secrets []string
	read := func(v paramValue, key string) (string, error) {
		if !v.secret.IsSecret() {
			s, err := v.text.Render(in)
			return s, at(key, err)
		}
		s, err := v.secret.Read(h.lookup)
		secrets = append(secrets, s)
		return s, at(key, err)
	}
	err := errors.Join(c.address(in), c.query(read), c.header(in, read), c.authorize(read, &secrets), c.fill(in))
	c.mask = secret.NewMasker(secrets...)
	c.client = &http.Client{Transport: h.transport, CheckRedirect: c.redirect}
	return c, err
}

// at adds the key of the node to an error.
func at(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

type reader func(v paramValue, key string) (string, error)

// address renders the URL. Values are escaped for their place, unless the URL begins with a
// value.
func (c *call) address(in core.Input) error {
	inPath := false
	escape := func(before, value string) string {
		switch {
		case before == "":
			return value
		case strings.ContainsRune(before, '?'):
			return url.QueryEscape(value)
		}
		inPath = true
		return url.PathEscape(value)
	}
	s, err := c.h.url.RenderEscaped(in, escape)
	if err != nil {
		return at("url", err)
	}
	if s = strings.TrimSpace(s); s == "" {
		return errNoAddress
	}
	if c.url, err = url.Parse(s); err != nil {
		return core.Permanent(fmt.Errorf("url: no address: %w", plainURL(err)))
	}
	if segment := dotSegment(c.url); inPath && segment != "" {
		return core.Permanent(fmt.Errorf("url: a value makes %q a whole segment of the path, which servers take for another path", segment))
	}
	return core.Permanent(at("url", checkURL(c.url)))
}

// plainURL removes the URL from an error about it, because the URL may be long and may contain
// a secret.
func plainURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("want an address that begins with http:// or https://")
	case u.Host == "":
		return errors.New("the address has no host")
	case u.User != nil:
		return errors.New("a user in the address would show in logs; use auth")
	}
	return nil
}

// query appends parameters to the query of the URL.
func (c *call) query(read reader) error {
	if c.url == nil {
		return nil
	}
	for _, p := range c.h.query {
		v, err := read(p.paramValue, "query."+p.name)
		if err != nil {
			return err
		}
		c.url = withParam(c.url, p.name, v, false)
	}
	return nil
}

// withParam returns a URL with a parameter added or replaced. The other parameters keep their
// order.
func withParam(u *url.URL, name, value string, replace bool) *url.URL {
	out := *u
	parts := strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' })
	if replace {
		parts = slices.DeleteFunc(parts, func(p string) bool {
			key, _, _ := strings.Cut(p, "=")
			key, err := url.QueryUnescape(key)
			return err == nil && key == name
		})
	}
	out.RawQuery = strings.Join(append(parts, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
	return &out
}

func (c *call) header(in core.Input, read reader) error {
	for _, p := range c.h.headers {
		v, err := read(p.paramValue, "headers."+p.name)
		if err != nil {
			return err
		}
		if strings.ContainsAny(v, "\r\n\x00") {
			return core.Permanent(fmt.Errorf("headers.%s: a header must not hold a line end", p.name))
		}
		c.headers.Set(p.name, v)
	}
	if c.headers.Get("User-Agent") == "" {
		c.headers.Set("User-Agent", "wavefold")
	}
	if c.headers.Get("Idempotency-Key") == "" && (c.h.method == http.MethodPost || c.h.method == http.MethodPatch || c.h.method == http.MethodPut) {
		c.headers.Set("Idempotency-Key", in.IdempotencyKey())
	}
	return nil
}

func (c *call) authorize(read reader, secrets *[]string) error {
	h := c.h
	if h.bearer == nil && h.user == nil {
		return nil
	}
	if h.bearer != nil {
		token, err := read(*h.bearer, "auth.bearer")
		c.headers.Set("Authorization", "Bearer "+token)
		if err == nil && strings.ContainsAny(token, "\r\n\x00") {
			err = core.Permanent(errors.New("auth.bearer: the token holds a line end"))
		}
		return err
	}
	user, err := read(*h.user, "auth.basic.user")
	if err != nil {
		return err
	}
	password, err := read(*h.password, "auth.basic.password")
	both := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	*secrets = append(*secrets, both)
	c.headers.Set("Authorization", "Basic "+both)
	return err
}

// fill renders the body.
func (c *call) fill(in core.Input) error {
	switch {
	case c.h.bodyArgs:
		data, err := value.AppendJSON(nil, in.Shared().Args)
		if err != nil {
			return core.Permanent(fmt.Errorf("body: the args have no JSON form: %w", err))
		}
		c.body = data
		if c.headers.Get("Content-Type") == "" {
			c.headers.Set("Content-Type", "application/json")
		}
	case c.h.body != nil:
		s, err := c.h.body.Render(in)
		if err != nil {
			return at("body", err)
		}
		c.body = []byte(s)
		if c.headers.Get("Content-Type") == "" {
			c.headers.Set("Content-Type", "text/plain; charset=utf-8")
			if json := strings.TrimSpace(s); strings.HasPrefix(json, "{") || strings.HasPrefix(json, "[") {
				c.headers.Set("Content-Type", "application/json")
			}
		}
	}
	return nil
}

// displayURL returns a URL for messages. The query is left out, because it may contain a secret or
// the cursor of a page.
func (c *call) displayURL(u *url.URL) string {
	short := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return c.mask.Text(short.String())
}

func (c *call) host() string { return c.mask.Text(c.url.Host) }

// send sends one request. A response whose status means failure is returned as an error. The
// body of the response is open if and only if the error is nil.
func (c *call) send(ctx context.Context, u *url.URL) (*answer, error) {
	what := c.h.method + " " + c.displayURL(u)
	if err := c.h.limiter.wait(ctx); err != nil {
		return nil, fmt.Errorf("%s: not sent yet: %w", what, err)
	}
	w := newWatch(ctx, c.h.idle)
	c.watch = w
	r, err := http.NewRequestWithContext(w.ctx, c.h.method, u.String(), nil)
	if err != nil {
		w.stop()
		return nil, core.Permanent(plainURL(err))
	}
	w.send(r, c.body)
	r.Header = c.headers.Clone()
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	res, err := c.client.Do(r)
	w.pause()
	if err != nil {
		defer w.stop()
		return nil, c.requestError(ctx, u, err)
	}
	res.Body = &responseBody{res.Body, w}
	a := &answer{status: res.StatusCode, what: what, res: res, ctx: ctx, watch: w, limiter: c.h.limiter, max: c.h.maxBody}
	a.limited = &bodyReader{r: io.LimitReader(res.Body, int64(a.max)+1), a: a}
	if res.StatusCode >= 200 && res.StatusCode <= 299 || slices.Contains(c.h.ok, res.StatusCode) {
		return a, nil
	}
	defer a.close()
	return nil, a.statusError()
}

// requestError returns the error of a request without a response. The error is permanent if the
// server does not support TLS or its certificate is not trusted.
func (c *call) requestError(ctx context.Context, u *url.URL, err error) error {
	what := c.h.method + " " + c.displayURL(u)
	if e, ok := errors.AsType[*url.Error](err); ok {
		if last, bad := url.Parse(e.URL); bad == nil && c.displayURL(last) != c.displayURL(u) {
			what += ", redirected to " + c.displayURL(last)
		}
		err = e.Err
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: no answer yet: %w", what, ctx.Err())
	case c.watch.expired():
		return c.watch.idleError(what + ": no byte for ")
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return core.Permanent(fmt.Errorf("%s: the server does not speak TLS there (is it http://?): %w", what, err))
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return core.Permanent(fmt.Errorf("%s: the server's certificate is not to be trusted; SSL_CERT_FILE names a file of authorities to trust: %w", what, e.Err))
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the server closed the connection without an answer: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// temporaryStatuses lists the statuses below 500 after which a retry may succeed.
var temporaryStatuses = []int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

// statusError returns the error of a response whose status means failure.
func (a *answer) statusError() error {
	head, _ := io.ReadAll(io.LimitReader(a.res.Body, 4096))
	err := fmt.Errorf("%s: %s", a.what, a.res.Status)
	if text := strings.TrimSpace(string(head)); text != "" {
		err = fmt.Errorf("%w: %s", err, program.Excerpt([]byte(text)))
	}
	if a.status < 500 && !slices.Contains(temporaryStatuses, a.status) {
		return core.Permanent(err)
	}
	wait, ok := retryafter.Parse(a.res.Header.Get("Retry-After"), time.Now())
	switch {
	case !ok:
		return err
	case wait > maxRetryAfter:
		return core.Permanent(fmt.Errorf("%w; the server asks to wait for %s, and a run waits for %s at most", err, wait.Round(time.Second), maxRetryAfter))
	}
	a.limiter.delay(wait)
	return core.RetryAfter(err, wait)
}

// maxRetryAfter is the longest Retry-After that a retry waits for. A run that waited for a day
// would seem to hang.
const maxRetryAfter = time.Hour
