package wavefold

import (
	"context"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/items"
)

// Source is a node that sets a field without reading any: the beginning of a graph. It
// takes the options of all nodes.
func Source[T any](id string, out Field[T], fn func(context.Context) (T, error), options ...Option) Part {
	n := newNode("Source", id, options)
	n.writes = Fields(out)
	return n.setValueFunc(fn == nil, out, func(ctx context.Context, _ core.Input) (any, bool, error) {
		v, err := fn(ctx)
		return v, true, err
	})
}

// Map is a node that computes one field from another. It takes the options of all
// nodes.
func Map[A, B any](id string, in Field[A], out Field[B], fn func(context.Context, A) (B, error), options ...Option) Part {
	n := newNode("Map", id, options)
	n.view, n.writes = Fields(in), Fields(out)
	return n.setValueFunc(fn == nil, out, func(ctx context.Context, i core.Input) (any, bool, error) {
		a, err := in.read(i.View())
		if err != nil {
			return nil, false, err
		}
		v, err := fn(ctx, a)
		return v, true, err
	})
}

// Map2 is Map with two fields to read.
func Map2[A, B, C any](id string, in1 Field[A], in2 Field[B], out Field[C], fn func(context.Context, A, B) (C, error), options ...Option) Part {
	n := newNode("Map2", id, options)
	n.view, n.writes = Fields(in1, in2), Fields(out)
	return n.setValueFunc(fn == nil, out, func(ctx context.Context, i core.Input) (any, bool, error) {
		a, err := in1.read(i.View())
		if err != nil {
			return nil, false, err
		}
		b, err := in2.read(i.View())
		if err != nil {
			return nil, false, err
		}
		v, err := fn(ctx, a, b)
		return v, true, err
	})
}

// Map3 is Map with three fields to read. For more, use Func.
func Map3[A, B, C, D any](id string, in1 Field[A], in2 Field[B], in3 Field[C], out Field[D], fn func(context.Context, A, B, C) (D, error), options ...Option) Part {
	n := newNode("Map3", id, options)
	n.view, n.writes = Fields(in1, in2, in3), Fields(out)
	return n.setValueFunc(fn == nil, out, func(ctx context.Context, i core.Input) (any, bool, error) {
		a, err := in1.read(i.View())
		if err != nil {
			return nil, false, err
		}
		b, err := in2.read(i.View())
		if err != nil {
			return nil, false, err
		}
		c, err := in3.read(i.View())
		if err != nil {
			return nil, false, err
		}
		v, err := fn(ctx, a, b, c)
		return v, true, err
	})
}

// Sink is a node that passes a field out of the graph: its function writes a file or
// calls a service. It takes the options of all nodes.
func Sink[T any](id string, in Field[T], fn func(context.Context, T) error, options ...Option) Part {
	n := newNode("Sink", id, options)
	n.view, n.effects = Fields(in), new(true)
	return n.setFunc(fn == nil, func(ctx context.Context, i core.Input) (core.Result, error) {
		v, err := in.read(i.View())
		if err != nil {
			return core.Result{}, err
		}
		return core.Result{}, fn(ctx, v)
	})
}

// Do is a node without fields, which other parts can follow. It takes the options of
// all nodes.
func Do(id string, fn func(context.Context) error, options ...Option) Part {
	n := newNode("Do", id, options)
	n.effects = new(true)
	return n.setFunc(fn == nil, func(ctx context.Context, _ core.Input) (core.Result, error) {
		return core.Result{}, fn(ctx)
	})
}

// Each is a fan-out: its function computes one result for each element of in, and the
// results are added to out in the order of the elements. out must accumulate writes
// (Append, Union or a reducer). A failed element adds nothing, and fails the node at
// the end; MaxFailures limits the number of failures. It takes the options of all
// nodes, Limit and MaxFailures.
func Each[A, B any](id string, in Field[[]A], out Field[[]B], fn func(context.Context, A) (B, error), options ...Option) Part {
	n := newNode("Each", id, options)
	one := itemOf[A](in)
	return n.fanOut(in).setOutput(out).setValueFunc(fn == nil, out, func(ctx context.Context, i core.Input) (any, bool, error) {
		a, err := one.item(i)
		if err != nil {
			return nil, false, err
		}
		b, err := fn(ctx, a)
		return []B{b}, true, err
	}).setItems(reflect.TypeFor[[]B](), func(list any, n int) items.Range {
		return newItemRange(one, list, n, func(ctx context.Context, a A) (B, bool, error) {
			b, err := fn(ctx, a)
			return b, true, err
		})
	})
}

