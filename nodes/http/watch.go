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

// errIdle ends a request on which no byte moved for too long.
var errIdle = errors.New("idle")

// watch ends a request when no byte was sent or received for some time.
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

// alive begins the time again.
func (w *watch) alive() { w.timer.Reset(w.idle) }

// pause is called where nobody waits for the server.
func (w *watch) pause() { w.timer.Stop() }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// expired reports whether the request was ended for being idle.
func (w *watch) expired() bool { return context.Cause(w.ctx) == errIdle }

// failure is what a request ends with that was idle; what ends in "for ".
func (w *watch) failure(what string) error {
	return &core.Failure{Class: core.ClassTimeout, Message: what + w.idle.String() + " (idle_timeout)"}
}

// send makes a body that is watched the body of a request.
func (w *watch) send(r *http.Request, body []byte) {
	if body == nil {
		return
	}
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return &sending{bytes.NewReader(body), w}, nil }
	r.Body, _ = r.GetBody()
	if len(body) == 0 {
		r.Body = http.NoBody
	}
}

// sending is the body of a request.
type sending struct {
	*bytes.Reader
	w *watch
}

// Read reads what is sent next.
func (s *sending) Read(p []byte) (int, error) {
	s.w.alive()
	return s.Reader.Read(p)
}

// WriteTo hides that of the reader, which would not be watched.
func (s *sending) WriteTo(to io.Writer) (int64, error) {
	return io.Copy(to, struct{ io.Reader }{s})
}

// Close has nothing to do.
func (s *sending) Close() error { return nil }

// receiving is the body of an answer. The time in which nobody reads does not count.
type receiving struct {
	io.ReadCloser
	w *watch
}

// Read reads some of the body.
func (b *receiving) Read(p []byte) (int, error) {
	b.w.alive()
	defer b.w.pause()
	return b.ReadCloser.Read(p)
}

// Close ends the request.
func (b *receiving) Close() error {
	defer b.w.stop()
	return b.ReadCloser.Close()
}
