package core

import (
	"context"
	"maps"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Handler does the work of a node. Handle is called once for each attempt, possibly from
// many goroutines at a time. It must return soon after ctx is done. Its input is read-only,
// and its result belongs to the engine once it has returned. A panic becomes a failure of
// the node.
type Handler interface {
	Handle(ctx context.Context, in Input) (Result, error)
}

// HandlerFunc is a function that implements Handler.
type HandlerFunc func(ctx context.Context, in Input) (Result, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, in Input) (Result, error) { return f(ctx, in) }

// Binder is implemented by handlers that need to know their node. A kind that looks up a
// registered handler by name calls Bind while it compiles the node, once for each node that
// uses the handler, and uses the handler that Bind returns. Diagnostics have the positions
// of the node. Bind must not run anything.
type Binder interface {
	Handler
	Bind(n *Node, env Env) (Handler, source.Diagnostics)
}

// Described is implemented by handlers that know their arguments. A model that may call the
// handler gets the description.
type Described interface {
	Handler
	// Arguments returns the type of the arguments, an object with a property for each, or
	// nil if it is not known.
	Arguments() *value.Type
}

// ValueHandler is a Handler of a node that writes one field and returns nothing else. If
// that field is the only declared write of the node, drivers call HandleValue instead of
// Handle, which avoids a Result and a map.
type ValueHandler interface {
	Handler
	// ValueField returns the name of the field. It returns "" if the handler must be called
	// by Handle.
	ValueField() string
	// HandleValue does the same as Handle but returns the value; ok is false if nothing is
	// written. It must not use its input after it has returned.
	HandleValue(ctx context.Context, in Input) (v any, ok bool, err error)
}

// Result is what a handler returns. Every part is optional: the zero Result is a success
// that writes and sends nothing.
type Result struct {
	// Delta holds writes, by field, in addition to the write of the function Write. Each field
	// must be among the declared writes of the node. Either all writes take effect or none.
	Delta map[string]any
	// EdgeOutput is sent to the direct successors. Set HasEdgeOutput to send nil.
	EdgeOutput    any
	HasEdgeOutput bool
	// Status is the status of the attempt; the zero Status means Success.
	//
	// PartialSuccess is a usable but incomplete result.
	//
	// Retry requests another attempt, if the retry policy of the node allows one. After the
	// last attempt, a node with allow_partial is a partial success with the writes of that
	// attempt, and any other node fails.
	//
	// Fail is final: no attempt follows. The writes count only in a walk, or if auto_status
	// makes the node a success anyway.
	//
	// Skipped is for nodes of a walk. In a dag only the engine skips nodes, and the status
	// fails the node.
	Status Status
	// Note is a short text for people, shown with the node.
	Note string
	// Routing affects the next step of a walk and its context; it may be nil. In a dag, a
	// context makes the attempt fail, so that it is not lost silently, and the rest is
	// ignored.
	Routing *Routing
	// Placement is the last step of the work, or nil if there is none; see Placement.
	Placement *Placement
	// Upserted holds the keys of the rows that the attempt stored by key. It is nil if
	// there are none, or if Shared.Keys is false.
	Upserted *Upserted

	// field and value are the write of the function Write: most nodes write one field, and a
	// map takes several times the memory. field is "" if there is none.
	field string
	value any
}

// Writes returns all writes by field. The map may be Delta. If Delta contains the field of
// the function Write, the value in Delta counts.
func (r Result) Writes() map[string]any {
	if r.field == "" {
		return r.Delta
	}
	all := make(map[string]any, len(r.Delta)+1)
	all[r.field] = r.value
	maps.Copy(all, r.Delta)
	return all
}

// SingleWrite returns the write of the function Write if there is no other write. It is
// cheaper than Writes.
func (r *Result) SingleWrite() (field string, v any, ok bool) {
	return r.field, r.value, r.field != "" && len(r.Delta) == 0
}

// Empty reports whether the result is a success that wrote and sent nothing.
func (r *Result) Empty() bool {
	return r.Delta == nil && r.field == "" && r.EdgeOutput == nil && !r.HasEdgeOutput && r.Status == StatusNone && r.Note == "" && r.Routing == nil && r.Placement == nil && r.Upserted == nil
}

// Send returns a result that sends v along the outgoing edges.
func Send(v any) Result { return Result{EdgeOutput: v, HasEdgeOutput: true} }

// Write returns a result that writes one field. The write is not in Delta, which may be set
// to write more fields; Writes returns all of them.
func Write(field string, v any) Result {
	if field == "" { // no node can write it, and the engine says so
		return Result{Delta: map[string]any{field: v}}
	}
	return Result{field: field, value: v}
}
