package wavefold

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/gotype"
)

// AddTool registers a Go function under the name that `impl:` uses in documents. It
// returns an error if the name is taken. fn is a core.Handler, a function of the form
//
//	func(context.Context, core.Input) (core.Result, error)
//
// or a typed function of the form
//
//	func(ctx context.Context, in In) (Out, error)
//
// of which the context, In, Out and the error are each optional.
//
// In is filled from the node's args: a struct or map takes all of them by their JSON
// names, any other type the value of the only argument. A node of a fan-out or pipeline
// without args gets its item. Out is written to the field that the node declares in
// `writes`. If there are several, each gets the member of its name; if there are none,
// Out is sent along the edges. In may also be core.Input, which is the whole input of
// the node, and Out may be core.Result, which sets the status of the node and the next
// node of a walk. Values are passed as JSON, with exact 64-bit integers, so a function
// cannot change what another one sees. An argument that In does not have is an error
// when the document is compiled.
func (e *Engine) AddTool(name string, fn any) error {
	if name == "" {
		return fmt.Errorf("a tool needs a name")
	}
	h, err := handlerOf(fn)
	if err != nil {
		return fmt.Errorf("tool %q: %w", name, err)
	}
	return e.reg.AddTool(name, h)
}

func handlerOf(fn any) (core.Handler, error) {
	switch fn := fn.(type) {
	case core.Handler:
		return fn, nil
	case func(context.Context, core.Input) (core.Result, error):
		if fn == nil {
			return nil, fmt.Errorf("the function is nil")
		}
		return core.HandlerFunc(fn), nil
	}
	return typedTool(fn)
}

// function is a tool made of a typed Go function.
type function struct {
	call          reflect.Value
	ctx           bool
	input         bool          // In is core.Input
	in            reflect.Type  // any other In, or nil if there is none
	codec         *gotype.Codec // of in
	returnsResult bool          // Out is core.Result
	out           *gotype.Codec // of any other Out, or nil if there is none
	err           bool
	writes        []string // of the node it is bound to
	isBound       bool
}

var (
	_ core.Binder    = (*function)(nil)
	_ core.Described = (*function)(nil)
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
	inputType   = reflect.TypeFor[core.Input]()
	resultType  = reflect.TypeFor[core.Result]()
)

// typedTool inspects the signature of a function.
func typedTool(fn any) (core.Handler, error) {
	wrong := fmt.Errorf("want a function such as func(context.Context, In) (Out, error), got %T", fn)
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.Type().IsVariadic() {
		return nil, wrong
	}
	if v.IsNil() {
		return nil, fmt.Errorf("the function is nil")
	}
	t, f := v.Type(), &function{call: v}
	params, results := make([]reflect.Type, t.NumIn()), make([]reflect.Type, t.NumOut())
	for i := range params {
		params[i] = t.In(i)
	}
	for i := range results {
		results[i] = t.Out(i)
	}
	if len(params) > 0 && params[0] == contextType {
		f.ctx, params = true, params[1:]
	}
	for _, t := range slices.Concat(params, results) {
		if t.Kind() == reflect.Pointer && (t.Elem() == inputType || t.Elem() == resultType) {
			return nil, fmt.Errorf("want %s, got %s", t.Elem(), t)
		}
	}
	switch {
	case len(params) == 0:
	case params[0] == inputType:
		f.input, params = true, params[1:]
	default:
		f.in, f.codec, params = params[0], gotype.New(params[0]), params[1:]
		if f.codec.Err != nil {
			return nil, f.codec.Err
		}
	}
	if n := len(results); n > 0 && results[n-1] == errorType {
		f.err, results = true, results[:n-1]
	}
	switch {
	case len(results) == 0:
	case results[0] == resultType:
		f.returnsResult, results = true, results[1:]
	default:
		if f.out = gotype.New(results[0]); f.out.Err != nil {
			return nil, f.out.Err
		}
		results = results[1:]
	}
	if len(params) > 0 || len(results) > 0 {
		return nil, wrong
	}
	return f, nil
}

