package wavefold

import (
	"context"
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/gotype"
)

// Visit is a visit of a node made by Step.
type Visit struct {
	// Number is the number of the visit of the node in this run, from 1.
	Number int
	// Conversation are the messages of the visits that this one continues, see
	// core.Input.Conversation.
	Conversation []any
	// Routing is what the visit says in addition to its result: the next node, the tools
	// that it called, guards, changes of the graph and others. The function fills it in.
	core.Routing
}

// Step is Map for nodes of walks whose function also affects where the walk continues. It
// sets the fields of v that it needs, such as v.Next. They count even if it returns an
// error.
func Step[A, B any](id string, in Field[A], out Field[B], fn func(ctx context.Context, a A, v *Visit) (B, error), options ...Option) Part {
	n := newNode("Step", id, options)
	n.view, n.writes = Fields(in), Fields(out)
	return n.setFunc(fn == nil, func(ctx context.Context, i core.Input) (core.Result, error) {
		a, err := in.read(i.View())
		if err != nil {
			return core.Result{}, err
		}
		v := &Visit{Number: i.Visit(), Conversation: i.Conversation()}
		b, err := fn(ctx, a, v)
		r, err := writeResult(out, b, err)
		r.Routing = &v.Routing
		return r, err
	})
}

// ConversationAs returns the messages of Visit.Conversation as values of type T, such as the
// type that was added to Visit.Messages.
func ConversationAs[T any](v *Visit) ([]T, error) {
	codec := gotype.New(reflect.TypeFor[T]())
	if codec.Err != nil {
		return nil, codec.Err
	}
	out := make([]T, len(v.Conversation))
	for i, m := range v.Conversation {
		var err error
		if out[i], err = gotype.As[T](codec, m); err != nil {
			return nil, fmt.Errorf("message %d of the conversation: %w", i, err)
		}
	}
	return out, nil
}
