package wavefold

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/items"
	"github.com/wavefold/wavefold/internal/timelimit"
)

// Part is an element of a graph made by New: a node, a pipeline, a loop, a
// sub-workflow, or a setting of the graph. A Part is immutable and may be used in
// several graphs.
type Part interface{ addTo(b *builder) }

// node is a part that becomes one node.
type node struct {
	settings
	id          source.Text
	constructor string // for messages

	kind   string
	config *source.Value // in addition to the function's name
	run    *adapter      // nil for a kind without a function
	// view lists the fields that the function sees. needs lists other fields that the
	// node reads.
	view, needs, writes []AnyField
	source              source.Text // array of a fan-out
	isFanOut            bool
	lost                source.Lost // keys of the fan-out with findings
	args                *source.Value
	sub                 *Graph
	findings            source.Diagnostics
}

var _ Part = (*node)(nil)

func (n *node) addTo(b *builder) { b.node(n, b.vertex()) }

// newNode returns a node with its options applied.
func newNode(what, id string, options []Option) *node {
	n := &node{constructor: what, id: source.At(id, here()), kind: "tool"}
	n.settings.apply(options)
	return n
}

// setFunc sets the function of the node. isNil reports whether the user passed nil.
func (n *node) setFunc(isNil bool, f core.HandlerFunc) *node {
	if isNil {
		n.findings.Errorf(source.CodeMissingKey, n.id.Pos, "node %s: %s has no function", n.id.Value, n.constructor)
	}
	n.run = &adapter{HandlerFunc: f}
	return n
}

// setValueFunc sets a function whose result is written to a field.
func (n *node) setValueFunc(isNil bool, out AnyField, f valueFunc) *node {
	s := specOf(out)
	if s == nil {
		return n.setFunc(isNil, nil) // a finding reports that the field is missing
	}
	field := s.decl.Name.Value
	n.setFunc(isNil, func(ctx context.Context, in core.Input) (core.Result, error) {
		v, ok, err := f(ctx, in)
		if err != nil || !ok {
			return core.Result{}, err
		}
		return core.Write(field, v), nil
	})
	n.run.value, n.run.field = f, field
	return n
}

// setItems lets the scheduler call the function of a fan-out through an items.Range. values is the
// type of the list in which a range stores its values, or nil if there are none.
func (n *node) setItems(values reflect.Type, r func(list any, n int) items.Range) *node {
	n.run.itemValues, n.run.itemRange = values, r
	return n
}

// valueFunc returns a value to write; ok is false if there is none.
type valueFunc func(ctx context.Context, in core.Input) (v any, ok bool, err error)

func (n *node) fanOut(items AnyField) *node {
	n.isFanOut, n.needs = true, append(n.needs, items)
	if s := specOf(items); s != nil {
		n.source = source.At("$."+s.decl.Name.Value, n.id.Pos)
	}
	return n
}

// setOutput checks that a field can merge the results of the items one by one.
func (n *node) setOutput(out AnyField) *node {
	n.writes = append(n.writes, out)
	s := specOf(out)
	if s == nil || s.decl.Reduce != nil {
		return n
	}
	switch Strategy(s.decl.Merge.Value) {
	case Append, Union, Count:
	default:
		n.lost = source.Lost{"collect"}
		n.findings.Errorf(source.CodeMergeType, n.id.Pos, "node %s: each item adds to field %q, but the field keeps one write only", n.id.Value, s.decl.Name.Value).
			WithHint("declare it with wavefold.Append or wavefold.Union (%s)", s.decl.Pos)
	}
	return n
}

// adapter is the handler of a part with a typed function. If it is registered under a
// name, documents can use it, too; Bind then checks that they provide what the function
// needs.
type adapter struct {
	core.HandlerFunc
	reads, writes []*spec
	isFanOut      bool

	value valueFunc // the function that HandlerFunc wraps, or nil if there is none
	field string    // the field that value is written to

	itemValues reflect.Type                      // of the values of an itemRange, or nil if there are none
	itemRange  func(list any, n int) items.Range // nil unless set by setItems

	readsFrom string // the field it reads as a stream, or "" if there is none
	writesTo  string // the field it makes as a stream, or "" if there is none
	open      func(ctx context.Context, in core.Input) (core.Stream, error)
}

var (
	_ core.Binder       = (*adapter)(nil)
	_ core.StreamUser   = (*adapter)(nil)
	_ core.StreamSource = (*adapter)(nil)
	_ core.ValueHandler = (*adapter)(nil)
	_ items.Handler     = (*adapter)(nil)
)

// ValueField returns the field that the value is written to.
func (a *adapter) ValueField() string { return a.field }

