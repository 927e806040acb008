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

// Server speaks the API of OpenAI, as much of it as wavefold and other programs that ask
// models need: chat completions and responses, both streamed, too. A model gives the
// answers, such as a Scripted; of a request it gets what the API carries, so Purpose, Node
// and Visit are empty. Faults make the server fail.
type Server struct {
	// URL is the base URL, for OPENAI_BASE_URL.
	URL string

	model  llm.Model
	o      ServerOptions
	http   *httptest.Server
	mu     sync.Mutex
	left   []int // of Faults with Times
	random *rand.Rand
	seen   []Recorded
}

// ServerOptions are what a Server is like.
type ServerOptions struct {
	// Key, when not "", is what requests must carry as their key; others are answered with 401.
	Key string
	// Faults are looked through for each request; the first that strikes is what happens.
	Faults []Fault
	// Seed decides which requests a Fault with a Share strikes.
	Seed uint64
	// NoFormat makes the server refuse response_format, as servers of small models do,
	// NoTools tools, NoResponses that it has no Responses API (404), and NoUsage leaves the
	// tokens out.
	NoFormat, NoTools, NoResponses, NoUsage bool
}

// Fault is something that goes wrong.
type Fault struct {
	// Times strikes the first so many requests, Share that share of all, from 0 to 1. With
	// neither every request is struck.
	Times int
	Share float64

	// Delay passes before the answer.
	Delay time.Duration
	// Status is answered in place of the model's answer, with RetryAfter, if that is not 0,
	// and Code and Message in the form of the API.
	Status        int
	RetryAfter    time.Duration
	Code, Message string
	// Body is the answer in place of the model's, whatever it is.
	Body string
	// Cut breaks the connection in the middle of the answer.
	Cut bool
}

// Recorded is a request that a Server got.
type Recorded struct {
	Path   string // such as /v1/chat/completions
	Header http.Header
	Body   []byte
	Status int // of the answer
}

// Serve starts a server on the loopback interface; it is closed when the test ends. A nil
// t leaves that to the caller.
func Serve(t testing.TB, m llm.Model, o ServerOptions) *Server {
	s := &Server{model: m, o: o, random: rand.New(rand.NewPCG(o.Seed, 1))}
	for _, f := range o.Faults {
		s.left = append(s.left, f.Times)
	}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL + "/v1"
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// Close ends the server; it waits for the requests under way.
func (s *Server) Close() { s.http.Close() }

// Client returns a client whose requests reach the server without a network, whatever
// their host. With it a server that was started before synctest.Test works with the
// virtual time inside of it. Answers that are streamed arrive whole.
func (s *Server) Client() *http.Client { return &http.Client{Transport: transport{s}} }

// Requests returns what the server got so far, in order of arrival.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recorded(nil), s.seen...)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	at, fault := s.arrived(r, body)
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
	s.seen[at].Status = out.status
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

// arrived notes a request and draws its fault.
func (s *Server) arrived(r *http.Request, body []byte) (int, Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, Recorded{Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	at := len(s.seen) - 1
	for i, f := range s.o.Faults {
		switch {
		case f.Times > 0:
			if s.left[i] == 0 {
				continue
			}
			s.left[i]--
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

// ask lets the model answer; nil tells that a failure is written.
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
	if u, ok := errors.AsType[unanswered](err); ok { // asking again would not help
		w.fail(http.StatusUnprocessableEntity, "", u.Error())
		return nil
	}
	if err != nil {
		w.fail(http.StatusInternalServerError, "", err.Error())
		return nil
	}
	return res
}

// answerWriter keeps an answer until it is whole.
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

// wait says how long to wait, exactly and, for those who read whole seconds only, rounded
// up.
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
	b, _ := json.Marshal(v) // an object of texts and numbers
	w.body.WriteString("data: " + string(b) + "\n\n")
}

// transport hands requests to a server.
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

// Read fails as a connection that broke.
func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
