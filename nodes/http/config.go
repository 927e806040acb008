package http

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// config is the configuration of a node.
type config struct {
	URL     source.Text                  `wavefold:"url,required" doc:"the address, a template; values in it are escaped"`
	Method  source.Text                  `wavefold:"method,oneof=GET|HEAD|POST|PUT|PATCH|DELETE" doc:"the method (GET)"`
	Query   source.Members[secret.Value] `wavefold:"query" doc:"further query parameters: {name: template} or {name: {secret: VARIABLE}}"`
	Headers source.Members[secret.Value] `wavefold:"headers" doc:"headers: {name: template} or {name: {secret: VARIABLE}}"`
	Auth    *authConfig                  `wavefold:"auth" doc:"{bearer: {secret: VARIABLE}} or {basic: {user, password: {secret: VARIABLE}}}"`
	Body    *source.Text                 `wavefold:"body" doc:"the text to send, a template; args sends the node's args as JSON"`
	Output  source.Text                  `wavefold:"output,oneof=json|jsonl|lines|text|none" doc:"what the answer is (json)"`
	Rows    source.Text                  `wavefold:"rows,fixed" doc:"where in a JSON answer the value is, such as data.items"`
	Pages   *pagesConfig                 `wavefold:"pages" doc:"how the next page is found: {by: number|offset|cursor|link, param, from, size, next, max}"`
	Save    source.Text                  `wavefold:"save" doc:"the file to store the answer in, instead of the state"`
	Into    source.Text                  `wavefold:"into" doc:"the field that gets the value; default the only declared write, else the edges"`
	Stream  source.Located[bool]         `wavefold:"stream" doc:"make the field a stream: pages are fetched as they are read"`
	OK      []int                        `wavefold:"ok,min=100,max=599" doc:"statuses that are no failure besides 200 to 299"`
	Rate    *float64                     `wavefold:"per_second" doc:"how many requests may start in a second, over pages, attempts, redirects and items; fractions are allowed"`
	Idle    time.Duration                `wavefold:"idle_timeout,min=1ms" doc:"how long no byte may come before the attempt fails (60s)"`
	MaxBody setting.Bytes                `wavefold:"max_body" doc:"limit on the body of one answer, unpacked (50MB, with save 1GB)"`
}

type authConfig struct {
	Bearer *secret.Value   `wavefold:"bearer" doc:"the token"`
	Basic  *basicConfig    `wavefold:"basic" doc:"{user, password}"`
	Pos    source.Position `wavefold:",pos"`
}

type basicConfig struct {
	User     secret.Value `wavefold:"user,required"`
	Password secret.Value `wavefold:"password,required"`
}

type pagesConfig struct {
	By     source.Text     `wavefold:"by,required,oneof=number|offset|cursor|link" doc:"what leads to the next page"`
	Param  source.Text     `wavefold:"param,fixed" doc:"the query parameter that asks for a page"`
	From   int             `wavefold:"from" doc:"the first number or offset (number 1, offset 0)"`
	Size   int             `wavefold:"size,min=1" doc:"how many rows a full page has"`
	Next   source.Text     `wavefold:"next,fixed" doc:"where in the answer the next cursor or address is"`
	Max    int             `wavefold:"max,min=1" doc:"how many pages there may be (1000)"`
	Repeat source.Text     `wavefold:"repeat,oneof=end|keep" doc:"what to do with a page that has the rows of the one before: end there without it, or keep it and continue; by default the node fails"`
	Pos    source.Position `wavefold:",pos"`
}

// Default limits on the body of one response, in bytes: of a body in memory, and of a body that
// is written to a file.
const (
	defaultMaxBody = 50 << 20
	defaultMaxFile = 1 << 30
)

// builder makes the handler of a node.
type builder struct {
	config
	node  *core.Node
	texts *templates.Set
	scope *table.Scope
	// secrets lists the secrets that the node refers to.
	secrets []secret.Value
	// lookup looks up secrets.
	lookup func(string) (string, bool)
}

func (b *builder) build() *handler {
	h := &handler{method: http.MethodGet, form: formJSON, maxBody: int(b.MaxBody), ok: b.OK, stream: b.Stream.Value}
	if h.maxBody == 0 {
		if h.maxBody = defaultMaxBody; b.Save.Value != "" {
			h.maxBody = defaultMaxFile
		}
	}
	if b.Method.Value != "" {
		h.method = b.Method.Value
	}
	if b.Output.Value != "" {
		h.form = form(b.Output.Value)
	}
	b.limits(h)
	b.address(h)
	h.query = b.pairs(b.Query, "query")
	h.headers = b.pairs(b.Headers, "headers")
	b.checkHeaders()
	b.auth(h)
	b.body(h)
	h.rows = b.parsePath(b.Rows, "rows")
	b.pages(h)
	if h.method == http.MethodHead {
		keys := []string{"rows", "max_body"}
		if h.form != formNone {
			keys = append(keys, "output")
		}
		b.texts.Found = append(b.texts.Found, setting.NoEffect(b.node, "a HEAD request, whose answer has no body", keys...)...)
	}
	b.result(h)
	return h
}