// HandleValue calls the function.
func (a *adapter) HandleValue(ctx context.Context, in core.Input) (any, bool, error) {
	return a.value(ctx, in)
}

// ItemValues returns the type of the values of Range.
func (a *adapter) ItemValues() (reflect.Type, bool) { return a.itemValues, a.itemRange != nil }

// Range returns the function as an items.Range.
func (a *adapter) Range(list any, n int) items.Range { return a.itemRange(list, n) }

// StreamFields returns the streams of the part.
func (a *adapter) StreamFields() (made string, taken []string) {
	if a.readsFrom != "" {
		taken = []string{a.readsFrom}
	}
	return a.writesTo, taken
}

// Open opens the stream that the part makes.
func (a *adapter) Open(ctx context.Context, in core.Input, _ *value.Object) (core.Stream, error) {
	return a.open(ctx, in)
}

// Bind checks that a document's node provides the fields and items that the function
// needs.
func (a *adapter) Bind(n *core.Node, env core.Env) (core.Handler, source.Diagnostics) {
	var ds source.Diagnostics
	subject := n.Subject()
	a.check(&ds, n, env, subject, "reads", n.Reads, a.reads)
	a.check(&ds, n, env, subject, "writes", n.Writes, a.writes)
	if a.isFanOut && n.ForEach == nil {
		ds.Errorf(source.CodeMissingKey, n.Pos, "%s: the function takes one item at a time, and for_each is missing", subject)
	}
	return a, ds
}

func (a *adapter) check(ds *source.Diagnostics, n *core.Node, env core.Env, subject, key string, have []source.Text, want []*spec) {
	for _, s := range want {
		name := s.decl.Name.Value
		i := slices.IndexFunc(have, func(t source.Text) bool { return t.Value == name })
		if i < 0 {
			ds.Errorf(source.CodeUnknownField, n.Pos, "%s: %s: the function %s field %q", subject, key, key, name).WithHint("add it: %s: [%s]", key, name)
			continue
		}
		if env.Schema == nil {
			continue
		}
		t, ok := env.Schema.FieldType(name)
		if !ok {
			continue
		}
		if key == "writes" && env.WriteType != nil {
			t = env.WriteType(name)
		}
		switch at, declared, goes := typeMismatch("", t, s.decl.Type); {
		case declared == goes:
		case at == "":
			ds.Errorf(source.CodeWrongType, have[i].Pos, "%s: %s: field %q is of type %s, but the function's type is %s", subject, key, name, declared, s.typ)
		default:
			ds.Errorf(source.CodeWrongType, have[i].Pos, "%s: %s: field %q: %s is of type %s, but the function's type %s takes %s there", subject, key, name, at, declared, s.typ, goes)
		}
	}
}

// typeMismatch finds the first member in which no value of one declared type can also
// be of the other. It returns the member with its two types, which are equal if there
// is no such member.
func typeMismatch(at string, a, b *value.Type) (place string, inA, inB value.TypeKind) {
	number := func(t *value.Type) bool { return t.Kind == value.NumberType || t.Kind == value.IntegerType }
	switch {
	case a == nil || b == nil || a.Kind == value.AnyType || b.Kind == value.AnyType || number(a) && number(b):
		return "", value.AnyType, value.AnyType
	case a.Kind != b.Kind:
		return at, a.Kind, b.Kind
	case a.Kind == value.ArrayType:
		return typeMismatch(at+"[]", a.Items, b.Items)
	}
	for _, p := range a.Properties {
		if t, ok := b.Property(p.Name); ok {
			if place, inA, inB := typeMismatch(strings.TrimPrefix(at+"."+p.Name, "."), p.Type, t); inA != inB {
				return place, inA, inB
			}
		}
	}
	return "", value.AnyType, value.AnyType
}

// Func is an untyped node with any number of fields. Its function sees the fields of
// reads in its input, may write the fields of writes, and may send any value to its
// direct successors. It takes the options of all nodes, and Args, Items, Limit,
// MaxFailures and Collect.
func Func(id string, reads, writes []AnyField, fn func(context.Context, core.Input) (core.Result, error), options ...Option) Part {
	n := newNode("Func", id, options)
	n.view, n.writes = reads, writes
	n.applyUntyped()
	return n.setFunc(fn == nil, fn)
}

// Node is a node of a kind, such as "command", with the same configuration as in a
// document. The graph's engine must have the kind (Using). It takes the options of all
// nodes, and Reads, Writes, Args, Items, Limit, MaxFailures and Collect.
func Node(id, kind string, config map[string]any, options ...Option) Part {
	n := newNode("Node", id, options)
	n.kind, n.view, n.writes = kind, n.settings.reads, n.settings.writes
	n.config = n.tree(config, "config")
	n.applyUntyped()
	return n
}

