// Package items lets a typed function handle the items of a fan-out without an allocation for each
// item and each result. It connects the parts of a graph with the scheduler.
package items

import (
	"context"
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// Handler is a handler that needs nothing of the Input of an item but the item. A driver may then
// call a Range instead.
type Handler interface {
	core.Handler
	// ItemValues returns the type of Range.Values, a slice type. It is the type of the field that the
	// node writes if each item writes a list of one element: that element is stored. It is a slice of
	// the type of the field if the written lists themselves are stored. It is nil if the node writes
	// nothing. ok is false if there is no Range.
	ItemValues() (t reflect.Type, ok bool)
	// Range returns a Range that stores up to n values. list is the array of the items: a []any, or
	// a slice or array of a Go type.
	Range(list any, n int) Range
}

// Range calls a Handler for items and stores their values in a list. One goroutine uses it at a
// time.
type Range interface {
	// Values returns the list, which has n elements. If the node writes nothing, it is not called.
	Values() any
	// Handle calls the function for the item at an index of the list of items, and stores the value at
	// an index of Values. ok is false if nothing is written. Another goroutine may read the values of
	// completed calls at the same time.
	Handle(ctx context.Context, item, at int) (ok bool, err error)
}