func (b *builder) errorf(pos source.Position, key, format string, args ...any) *source.Diagnostic {
	return b.texts.Found.Errorf(source.CodeBadValue, pos, b.node.Subject()+": "+key+": "+format, args...)
}

// defaultIdle is the default of idle_timeout.
const defaultIdle = time.Minute

// maxRate limits per_second. At higher rates the interval between requests is not measurable.
const maxRate = 1e6

// limits reads per_second and idle_timeout.
func (b *builder) limits(h *handler) {
	if h.idle = b.Idle; h.idle == 0 {
		h.idle = defaultIdle
	}
	if b.Rate == nil {
		return
	}
	if r := *b.Rate; r > 0 && r <= maxRate {
		h.limiter = &rateLimiter{every: time.Duration(min(float64(time.Second)/r, math.MaxInt64/2))}
		return
	}
	b.errorf(b.node.Config.Get("per_second").Pos, "per_second", "want a number above 0 and at most %d, found %v", int(maxRate), *b.Rate)
}

// address compiles the URL and checks its fixed part.
func (b *builder) address(h *handler) {
	h.url = b.texts.Template(b.URL, "url")
	if h.url == nil || strings.HasPrefix(b.URL.Value, "{{") {
		return
	}
	fixed, _, _ := strings.Cut(b.URL.Value, "{{")
	if u, err := url.Parse(fixed); err != nil {
		b.errorf(b.URL.Pos, "url", "%q is not an address: %v", maskUser(b.URL.Value), plainURL(err))
	} else if err := checkURL(u); err != nil {
		b.errorf(b.URL.Pos, "url", "%q: %v", maskUser(b.URL.Value), err).WithHint("https://host/path")
	}
}

// maskUser masks the user and password in an address, because messages with it are printed
// and logged.
func maskUser(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	at := strings.LastIndex(rest, "@")
	if !ok || at < 0 {
		return text
	}
	return scheme + "://" + secret.Mask + rest[at:]
}

// pairs compiles the members of query and headers.
func (b *builder) pairs(list source.Members[secret.Value], key string) []pair {
	var out []pair
	for _, m := range list {
		if m.Key.Value == "" {
			b.errorf(m.Key.Pos, key, "the name is empty")
			continue
		}
		for _, d := range source.Fixed(m.Key) {
			b.errorf(d.Pos, key, "%s", d.Message)
		}
		out = append(out, pair{m.Key.Value, b.value(m.Value, key+"."+m.Key.Value)})
	}
	return out
}

func (b *builder) value(v secret.Value, key string) paramValue {
	if v.IsSecret() {
		b.secrets = append(b.secrets, v)
		v.CheckSet(&b.texts.Found, b.lookup, b.node.Subject()+": "+key, "the node fails without it")
		return paramValue{secret: v}
	}
	return paramValue{text: b.texts.Template(v.Text, key)}
}

func (b *builder) checkHeaders() {
	for _, m := range b.Headers {
		if strings.ContainsAny(m.Key.Value, " :\r\n\t") {
			b.errorf(m.Key.Pos, "headers", "%q cannot be the name of a header", m.Key.Value)
		}
		if b.Auth != nil && strings.EqualFold(m.Key.Value, "Authorization") {
			b.errorf(m.Key.Pos, "headers", "Authorization is given here and under auth")
		}
	}
}

func (b *builder) auth(h *handler) {
	switch a := b.Auth; {
	case a == nil:
	case a.Bearer != nil && a.Basic != nil, a.Bearer == nil && a.Basic == nil:
		b.errorf(a.Pos, "auth", "want bearer or basic, one of them")
	case a.Bearer != nil:
		h.bearer = new(b.value(*a.Bearer, "auth.bearer"))
	default:
		h.user, h.password = new(b.value(a.Basic.User, "auth.basic.user")), new(b.value(a.Basic.Password, "auth.basic.password"))
	}
}

func (b *builder) body(h *handler) {
	switch {
	case b.Body == nil:
	case h.method == http.MethodGet || h.method == http.MethodHead:
		b.errorf(b.Body.Pos, "body", "a %s request has no body", h.method).WithHint("add method: POST, or use query")
	case b.Body.Value == "args":
		h.bodyArgs = true
		if b.node.Args == nil {
			b.errorf(b.Body.Pos, "body", "the node has no args to send")
		}
		b.texts.Found = append(b.texts.Found, program.CheckArgs(b.node, b.node.Subject())...)
	default:
		h.body = b.texts.Template(*b.Body, "body")
	}
}

