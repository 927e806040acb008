package core

import "context"

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Handler does the work of a node. Handle is called once for each attempt and
// may be called from many goroutines at a time. It must return soon after ctx
// is done. What it was given is read-only; what it returns belongs to the
// engine from then on. A panic ends as the node's failure.
type Handler interface {
	Handle(ctx context.Context, in Input) (Result, error)
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(ctx context.Context, in Input) (Result, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, in Input) (Result, error) { return f(ctx, in) }

// Binder is implemented by handlers that want to know the node they work for. A
// kind that finds a registered handler by name calls Bind once for each node
// that uses it, while it compiles the node, and takes the handler Bind returns.
// Findings carry the positions of the node; Bind runs nothing.
type Binder interface {
	Handler
	Bind(n *Node, env Env) (Handler, source.Diagnostics)
}

// Described is implemented by handlers that know which arguments they take, so that a
// model which may call them can be told.
type Described interface {
	Handler
	// Arguments returns the type of the arguments, an object with a member for each; nil
	// when it does not know.
	Arguments() *value.Type
}

// ValueHandler is a Handler of a node that writes one field and says nothing else.
// Drivers call HandleValue in place of Handle where that field is all the node declares
// to write: neither a Result nor a map is made then.
type ValueHandler interface {
	Handler
	// ValueField is the field, "" for a handler that is only called by Handle.
	ValueField() string
	// HandleValue does what Handle does and returns the value; ok is false when nothing
	// is written.
	HandleValue(ctx context.Context, in Input) (v any, ok bool, err error)
}

// Result is what a node hands back. Every part is optional: the zero Result is
// a success that writes nothing and sends nothing.
type Result struct {
	// Delta holds the writes, by field. Each field must be among the node's
	// declared writes. The whole delta is stored or nothing of it.
	Delta map[string]any
	// EdgeOutput is handed to the direct successors only; set HasEdgeOutput to
	// send nil.
	EdgeOutput    any
	HasEdgeOutput bool
	// Status is how the attempt ended; the zero Status means Success.
	//
	// PartialSuccess is a usable but incomplete result. Retry asks for another
	// attempt, as far as the node's retry policy has any left; after the last one
	// the node is a partial success with what that attempt wrote if it has
	// allow_partial, else it has failed. Fail is final: no attempt follows, and the
	// writes count only in a walk, or if auto_status makes the node a success all the
	// same. Skipped is for nodes of a walk; in a dag it is the engine's own word and fails
	// the node.
	Status Status
	// Note is a short text for people, shown beside the node.
	Note string
	// Routing says where a walk goes on and what it remembers; nil says nothing. A dag
	// has no use for it: there a context makes the attempt fail, so that nothing is
	// lost unseen, and the rest is ignored.
	Routing *Routing
	// Placement is the last step of the work, nil for none; see Placement.
	Placement *Placement
	// Upserted holds the keys of the rows that the attempt stored by key. It is nil if there
	// are none, or if Shared.Keys does not ask for them.
	Upserted *Upserted
}

// Empty reports whether it is the zero Result: a success that wrote and sent nothing.
func (r *Result) Empty() bool {
	return r.Delta == nil && r.EdgeOutput == nil && !r.HasEdgeOutput && r.Status == StatusNone && r.Note == "" && r.Routing == nil && r.Placement == nil && r.Upserted == nil
}

// Send returns a result that sends v along the outgoing edges.
func Send(v any) Result { return Result{EdgeOutput: v, HasEdgeOutput: true} }

// Write returns a result that writes one field.
func Write(field string, v any) Result { return Result{Delta: map[string]any{field: v}} }
