// Package openai is the backend of package llm for OpenAI and for all servers that
// implement its API: vLLM, Ollama, LM Studio, llama.cpp, and proxies for other providers.
//
//	model := openai.FromEnv(os.LookupEnv) // OPENAI_API_KEY, OPENAI_BASE_URL, WAVEFOLD_MODEL
//
// It uses chat completions, which every such server supports, and the Responses API for
// tools that run at the provider. It does not retry: llm.WithRetry does.
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
	_ "github.com/wavefold/wavefold/llm/jsonschema" // nodes check the answers
)

// Environment variables that FromEnv reads.
const (
	EnvKey       = "OPENAI_API_KEY"
	EnvBaseURL   = "OPENAI_BASE_URL"
	EnvModel     = "WAVEFOLD_MODEL"     // for requests that name none
	EnvResponses = "WAVEFOLD_RESPONSES" // "1": the server has the Responses API
)

// Defaults.
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	// DefaultModel is the model of requests to DefaultBaseURL that name none. Other servers
	// have models of their own.
	DefaultModel = string(openai.ChatModelGPT5_4Mini)
)

// Options configure a Model. A zero field has its default.
type Options struct {
	// Key is the API key. It may be empty if BaseURL is set: local servers often need none.
	Key string
	// BaseURL is the base URL of the API, with the version: http://localhost:11434/v1. ""
	// means DefaultBaseURL.
	BaseURL string
	// Model is the model of requests that name none.
	Model string
	// Responses reports that the server has the Responses API, which requests for hosted
	// tools need. OpenAI's own server always has it.
	Responses bool
	// Stream requests chat completions as a stream. The answer is the same, but proxies do
	// not drop the connection as idle.
	Stream bool
	// Client sends the requests; nil means one that keeps up to 100 connections open.
	Client *http.Client
}

// Model calls a server. It is safe for concurrent use.
type Model struct {
	o              Options
	chosen         string   // Options.Model as it was given
	address        string   // of the server, as messages show it
	secrets        []string // values removed from the address: user, password, query
	err            error    // why no request can be sent
	official       bool     // OpenAI's own server
	chat           openai.ChatCompletionService
	responses      responses.ResponseService
	schemaRejected sync.Map // set of schemaKey: schemas that the server rejects as a response format
}

var (
	_ llm.Capable = (*Model)(nil)
	_ llm.Checker = (*Model)(nil)
	_ llm.Keyed   = (*Model)(nil)
	_ llm.Chosen  = (*Model)(nil)
)

// New returns a model. If no request can be sent with the options, every request fails with
// an error that names the variable to set, so that workflows can be validated without a
// key.
func New(o Options) *Model {
	m := &Model{o: o, chosen: o.Model}
	if o.BaseURL == "" {
		m.o.BaseURL = DefaultBaseURL
	}
	base, err := url.Parse(m.o.BaseURL)
	m.address, m.secrets = redactAddress(m.o.BaseURL, base)
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
	if base != nil { // the SDK drops the query of the base URL
		for name, values := range base.Query() {
			for _, v := range values {
				options = append(options, option.WithQueryAdd(name, v))
			}
		}
	}
	if o.Key != "" {
		options = append(options, option.WithAPIKey(o.Key))
	}
	// These constructors, unlike openai.NewClient, do not read the environment.
	m.chat, m.responses = openai.NewChatCompletionService(options...), responses.NewResponseService(options...)
	return m
}

// FromEnv returns the model that environment variables describe; lookup is os.LookupEnv or
// a function like it. An empty variable counts as not set.
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

// KeyVariables names OPENAI_API_KEY, which usually holds the key, and OPENAI_BASE_URL if
// the address has a user, a password or a query, which may be keys as well.
func (m *Model) KeyVariables() []string {
	if m.address != m.o.BaseURL {
		return []string{EnvKey, EnvBaseURL}
	}
	return []string{EnvKey}
}

// Check returns an error that names the variable to set if no request can be sent.
func (m *Model) Check() error { return m.err }

// Lacks describes the features of a request that the model does not support: it always
// calls the same server, which may not have the hosted tools.
func (m *Model) Lacks(r *llm.Request) string {
	if r.Provider != "" {
		return fmt.Sprintf("all models are asked at %s, so no provider can be chosen", m.address)
	}
	return m.lacksHosted(r)
}

// lacksHosted describes why the server cannot run the hosted tools of a request.
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

// Complete sends the request to the server.
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
		m.schemaRejected.Store(format.key, true)
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

// DefaultModel returns the model of requests that name none, "" if the server chooses it.
func (m *Model) DefaultModel() string { return m.o.Model }

// ChosenModel returns Options.Model.
func (m *Model) ChosenModel() string { return m.chosen }
