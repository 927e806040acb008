package llm

import "context"

// wrapper adds behaviour to the calls of a model. It lacks what the inner model lacks.
type wrapper struct {
	inner Model
	call  Func

	name   string // of the model that every request goes to, "" if the request names it
	prices Prices
}

// Complete calls the wrapping function.
func (w *wrapper) Complete(ctx context.Context, r *Request) (*Response, error) { return w.call(ctx, r) }

// Lacks describes what the inner model does not support.
func (w *wrapper) Lacks(r *Request) string { return Lacks(w.inner, r) }

// Check returns why the inner model cannot be called.
func (w *wrapper) Check() error { return Check(w.inner) }

// Checker is implemented by models that may know in advance that no call can succeed, such
// as a model that needs an API key and has none.
type Checker interface {
	// Check returns why the model cannot be called, nil if no reason is known. It calls no
	// server.
	Check() error
}

// Check returns why a model cannot be called, nil if no reason is known.
func Check(m Model) error {
	if c, ok := m.(Checker); ok {
		return c.Check()
	}
	return nil
}

// KeyVariables names the environment variables from which the inner model reads its key.
func (w *wrapper) KeyVariables() []string { return KeyVariables(w.inner) }

// Keyed is implemented by models that read their API key from the environment. Programs
// that nodes run do not get these variables unless the document passes them on.
type Keyed interface {
	KeyVariables() []string
}

// KeyVariables names the environment variables from which a model reads its key, nil if the
// model is not Keyed.
func KeyVariables(m Model) []string {
	if k, ok := m.(Keyed); ok {
		return k.KeyVariables()
	}
	return nil
}

// Named returns a model that directs every request to the model of the given name.
func Named(m Model, name string) Model {
	return &wrapper{inner: m, name: name, call: func(ctx context.Context, r *Request) (*Response, error) {
		named := *r
		named.Model = name
		return m.Complete(ctx, &named)
	}}
}