// parsePath parses the path of a value in a response.
func (b *builder) parsePath(t source.Text, key string) []string {
	if t.Value == "" {
		return nil
	}
	names := strings.Split(strings.TrimPrefix(t.Value, "$."), ".")
	if slices.Contains(names, "") || strings.ContainsAny(t.Value, "[]*") {
		b.errorf(t.Pos, key, "want names with points between them, found %q", t.Value).WithHint("data.items")
		return nil
	}
	if b.Output.Value != "" && b.Output.Value != string(formJSON) {
		b.errorf(t.Pos, key, "belongs to output json")
	}
	return names
}

func (b *builder) pages(h *handler) {
	p := b.Pages
	if p == nil {
		return
	}
	h.pages = &pageSettings{by: p.By.Value, param: p.Param.Value, from: p.From, size: p.Size, next: b.parsePath(p.Next, "pages.next"), max: p.Max, repeat: p.Repeat.Value}
	if h.pages.max == 0 {
		h.pages.max = 1000
	}
	if p.By.Value == byNumber && !b.has("from") {
		h.pages.from = 1
	}
	wantParam, wantNext := p.By.Value != byLink, p.By.Value == byCursor
	switch {
	case wantParam && p.Param.Value == "":
		b.errorf(p.Pos, "pages", "by: %s needs param, the name of the query parameter", p.By.Value)
	case !wantParam && p.Param.Value != "":
		b.errorf(p.Param.Pos, "pages.param", "has no meaning for by: link")
	case wantNext && !b.without("from", "size"), p.By.Value == byLink && !b.without("from", "size"):
	case !wantNext && wantParam && !b.without("next"):
	case wantNext && p.Next.Value == "":
		b.errorf(p.Pos, "pages", "by: cursor needs next, where the answer holds the next cursor").WithHint("next: meta.next")
	case p.By.Value == byOffset && p.Size == 0:
		b.errorf(p.Pos, "pages", "by: offset needs size, the number of rows of a page")
	case h.form != formJSON:
		b.errorf(p.Pos, "pages", "pages are JSON; output is %s", h.form)
	case h.method == http.MethodHead:
		b.errorf(p.Pos, "pages", "the answer to HEAD has no rows")
	}
}

// without reports whether the document sets none of some keys of pages. It adds an error for a
// key that is set, because the key has no meaning for the value of by.
func (b *builder) without(keys ...string) bool {
	for _, key := range keys {
		if v := b.node.Config.Get("pages").Get(key); v != nil {
			b.errorf(v.Pos, "pages."+key, "has no meaning for by: %s", b.Pages.By.Value)
			return false
		}
	}
	return true
}

// has reports whether the document sets a key of pages.
func (b *builder) has(key string) bool {
	return b.node.Config.Get("pages").Get(key) != nil
}

// result finds the target of the response.
func (b *builder) result(h *handler) {
	if b.Save.Value != "" {
		b.save(h)
		b.unused("a request with save writes no state")
		return
	}
	if h.form == formNone {
		if b.Into.Value != "" {
			b.errorf(b.Into.Pos, "into", "output: none has nothing to put into a field")
		}
		b.unused("a request with output: none writes no state")
	} else {
		to, ds := setting.TargetOf(b.node, b.Into, b.node.Subject())
		h.to = to
		b.texts.Found = append(b.texts.Found, ds...)
	}
	if !h.stream {
		return
	}
	switch {
	case h.to.Field == "":
		b.errorf(b.Stream.Pos, "stream", "a stream needs one field: writes: [rows]")
	case h.pages == nil && h.form != formJSONL:
		b.errorf(b.Stream.Pos, "stream", "only pages, or output jsonl, come piece by piece")
	}
}

// unused warns of the node's writes, which are never filled.
func (b *builder) unused(why string) {
	b.texts.Found = append(b.texts.Found, setting.UnusedWrites(b.node, why)...)
}

// save compiles the name of the file that the response is saved in.
func (b *builder) save(h *handler) {
	h.save = filename.Output(b.scope, b.Save, "save")
	for _, other := range []struct {
		key   string
		given bool
	}{{"output", b.Output.Value != ""}, {"rows", b.Rows.Value != ""}, {"pages", b.Pages != nil}, {"into", b.Into.Value != ""}, {"stream", b.Stream.Value}} {
		if other.given {
			b.errorf(b.node.Config.Get(other.key).Pos, other.key, "does not go with save: the file gets the answer as it is")
		}
	}
	if h.save != nil && h.save.Fixed() {
		if err := files.Local(b.Save.Value); err != nil {
			b.errorf(b.Save.Pos, "save", "%v", err)
		}
	}
}
