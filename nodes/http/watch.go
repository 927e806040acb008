package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/wavefold/wavefold/core"
)

// errIdle cancels a request without traffic for too long.
var errIdle = errors.New("idle")

// watch cancels a request if no byte is sent or received for some time.
type watch struct {
	ctx    context.Context // of the request
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

func newWatch(ctx context.Context, idle time.Duration) *watch {
	w := &watch{idle: idle}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(idle, func() { w.cancel(errIdle) })
	return w
}

// restart restarts the timer.
func (w *watch) restart() { w.timer.Reset(w.idle) }

// pause stops the timer while nothing waits for the server.
func (w *watch) pause() { w.timer.Stop() }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// expired reports whether the request was cancelled because it was idle.
func (w *watch) expired() bool { return context.Cause(w.ctx) == errIdle }

// idleError returns the error of an idle request; what ends in "for ".
func (w *watch) idleError(what string) error {
	return &core.Failure{Class: core.ClassTimeout, Message: what + w.idle.String() + " (idle_timeout)"}
}

// send sets the body of a request to a reader that restarts the timer.
func (w *watch) send(r *http.Request, body []byte) {
	if body == nil {
		return
	}
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return &requestBody{bytes.NewReader(body), w}, nil }
	r.Body, _ = r.GetBody()
	if len(body) == 0 {
		r.Body = http.NoBody
	}
}

// requestBody is the body of a request.
type requestBody struct {
	*bytes.Reader
	w *watch
}

// Read implements io.Reader.
func (s *requestBody) Read(p []byte) (int, error) {
	s.w.restart()
	return s.Reader.Read(p)
}

// WriteTo shadows the WriteTo of the embedded reader, which would not restart the timer.
func (s *requestBody) WriteTo(to io.Writer) (int64, error) {
	return io.Copy(to, struct{ io.Reader }{s})
}

// Close does nothing.
func (s *requestBody) Close() error { return nil }

// responseBody is the body of a response. The timer runs only during reads.
type responseBody struct {
	io.ReadCloser
	w *watch
}

// Read implements io.Reader.
func (b *responseBody) Read(p []byte) (int, error) {
	b.w.restart()
	defer b.w.pause()
	return b.ReadCloser.Read(p)
}

// Close closes the body and ends the request.
func (b *responseBody) Close() error {
	defer b.w.stop()
	return b.ReadCloser.Close()
}
