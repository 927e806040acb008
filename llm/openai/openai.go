// Package openai is the backend of package llm for OpenAI and for all servers that speak
// its API: vLLM, Ollama, LM Studio, llama.cpp, and proxies before other providers.
//
//	model := openai.FromEnv(os.LookupEnv) // OPENAI_API_KEY, OPENAI_BASE_URL, WAVEFOLD_MODEL
//
// It asks for chat completions, which every such server has, and for responses where a
// tool that runs at the provider is wanted. It does not try again: llm.WithRetry does.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
)

// Variables of the environment that FromEnv reads.
const (
	EnvKey       = "OPENAI_API_KEY"
	EnvBaseURL   = "OPENAI_BASE_URL"
	EnvModel     = "WAVEFOLD_MODEL"     // for requests that name none
	EnvResponses = "WAVEFOLD_RESPONSES" // "1": the server has the Responses API
)

// Defaults.
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	// DefaultModel is the model of requests that name none, at DefaultBaseURL. Servers
	// elsewhere have models of their own.
	DefaultModel = string(openai.ChatModelGPT5_4Mini)
)

// Options are what a Model needs to know. A zero field has its default.
type Options struct {
	// Key is the API key. It may be missing where BaseURL is set: servers of one's own often
	// want none.
	Key string
	// BaseURL is where the API is, with the version: http://localhost:11434/v1. "" means
	// DefaultBaseURL.
	BaseURL string
	// Model is that of requests that name none.
	Model string
	// Responses tells that the server has the Responses API; OpenAI's own has it anyway.
	// Requests for hosted tools need it.
	Responses bool
	// Stream asks for chat completions piece by piece. The answer is the same; it keeps
	// connections alive that a proxy would cut when nothing comes for a while.
	Stream bool
	// Client sends the requests; nil means one that keeps up to 100 connections open.
	Client *http.Client
}

// Model asks a server. It is safe for concurrent use.
type Model struct {
	o         Options
	address   string   // of the server, as messages show it
	hidden    []string // what the address leaves out: user, password, values of the query
	err       error    // why it cannot ask
	official  bool     // OpenAI's own server
	chat      openai.ChatCompletionService
	responses responses.ResponseService
	plain     sync.Map // schemaKey: the server refuses it as a response format
}

var (
	_ llm.Capable = (*Model)(nil)
	_ llm.Checker = (*Model)(nil)
	_ llm.Keyed   = (*Model)(nil)
)

// New returns a model. Options with which no request can be sent are an error of every
// request, which names the variable to set, so that workflows can be checked without a key.
func New(o Options) *Model {
	m := &Model{o: o}
	if o.BaseURL == "" {
		m.o.BaseURL = DefaultBaseURL
	}
	base, err := url.Parse(m.o.BaseURL)
	m.address, m.hidden = shown(m.o.BaseURL, base)
	m.official = err == nil && base.Host == "api.openai.com"
	switch {
	case err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		m.err = fmt.Errorf("%s is not the URL of a server: %q; it looks like http://localhost:11434/v1", EnvBaseURL, m.address)
	case o.Key == "" && (o.BaseURL == "" || m.official):
		m.err = fmt.Errorf("no model can be asked: set %s to a key of OpenAI, or %s (and %s) to a server that speaks its API, such as http://localhost:11434/v1", EnvKey, EnvBaseURL, EnvModel)
	}
	if m.o.Model == "" && m.official {
		m.o.Model = DefaultModel
	}
	options := []option.RequestOption{option.WithBaseURL(m.o.BaseURL), option.WithMaxRetries(0), option.WithHTTPClient(client(o.Client)), option.WithMiddleware(m.watch)}
	if base != nil { // the SDK drops the query of the address
		for name, values := range base.Query() {
			for _, v := range values {
				options = append(options, option.WithQueryAdd(name, v))
			}
		}
	}
	if o.Key != "" {
		options = append(options, option.WithAPIKey(o.Key))
	}
	// The services know nothing of the environment, which openai.NewClient would read.
	m.chat, m.responses = openai.NewChatCompletionService(options...), responses.NewResponseService(options...)
	return m
}

// FromEnv returns the model that variables of the environment describe; lookup is
// os.LookupEnv or a function like it. An empty variable counts as not set.
func FromEnv(lookup func(string) (string, bool)) *Model {
	get := func(name string) string {
		s, ok := lookup(name)
		if !ok {
			return ""
		}
		return strings.TrimSpace(s)
	}
	return New(Options{Key: get(EnvKey), BaseURL: get(EnvBaseURL), Model: get(EnvModel), Responses: slices.Contains([]string{"1", "true"}, get(EnvResponses))})
}

func client(c *http.Client) *http.Client {
	if c != nil {
		return c
	}
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultClient
	}
	t = t.Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 100, 100
	return &http.Client{Transport: t}
}

// KeyVariables names OPENAI_API_KEY, from which the key comes as a rule, and OPENAI_BASE_URL
// if the address has a user, a password or a query, which may be keys as well.
func (m *Model) KeyVariables() []string {
	if m.address != m.o.BaseURL {
		return []string{EnvKey, EnvBaseURL}
	}
	return []string{EnvKey}
}

// Check tells which variable to set if no request can be sent.
func (m *Model) Check() error { return m.err }

// Lacks returns why the model cannot do what a request asks for: it always asks one server,
// which may have no such hosted tool.
func (m *Model) Lacks(r *llm.Request) string {
	if r.Provider != "" {
		return fmt.Sprintf("all models are asked at %s, so no provider can be chosen", m.address)
	}
	return m.lacksHosted(r)
}

// lacksHosted returns why the server cannot run the hosted tools of a request.
func (m *Model) lacksHosted(r *llm.Request) string {
	for _, tool := range r.Hosted {
		if tool != llm.WebSearch {
			return fmt.Sprintf("there is no hosted tool %q; there is %s", tool, llm.WebSearch)
		}
		if !m.official && !m.o.Responses {
			return fmt.Sprintf("the hosted tool %s needs the Responses API of OpenAI; if the server at %s has it, set %s=1", tool, m.address, EnvResponses)
		}
	}
	return ""
}

// Complete asks the server.
func (m *Model) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	model := r.Model
	if model == "" {
		model = m.o.Model
	}
	err := m.err
	if err == nil && model == "" {
		err = fmt.Errorf("the server at %s has no default model: set %s to the name of one, or name it in the workflow", m.address, EnvModel)
	}
	if err != nil {
		return nil, core.FailRun(core.Permanent(err))
	}
	if lacks := m.lacksHosted(r); lacks != "" {
		return nil, core.Permanent(errors.New(lacks))
	}
	ask := m.complete
	if len(r.Hosted) > 0 {
		ask = m.respond
	}
	format := m.formatOf(model, r.Schema)
	res, err := ask(ctx, r, model, format)
	if format.native && refusesFormat(err) {
		m.plain.Store(format.key, true)
		format.native = false
		res, err = ask(ctx, r, model, format)
	}
	if err != nil {
		return nil, m.failure(ctx, err)
	}
	res.Usage.Calls = 1
	if res.Model == "" {
		res.Model = model
	}
	return res, nil
}

var _ llm.Defaulter = (*Model)(nil)

// DefaultModel is the model of requests that name none, "" where the server decides.
func (m *Model) DefaultModel() string { return m.o.Model }