// applyUntyped applies the options for untyped items and arguments.
func (n *node) applyUntyped() {
	n.args = n.tree(n.settings.args, "args")
	if n.source = n.items; n.source.Value != "" {
		n.isFanOut = true
	}
}

// tree converts a map to a positioned tree with sorted keys.
func (n *node) tree(m map[string]any, what string) *source.Value {
	if len(m) == 0 {
		return nil
	}
	o := value.NewObject(len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		c, err := timelimit.Canonical(m[key])
		if err != nil {
			n.findings.Errorf(source.CodeBadValue, n.id.Pos, "node %s: %s: %q: %v", n.id.Value, what, key, err)
			return nil
		}
		o.Set(key, c)
	}
	return source.Tree(o, n.id.Pos)
}

// extraOptions lists the options that each constructor takes in addition to the options
// of all nodes.
var extraOptions = map[string][]string{
	"Each": {"Limit", "MaxFailures"}, "Expand": {"Limit", "MaxFailures"}, "ForEach": {"Limit", "MaxFailures"},
	"Func":     {"Limit", "MaxFailures", "Collect", "Args", "Items"},
	"Node":     {"Limit", "MaxFailures", "Collect", "Args", "Items", "Reads", "Writes"},
	"Sub":      {"Limit", "MaxFailures", "In", "Out", "OutEach", "Over", "Is"},
	"Pipeline": {"Limit"}, "StreamPipeline": {"Limit", "Flush"},
	"Loop":     {"Until", "MaxIters", "FailExhausted"},
	"Parallel": {"AnyOf", "KOfN", "Quorum", "Limit", "BranchErrors"},
}

var edgeOptions = map[string]bool{"When": true, "Else": true, "On": true, "Handles": true}

// nodeOptions are the options of all nodes. makerOptions are the options of nodes that
// make a stream, whose work is done by the node that reads it. unitOptions are the
// options of pipelines and loops, and memberOptions the options of the nodes in them.
var (
	nodeOptions   = []string{"After", "From", "When", "Else", "On", "Handles", "AllDone", "AnyOf", "KOfN", "Quorum", "Race", "Retry", "RetryPreset", "RetryTransient", "AllowPartial", "AutoStatus", "Timeout", "OnError", "Priority", "Phase", "Describe", "Effects", "Version", "PauseBefore", "PauseAfter", "Cached", "CacheKey"}
	makerOptions  = []string{"After", "From", "When", "Else", "On", "Handles", "AllDone", "AnyOf", "KOfN", "Quorum", "Race", "Phase", "Describe"}
	unitOptions   = []string{"After", "From", "When", "Else", "On", "Handles", "OnError", "Phase"}
	memberOptions = []string{"After", "From", "Retry", "RetryPreset", "RetryTransient", "AllowPartial", "AutoStatus", "Timeout", "OnError", "Priority", "Phase", "Describe", "Effects", "Version", "PauseBefore", "PauseAfter", "Cached", "CacheKey"}
)

// subject is what a finding is about. It is formatted only if there is a finding.
type subject struct{ what, id string }

func (s subject) String() string {
	if s.id == "" {
		return s.what
	}
	return s.what + " " + s.id
}

// checkOptions reports options that the part does not take.
func checkOptions(ds *source.Diagnostics, of subject, what string, used []setting, general []string) {
	for _, u := range used {
		if !slices.Contains(general, u.name) && !slices.Contains(extraOptions[what], u.name) {
			ds.Errorf(source.CodeUnknownKey, u.pos, "%s: option %s means nothing to %s here", of, u.name, what).
				WithHint("%s", optionHint(u.name, general))
		}
	}
}

// optionHint says which parts take an option that a part with the general options does
// not take.
func optionHint(name string, general []string) string {
	if slices.Equal(general, makerOptions) && slices.Contains(nodeOptions, name) {
		return "the rows are made while the part at the end of the streams runs: give it to that one"
	}
	var out []string
	for _, what := range []string{"Each", "Expand", "ForEach", "Func", "Node", "Sub", "Pipeline", "StreamPipeline", "Loop"} {
		if slices.Contains(extraOptions[what], name) {
			out = append(out, what)
		}
	}
	if len(out) == 0 {
		return walkOptionHint(name, walkNodeOptions)
	}
	return fmt.Sprintf("it is for %v", out)
}

// inputError returns a permanent error about the input of a function: another attempt
// would get the same input.
func inputError(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &core.Failure{Class: core.ClassInput, Permanent: true, Message: err.Error(), Cause: err}
}