// Expand is Each for a function that returns any number of results for an element,
// including none. It can filter and flatten.
func Expand[A, B any](id string, in Field[[]A], out Field[[]B], fn func(context.Context, A) ([]B, error), options ...Option) Part {
	n := newNode("Expand", id, options)
	one := itemOf[A](in)
	return n.fanOut(in).setOutput(out).setValueFunc(fn == nil, out, func(ctx context.Context, i core.Input) (any, bool, error) {
		a, err := one.item(i)
		if err != nil {
			return nil, false, err
		}
		b, err := fn(ctx, a)
		return b, len(b) > 0, err
	}).setItems(reflect.TypeFor[[][]B](), func(list any, n int) items.Range {
		return newItemRange(one, list, n, func(ctx context.Context, a A) ([]B, bool, error) {
			b, err := fn(ctx, a)
			return b, len(b) > 0, err
		})
	})
}

// itemRange is the items.Range of Each and Expand.
type itemRange[A, V any] struct {
	of     element[A]
	list   []any // the items, unless typed is not nil
	typed  []A
	values []V
	fn     func(context.Context, A) (V, bool, error)
}

func newItemRange[A, V any](of element[A], list any, n int, fn func(context.Context, A) (V, bool, error)) *itemRange[A, V] {
	r := &itemRange[A, V]{of: of, values: make([]V, n), fn: fn}
	switch list := list.(type) {
	case []A:
		r.typed = list
	case []any:
		r.list = list
	}
	return r
}

// Values returns the list of the values.
func (r *itemRange[A, V]) Values() any { return r.values }

// Handle calls the function for an item.
func (r *itemRange[A, V]) Handle(ctx context.Context, item, at int) (bool, error) {
	a, err := r.item(item)
	if err != nil {
		return false, err
	}
	v, ok, err := r.fn(ctx, a)
	if ok {
		r.values[at] = v
	}
	return ok, err
}

// item returns an item that belongs to the caller.
func (r *itemRange[A, V]) item(i int) (A, error) {
	if r.typed == nil {
		return r.of.convert(r.list[i])
	}
	if s := r.of.s; s.shared && !s.plain || s.codec.Flat() {
		return r.typed[i], nil
	}
	return r.of.convert(r.typed[i])
}

// ForEach is Each for a function without a result, such as one that writes each element
// to a service.
func ForEach[A any](id string, in Field[[]A], fn func(context.Context, A) error, options ...Option) Part {
	n := newNode("ForEach", id, options)
	n.effects = new(true)
	one := itemOf[A](in)
	return n.fanOut(in).setFunc(fn == nil, func(ctx context.Context, i core.Input) (core.Result, error) {
		a, err := one.item(i)
		if err != nil {
			return core.Result{}, err
		}
		return core.Result{}, fn(ctx, a)
	}).setItems(nil, func(list any, n int) items.Range {
		return newItemRange(one, list, 0, func(ctx context.Context, a A) (struct{}, bool, error) {
			return struct{}{}, false, fn(ctx, a)
		})
	})
}

// writeResult returns the result of a node that writes one field.
func writeResult[T any](out Field[T], v T, err error) (core.Result, error) {
	if err != nil {
		return core.Result{}, err
	}
	return core.Write(out.s.decl.Name.Value, v), nil
}

// element reads the items of a fan-out or pipeline. An item that already has the
// field's type is used without conversion from JSON.
type element[A any] struct{ Field[A] }

func itemOf[A any](list Field[[]A]) element[A] {
	of := newSpec[A]("$item")
	if list.s != nil {
		of.shared = list.s.shared
	}
	return element[A]{Field[A]{of}}
}

func (e element[A]) item(in core.Input) (A, error) {
	item, place := in.Element()
	if place == 0 {
		var zero A
		return zero, inputError("the function takes one item at a time, and there is none")
	}
	return e.convert(item)
}

// convert returns an item that belongs to the caller.
func (e element[A]) convert(item any) (A, error) {
	x, err := e.from(item)
	if err != nil {
		return x, inputError("%w", err)
	}
	return x, nil
}
