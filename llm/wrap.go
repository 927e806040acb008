package llm

import "context"

// wrapper is a model with something around its calls. What it lacks is what the model
// inside lacks.
type wrapper struct {
	inner Model
	call  Func
}

// Complete calls the function around the model.
func (w *wrapper) Complete(ctx context.Context, r *Request) (*Response, error) { return w.call(ctx, r) }

// Lacks returns what the model inside cannot do.
func (w *wrapper) Lacks(r *Request) string { return Lacks(w.inner, r) }
