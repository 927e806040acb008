package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/llm"
)

// Server implements the parts of the API of OpenAI that wavefold and other clients use:
// chat completions and responses, streamed or not. Its answers come from a model, such as a
// Scripted. The model receives what the API transmits, so Purpose, Node and Visit are
// empty. Faults make the server fail.
type Server struct {
	// URL is the base URL, for OPENAI_BASE_URL.
	URL string

	model     llm.Model
	o         ServerOptions
	http      *httptest.Server
	mu        sync.Mutex
	remaining []int // remaining uses of each fault with Times
	random    *rand.Rand
	requests  []Recorded
}

// ServerOptions configure a Server.
type ServerOptions struct {
	// Key, if not "", is the API key that requests must carry; others get status 401.
	Key string
	// Faults are tried in order for each request; the first that applies takes effect.
	Faults []Fault
	// Seed determines the requests that a Fault with a Share applies to.
	Seed uint64
	// NoFormat makes the server reject response_format, as servers of small models do.
	// NoTools makes it reject tools. With NoResponses it has no Responses API (404), and
	// with NoUsage its answers lack token counts.
	NoFormat, NoTools, NoResponses, NoUsage bool
}

// Fault is a failure that a Server injects.
type Fault struct {
	// Times applies the fault to the first Times requests, Share to a fraction of all
	// requests, from 0 to 1. If both are 0, it applies to every request.
	Times int
	Share float64

	// Delay passes before the answer.
	Delay time.Duration
	// Status replaces the answer of the model by an error, with RetryAfter unless it is 0,
	// and with Code and Message in the form of the API.
	Status        int
	RetryAfter    time.Duration
	Code, Message string
	// Body replaces the answer of the model, unchanged.
	Body string
	// Cut breaks the connection in the middle of the answer.
	Cut bool
}

// Recorded is a request that a Server received.
type Recorded struct {
	Path   string // such as /v1/chat/completions
	Header http.Header
	Body   []byte
	Status int // of the response
}

// Serve starts a server on the loopback interface. It closes the server when the test ends;
// with a nil t, the caller closes it.
func Serve(t testing.TB, m llm.Model, o ServerOptions) *Server {
	s := &Server{model: m, o: o, random: rand.New(rand.NewPCG(o.Seed, 1))}
	for _, f := range o.Faults {
		s.remaining = append(s.remaining, f.Times)
	}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL + "/v1"
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// Close shuts the server down. It waits for requests in progress.
func (s *Server) Close() { s.http.Close() }

// Client returns a client whose requests reach the server without a network, whatever their
// host. With it, a server that was started before synctest.Test works with the virtual time
// inside. Streamed answers arrive in one piece.
func (s *Server) Client() *http.Client { return &http.Client{Transport: transport{s}} }

// Requests returns the requests received so far, in order of arrival.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recorded(nil), s.requests...)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	at, fault := s.record(r, body)
	if fault.Delay > 0 {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(fault.Delay):
		}
	}
	out := &answerWriter{header: http.Header{}}
	s.answer(out, r, body, fault)
	s.mu.Lock()
	s.requests[at].Status = out.status
	s.mu.Unlock()
	for k, v := range out.header {
		w.Header()[k] = v
	}
	if fault.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(out.body.Len()))
	}
	w.WriteHeader(out.status)
	if fault.Cut {
		w.Write(out.body.Bytes()[:out.body.Len()/2])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.Write(out.body.Bytes())
}

// record stores a request and selects its fault.
func (s *Server) record(r *http.Request, body []byte) (int, Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Recorded{Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	at := len(s.requests) - 1
	for i, f := range s.o.Faults {
		switch {
		case f.Times > 0:
			if s.remaining[i] == 0 {
				continue
			}
			s.remaining[i]--
		case f.Share > 0 && s.random.Float64() >= f.Share:
			continue
		}
		return at, f
	}
	return at, Fault{}
}

func (s *Server) answer(w *answerWriter, r *http.Request, body []byte, f Fault) {
	switch {
	case f.Status != 0:
		w.wait(f.RetryAfter)
		w.fail(f.Status, f.Code, f.Message)
	case f.Body != "":
		w.text(http.StatusOK, "application/json", f.Body)
	case s.o.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.o.Key:
		w.fail(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	case r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions":
		s.chat(w, r, body)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/responses" && !s.o.NoResponses:
		s.responses(w, r, body)
	default:
		w.fail(http.StatusNotFound, "", "Unknown request URL: "+r.Method+" "+r.URL.Path)
	}
}

// ask gets the answer of the model. It returns nil if it has written an error response.
func (s *Server) ask(w *answerWriter, r *http.Request, q *llm.Request, format bool) *llm.Response {
	switch {
	case q.Model == "":
		w.fail(http.StatusBadRequest, "", "you must provide a model parameter")
		return nil
	case format && s.o.NoFormat:
		w.fail(http.StatusBadRequest, "", "response_format is not supported by this model")
		return nil
	case len(q.Tools) > 0 && s.o.NoTools:
		w.fail(http.StatusBadRequest, "", "tools are not supported by this model")
		return nil
	}
	res, err := s.model.Complete(r.Context(), q)
	if e, ok := errors.AsType[*llm.StatusError](err); ok {
		w.wait(e.RetryAfter)
		w.fail(e.Status, "", e.Message)
		return nil
	}
	if u, ok := errors.AsType[unanswered](err); ok { // a retry would not help
		w.fail(http.StatusUnprocessableEntity, "", u.Error())
		return nil
	}
	if err != nil {
		w.fail(http.StatusInternalServerError, "", err.Error())
		return nil
	}
	return res
}

// answerWriter buffers a response until it is complete.
type answerWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *answerWriter) text(status int, contentType, body string) {
	w.header.Set("Content-Type", contentType)
	w.status = status
	w.body.WriteString(body)
}

func (w *answerWriter) json(status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(strconv.Quote(err.Error()))
	}
	w.text(status, "application/json", string(b))
}

// wait sets the headers that ask the client to wait: one in milliseconds, and one in whole
// seconds, rounded up.
func (w *answerWriter) wait(d time.Duration) {
	if d > 0 {
		w.header.Set("Retry-After", strconv.Itoa(int((d+time.Second-1)/time.Second)))
		w.header.Set("Retry-After-Ms", strconv.FormatInt(d.Milliseconds(), 10))
	}
}

func (w *answerWriter) fail(status int, code, message string) {
	if message == "" {
		message = http.StatusText(status)
	}
	e := object{"message": message, "type": "error", "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	w.json(status, object{"error": e})
}

// event writes one event of a stream.
func (w *answerWriter) event(name string, v any) {
	if w.body.Len() == 0 {
		w.text(http.StatusOK, "text/event-stream", "")
	}
	if name != "" {
		w.body.WriteString("event: " + name + "\n")
	}
	b, _ := json.Marshal(v) // an object of strings and numbers can always be encoded
	w.body.WriteString("data: " + string(b) + "\n\n")
}

// transport passes requests to a server without a network.
type transport struct{ s *Server }

// RoundTrip answers a request.
func (t transport) RoundTrip(r *http.Request) (res *http.Response, err error) {
	rec := httptest.NewRecorder()
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			res = rec.Result()
			res.Body = io.NopCloser(io.MultiReader(rec.Body, cutOff{}))
		} else if p != nil {
			panic(p)
		}
	}()
	in := r.Clone(r.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	t.s.ServeHTTP(rec, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return rec.Result(), nil
}

type cutOff struct{}

// Read fails like a broken connection.
func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
