package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/retryafter"
	"github.com/wavefold/wavefold/llm"
)

// maxResponse is the maximum number of bytes read from a response.
const maxResponse = 64 << 20

// watch inspects a response before the SDK does. A failure becomes a StatusError with the
// message of the server, whatever its format; the length of other responses is limited.
func (m *Model) watch(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(r)
	if err != nil {
		return res, err
	}
	if res.StatusCode >= 400 {
		defer res.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
		return nil, m.statusError(res, body)
	}
	kind := res.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "text/event-stream") {
		res.Body = &limitedReader{res.Body, maxResponse}
		return res, nil
	}
	body, err := io.ReadAll(&limitedReader{res.Body, maxResponse})
	res.Body.Close()
	if err != nil {
		return nil, core.Categorized(fmt.Errorf("the answer of the model's server broke off: %w", err), core.TransientInfra)
	}
	if text := bytes.TrimSpace(body); len(text) == 0 || text[0] != '{' {
		return nil, m.formatError(kind, text)
	}
	res.Header.Set("Content-Type", "application/json") // some servers send text/plain
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// statusError returns the error for a response with a status of 400 or more.
func (m *Model) statusError(res *http.Response, body []byte) error {
	message, code := messageOf(body)
	e := &llm.StatusError{Status: res.StatusCode, Message: m.mask(message)}
	if wait, ok := retryafter.Parse(res.Header.Get("Retry-After"), time.Now()); ok {
		e.RetryAfter = wait
	}
	if ms, err := strconv.ParseFloat(res.Header.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e9 {
		e.RetryAfter = time.Duration(ms * float64(time.Millisecond))
	}
	switch {
	case code == "insufficient_quota":
		return core.Categorized(e, core.BudgetExhausted) // waiting does not help
	case res.StatusCode == http.StatusUnauthorized:
		return core.Permanent(fmt.Errorf("%w (the key is from %s)", e, EnvKey))
	case res.StatusCode == http.StatusNotFound && !strings.Contains(message, "model"):
		return core.Permanent(fmt.Errorf("%w (asked for %s; %s is %s, which ends with /v1 for most servers)", e, res.Request.URL.Path, EnvBaseURL, m.address))
	}
	return e
}

// formatError returns the error for a response that does not conform to this API.
func (m *Model) formatError(kind string, body []byte) error {
	err := fmt.Errorf("the answer of the model's server is not a JSON object but %s: %q", orUnknown(kind), shorten(m.mask(string(body))))
	if strings.HasPrefix(kind, "text/html") {
		return core.Permanent(fmt.Errorf("%w (is %s right? it is %s)", err, EnvBaseURL, m.address))
	}
	return core.Categorized(err, core.TransientInfra)
}

func orUnknown(kind string) string {
	if kind == "" {
		return "of an unknown type"
	}
	return kind
}

// messageOf extracts the error message of a server: {"error": {"message", "code"}} of
// OpenAI, {"error": "…"}, {"message": "…"} or {"detail": "…"} of others, or any text.
func messageOf(body []byte) (message, code string) {
	v, err := value.ParseJSON(body)
	o, _ := v.(*value.Object)
	if err != nil || o == nil {
		return shorten(strings.TrimSpace(string(body))), ""
	}
	for _, key := range []string{"error", "message", "detail"} {
		switch v, _ := o.Get(key); v := v.(type) {
		case string:
			return shorten(v), ""
		case *value.Object:
			code, _ := v.Get("code")
			text, _ := code.(string)
			if s, ok := v.Get("message"); ok {
				message, _ = s.(string)
			}
			return shorten(message), text
		}
	}
	return shorten(string(body)), ""
}

const maxMessage = 500

func shorten(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}

// failure returns the error of a call that failed in the SDK or in the network.
func (m *Model) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// The SDK and the client of net/http add the method and the URL to each error.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if _, ok := errors.AsType[*llm.StatusError](err); ok {
		return err
	}
	return fmt.Errorf("asking the model's server at %s: %w", m.address, err)
}

// refusesFormat reports whether an error says that the server cannot make an answer conform
// to a schema.
func refusesFormat(err error) bool {
	e, ok := errors.AsType[*llm.StatusError](err)
	if !ok || !slices.Contains([]int{400, 404, 415, 422, 500, 501}, e.Status) {
		return false
	}
	message := strings.ToLower(e.Message)
	return slices.ContainsFunc([]string{"response_format", "response format", "json_schema", "json schema", "structured output", "text.format", "guided", "grammar"},
		func(hint string) bool { return strings.Contains(message, hint) })
}

// limitedReader reads up to left bytes and then fails.
type limitedReader struct {
	io.ReadCloser
	left int64
}

// Read reads up to len(p) bytes and fails if the limit is exceeded.
func (b *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, core.Permanent(fmt.Errorf("it is longer than %d bytes", maxResponse))
	}
	return n, err
}
