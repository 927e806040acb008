package llm

import "context"

// wrapper is a model with something around its calls. What it lacks is what the model
// inside lacks.
type wrapper struct {
	inner Model
	call  Func

	name   string // of the model that is asked for in any case, "" for none
	prices Prices
}

// Complete calls the function around the model.
func (w *wrapper) Complete(ctx context.Context, r *Request) (*Response, error) { return w.call(ctx, r) }

// Lacks returns what the model inside cannot do.
func (w *wrapper) Lacks(r *Request) string { return Lacks(w.inner, r) }

// Check tells why the model inside cannot be asked.
func (w *wrapper) Check() error { return Check(w.inner) }

// Checker is implemented by models that may know that they cannot be asked at all, such as
// one that wants a key and has none.
type Checker interface {
	// Check returns why the model cannot be asked, nil if nothing is known against it. It
	// asks nobody.
	Check() error
}

// Check returns why a model cannot be asked, nil if nothing is known against it.
func Check(m Model) error {
	if c, ok := m.(Checker); ok {
		return c.Check()
	}
	return nil
}

// KeyVariables names the variables of the environment from which the model inside reads
// its key.
func (w *wrapper) KeyVariables() []string { return KeyVariables(w.inner) }

// Keyed is implemented by models whose key stands in the environment. The programs that nodes
// run do not get these variables unless the document says so.
type Keyed interface {
	KeyVariables() []string
}

// KeyVariables names the variables of the environment from which a model reads its key, nil
// if it does not say.
func KeyVariables(m Model) []string {
	if k, ok := m.(Keyed); ok {
		return k.KeyVariables()
	}
	return nil
}

// Named returns a model that is asked for the model of that name, whatever requests want.
func Named(m Model, name string) Model {
	return &wrapper{inner: m, name: name, call: func(ctx context.Context, r *Request) (*Response, error) {
		named := *r
		named.Model = name
		return m.Complete(ctx, &named)
	}}
}
