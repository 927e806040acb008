package http

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Options configure the kind. The zero Options are the options of Kind.
type Options struct {
	// Transport sends the requests. If it is nil, a transport is used that has the proxy
	// settings of the environment and keeps idle connections for 5 seconds.
	Transport http.RoundTripper
	// LookupEnv looks up secrets. If it is nil, os.LookupEnv is used.
	LookupEnv func(name string) (value string, ok bool)
}

// Kind is the kind "http".
var Kind = New(Options{})

// New returns the kind "http" with options.
func New(o Options) core.Kind {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Transport == nil {
		o.Transport = transport
	}
	return core.NewKind(core.KindOf[config]{
		Name:    "http",
		Doc:     "Sends a request to a server, or one request for each page of its answer.",
		Compile: o.compile,
		Partial: true,
	})
}

// transport is shared by all nodes, so that they reuse connections.
var transport = newTransport()

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = 5 * time.Second
	t.MaxIdleConnsPerHost = 16
	return t
}

// compile checks a node and compiles its templates. It sends nothing.
func (o Options) compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	b := &builder{config: *c, node: n, texts: templates.NewSet(n, env), scope: table.NewScope(n, env), lookup: o.LookupEnv}
	h := b.build()
	h.dir, h.lookup, h.transport = env.Dir, o.LookupEnv, o.Transport
	ds := append(b.texts.Found, b.scope.Found...)
	if ds.Failed(false) {
		return core.Compiled{Reads: append(b.texts.Reads, b.scope.Reads()...), Nodes: b.texts.Nodes}, ds
	}
	if !h.bodyArgs {
		hint := "url, query, headers, auth, body and save are templates and may contain {{NAME}}; body: args sends all args"
		ds = append(ds, setting.UnusedArgs(n, hint, append(b.texts.Names, b.scope.Names()...)...)...)
	}
	made := core.Compiled{Handler: h, Effects: true, Reads: append(b.texts.Reads, b.scope.Reads()...), Nodes: b.texts.Nodes}
	if h.form == formText && h.pages == nil {
		made.Results = h.to.Type(value.StringType)
	}
	switch {
	case h.save == nil:
	case h.save.Fixed():
		made.Replaces = core.ReplacesFixed
	default:
		made.Replaces = core.ReplacesRendered
	}
	made.Outputs = files.Place{Dir: env.Dir}.Targets(b.scope.Outputs())
	for _, v := range b.secrets {
		made.Secrets = append(made.Secrets, v.Ref(h.lookup))
	}
	if h.stream {
		made.Stream = source.At(h.to.Field, b.Stream.Pos)
	}
	return made, ds
}

// handler is a compiled node. It is immutable except for its rate limiter.
type handler struct {
	method    string
	url       *templates.Template
	query     []pair
	headers   []pair
	bearer    *paramValue // nil if there is none
	user      *paramValue
	password  *paramValue
	body      *templates.Template // nil if there is none
	bodyArgs  bool
	form      form
	rows      []string
	pages     *pageSettings
	save      *filename.Name
	to        setting.Target
	stream    bool
	ok        []int
	maxBody   int
	idle      time.Duration
	limiter   *rateLimiter // nil if the rate is not limited
	dir       string
	transport http.RoundTripper
	lookup    func(string) (string, bool)
}

var _ core.StreamSource = (*handler)(nil)

// Handle sends the request, or the requests for all pages. For a node that makes a stream, it
// only checks the URL and the secrets.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	c, err := h.call(in)
	if err != nil {
		return core.Result{}, c.mask.Error(err)
	}
	var r core.Result
	switch {
	case h.stream:
		return core.Write(h.to.Field, value.ObjectOf("source", c.displayURL(c.url))), nil
	case h.save != nil:
		r, err = h.store(ctx, in, c)
	case h.pages != nil:
		r, err = h.paged(ctx, in, c)
	default:
		r, err = h.single(ctx, c)
	}
	return r, c.mask.Error(err)
}

// Open returns a stream of the rows of the pages, or of the lines of the single response.
func (h *handler) Open(ctx context.Context, in core.Input, described *value.Object) (core.Stream, error) {
	c, err := h.call(in)
	if err != nil {
		return nil, c.mask.Error(err)
	}
	if h.pages != nil {
		s := &pageStream{pager: h.pager(c, in.Logger())}
		if at := in.Position(); at != nil {
			if err := s.resume(at); err != nil {
				return nil, c.mask.Error(err)
			}
		}
		return s, nil
	}
	a, err := c.send(ctx, c.url)
	if err != nil {
		return nil, c.mask.Error(err)
	}
	return newLineStream(c, a), nil
}

// single sends one request and returns its response as the result.
func (h *handler) single(ctx context.Context, c *call) (core.Result, error) {
	a, err := c.send(ctx, c.url)
	if err != nil {
		return core.Result{}, err
	}
	defer a.close()
	out := value.ObjectOf("status", int64(a.status))
	v, err := h.value(a)
	if err != nil || h.form == formNone {
		return core.Send(out), err
	}
	if h.to.Field == "" {
		return core.Send(v), nil
	}
	r := core.Send(out)
	r.Delta = map[string]any{h.to.Field: v}
	if list, ok := v.([]any); ok {
		out.Set("rows", int64(len(list)))
		r.Note = table.Count(len(list), "row") + " from " + c.host()
	}
	return r, nil
}

// paged fetches all pages and returns their rows as the result.
func (h *handler) paged(ctx context.Context, in core.Input, c *call) (core.Result, error) {
	p := h.pager(c, in.Logger())
	rows := []any{}
	for {
		page, err := p.next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return core.Result{}, err
		}
		rows = append(rows, page...)
		in.Progress(int64(p.fetched), 0)
	}
	if h.to.Field == "" {
		return core.Send(rows), nil
	}
	r := core.Send(value.ObjectOf("status", int64(p.status), "rows", int64(len(rows)), "pages", int64(p.fetched)))
	r.Delta = map[string]any{h.to.Field: rows}
	r.Note = table.Count(len(rows), "row") + " in " + table.Count(p.fetched, "page") + " from " + c.host()
	return r, nil
}

// store writes the response to a file atomically.
func (h *handler) store(ctx context.Context, in core.Input, c *call) (core.Result, error) {
	s := in.Shared()
	name, err := h.save.Text(s)
	if err != nil {
		return core.Result{}, fmt.Errorf("save: %w", err)
	}
	a, err := c.send(ctx, c.url)
	if err != nil {
		return core.Result{}, err
	}
	defer a.close()
	n := int64(0)
	w := files.Writer{Place: files.Place{Dir: cmp.Or(s.Dir, h.dir)}, Temp: files.TempOf(in)}
	r, err := w.Deliver(ctx, name, s.Defer, func(w *bufio.Writer) (err error) {
		if n, err = io.Copy(w, a.limited); err == nil && n > int64(a.max) {
			err = a.tooLong()
		}
		return err
	}, func() core.Result {
		r := core.Send(value.ObjectOf("status", int64(a.status), "path", name, "bytes", n))
		r.Note = fmt.Sprintf("%d bytes saved to %s", n, name)
		return r
	})
	if err != nil {
		return core.Result{}, fmt.Errorf("save: %s: %w", name, err)
	}
	return r, nil
}

// errNoAddress is the error of a URL template whose result is empty.
var errNoAddress = core.Permanent(errors.New("url: the address is empty"))