// Bind checks the node's args against In and stores what the node writes.
func (f *function) Bind(n *core.Node, _ core.Env) (core.Handler, source.Diagnostics) {
	bound := *f
	bound.isBound, bound.writes = true, source.Strings(n.Writes)
	subject := n.Subject()
	ds := f.checkArgs(n, subject)
	if len(bound.writes) > 0 && f.out == nil && !f.returnsResult {
		ds.Warnf(source.CodeUnused, n.Writes[0].Pos, "%s: writes: the function returns nothing that could be written", subject)
	}
	return &bound, ds
}

// Arguments returns the type of In, for models that may call the function.
func (f *function) Arguments() *value.Type {
	switch {
	case f.input:
		return nil
	case f.in == nil:
		return &value.Type{Kind: value.ObjectType}
	case !gotype.TakesObject(f.in):
		return &value.Type{Kind: value.ObjectType, Properties: []value.Property{{Name: "value", Type: gotype.Of(f.in)}}, Required: []string{"value"}}
	}
	return gotype.Of(f.in)
}

func (f *function) checkArgs(n *core.Node, subject string) source.Diagnostics {
	var ds source.Diagnostics
	var keys []source.Text
	if n.Args != nil {
		keys = n.Args.Keys
	}
	switch {
	case len(keys) == 0, f.input:
	case f.in == nil:
		ds.Errorf(source.CodeUnknownKey, keys[0].Pos, "%s: args: the function takes no arguments", subject)
	case !gotype.TakesObject(f.in):
		if len(keys) > 1 {
			ds.Errorf(source.CodeUnknownKey, keys[1].Pos, "%s: args: the function takes one argument of type %s", subject, f.in)
		}
	default:
		known, open := gotype.Names(f.in)
		for _, k := range keys {
			if !open && !slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(name, k.Value) }) {
				ds.Errorf(source.CodeUnknownKey, k.Pos, "%s: args: unknown key %q", subject, k.Value).
					WithHint("%s", source.UnknownKeyHint(k.Value, known))
			}
		}
	}
	return ds
}

// Handle calls the function.
func (f *function) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	var params []reflect.Value
	if f.ctx {
		params = append(params, reflect.ValueOf(ctx))
	}
	switch {
	case f.input:
		params = append(params, reflect.ValueOf(in))
	case f.in != nil:
		v := reflect.New(f.in).Elem()
		if err := f.fill(v, in.Shared()); err != nil {
			return core.Result{}, err
		}
		params = append(params, v)
	}
	results := f.call.Call(params)
	if f.err {
		if err, _ := results[len(results)-1].Interface().(error); err != nil {
			return core.Result{}, err
		}
	}
	if f.returnsResult {
		return results[0].Interface().(core.Result), nil
	}
	if f.out == nil {
		return core.Result{}, nil
	}
	out, err := f.out.Encode(results[0])
	if err != nil {
		return core.Result{}, fmt.Errorf("the result: %w", err)
	}
	return f.result(out)
}

// fill decodes the args, or else the item, into In.
func (f *function) fill(in reflect.Value, s core.Shared) error {
	args := s.Args
	what, v := "args", any(args)
	switch {
	case args.Len() == 0 && s.Index > 0:
		what, v = "$item", s.Item
	case args.Len() == 0:
		return nil
	case !gotype.TakesObject(f.in):
		what, v = args.At(0)
	}
	if err := f.codec.Decode(in, v); err != nil {
		return inputError("%s: %w", what, err)
	}
	return nil
}

// result returns Out as the declared writes, or as the edge output.
func (f *function) result(out any) (core.Result, error) {
	switch len(f.writes) {
	case 0:
		return core.Send(out), nil
	case 1:
		return core.Write(f.writes[0], out), nil
	}
	o, ok := out.(*value.Object)
	if !ok {
		return core.Result{}, fmt.Errorf("the node writes %s, so the function must return an object with these members, not %s",
			strings.Join(f.writes, ", "), value.TypeName(out))
	}
	r := core.Result{Delta: make(map[string]any, o.Len())}
	for k, v := range o.All() {
		r.Delta[k] = v
	}
	return r, nil
}
