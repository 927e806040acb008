package wavefold

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/gotype"
)

// unit is a part that becomes a pipeline or a loop.
type unit struct {
	settings
	id          source.Text
	constructor string
	members     []Part
	items       AnyField // rows of a pipeline
	batch       *source.Int
	findings    source.Diagnostics
}

var _ Part = (*unit)(nil)

func newUnit(what, id string, options []Option) *unit {
	u := &unit{constructor: what, id: source.At(id, here())}
	u.settings.apply(options)
	return u
}

// Body is the list of parts that a Loop repeats, in order.
type Body []Part

// Loop repeats its body until a condition is true or a number of rounds is reached.
// Each round sees the writes of the previous one. The body's parts are nodes. In
// addition to Until, MaxIters and FailExhausted it takes After, From, When, Else, On,
// OnError and Phase.
func Loop(id string, body Body, options ...Option) Part {
	u := newUnit("Loop", id, options)
	u.members = body
	return u
}

// Stages is a sequence of pipeline stages that converts an A to a B.
type Stages[A, B any] struct{ nodes []*stage }

// stage is one stage and its function.
type stage struct {
	*node
	into string // the field that gets the results, or "" if there is none
	// make returns the handler for a position in a pipeline.
	make func(at stagePosition) core.HandlerFunc
}

// stagePosition is the position of a stage: the stage before it ("" if there is none),
// the field that it writes ("" if there is none), and whether it is the last stage.
type stagePosition struct {
	before, into string
	last         bool
}

// Stage is one stage of a pipeline. Its function gets the result of the previous stage;
// in the first stage, an element of the pipeline's items. Values are passed between
// stages as JSON. It takes Retry, Timeout, OnError, Priority, Phase, Describe, Effects
// and After.
func Stage[A, B any](id string, fn func(context.Context, A) (B, error), options ...Option) Stages[A, B] {
	n := newNode("Stage", id, options).setFunc(fn == nil, nil)
	in, out := Field[A]{newSpec[A]("$item")}, gotype.New(reflect.TypeFor[B]())
	return Stages[A, B]{[]*stage{{node: n, make: func(at stagePosition) core.HandlerFunc {
		return func(ctx context.Context, i core.Input) (core.Result, error) {
			a, err := stageInput(in, i, at.before)
			if err != nil {
				return core.Result{}, err
			}
			b, err := fn(ctx, a)
			if err != nil {
				return core.Result{}, err
			}
			var r core.Result
			if at.into != "" {
				r = core.Write(at.into, []B{b})
			}
			if at.last && at.into != "" {
				return r, nil // no later stage needs the result
			}
			r.HasEdgeOutput = true
			if r.EdgeOutput, err = out.Encode(reflect.ValueOf(&b).Elem()); err != nil {
				return r, fmt.Errorf("the result: %w", err)
			}
			return r, nil
		}
	}}}}
}

// stageInput returns the input of a stage: the item in the first stage, otherwise the
// output of the previous stage.
func stageInput[A any](in Field[A], i core.Input, before string) (A, error) {
	if before == "" {
		return element[A]{in}.item(i)
	}
	v, ok := i.Shared().Edges.Get(before)
	if !ok {
		var zero A
		return zero, inputError("stage %s sent nothing", before)
	}
	a, err := in.from(v)
	if err != nil {
		return a, inputError("from stage %s: %w", before, err)
	}
	return a, nil
}

// Into adds the results of the last stage to a field, row by row. The field must
// accumulate writes, like the output field of Each.
func (s Stages[A, B]) Into(out Field[[]B]) Stages[A, B] {
	last := len(s.nodes) - 1
	if last < 0 {
		return s // a pipeline without stages is reported elsewhere
	}
	st, n := *s.nodes[last], *s.nodes[last].node
	n.findings, n.writes = slices.Clone(n.findings), nil
	st.node, st.into = n.setOutput(out), out.Name()
	nodes := slices.Clone(s.nodes)
	nodes[last] = &st
	return Stages[A, B]{nodes}
}

// Pipe appends stages to others. Nest it for more: Pipe(a, Pipe(b, c)).
func Pipe[A, B, C any](first Stages[A, B], then Stages[B, C]) Stages[A, C] {
	return Stages[A, C]{slices.Concat(first.nodes, then.nodes)}
}

// Pipeline passes the elements of a field through stages, one at a time or, with Limit,
// several at a time; the result is the same. A row that fails at a stage stops there,
// the other rows continue, and the pipeline fails at the end. It takes Limit, After,
// From, When, Else, On, OnError and Phase.
func Pipeline[A, B any](id string, items Field[[]A], stages Stages[A, B], options ...Option) Part {
	u := newUnit("Pipeline", id, options)
	u.items = items
	u.addStages(stages.nodes)
	return u
}

// addStages makes stages the members of a pipeline.
func (u *unit) addStages(stages []*stage) {
	before := ""
	for i, st := range stages {
		n := *st.node
		n.run = &adapter{HandlerFunc: st.make(stagePosition{before: before, into: st.into, last: i == len(stages)-1})}
		before = n.id.Value
		u.members = append(u.members, &n)
	}
}

// StreamPipeline is Pipeline for the rows of a stream, which the stages process in
// batches of size rows; the last batch may be smaller. Use it for work that is cheaper
// for many rows at once. While batches are in flight, at most one more batch is read
// ahead. Rows are passed as JSON, and each stage owns its batch. With Flush a batch
// need not wait for its last row. It takes Flush and the options of Pipeline.
func StreamPipeline[A, B any](id string, in Stream[A], size int, stages Stages[[]A, B], options ...Option) Part {
	u := newUnit("StreamPipeline", id, options)
	u.items, u.batch = in, new(source.At(size, u.id.Pos))
	u.addStages(stages.nodes)
	return u
}

func (u *unit) addTo(b *builder) {
	vertex := b.vertex()
	b.units[vertex] = u
	var ids []source.Text
	for _, p := range u.members {
		n, ok := p.(*node)
		if !ok {
			b.ds.Errorf(source.CodeUnitOverlap, u.id.Pos, "%s %s: its parts must be nodes, not %T", u.constructor, u.id.Value, p)
			continue
		}
		ids = append(ids, n.id)
		b.member(n, vertex, u)
	}
	b.ds = append(b.ds, u.findings...)
	of := subject{"pipeline", u.id.Value}
	if u.constructor == "Loop" {
		of.what = "loop"
		b.w.Loops = append(b.w.Loops, &core.Loop{ID: u.id, Body: ids, BodyIsList: len(ids) != 1, Until: u.until, MaxIters: u.maxIters,
			OnExhausted: u.exhausted(), Phase: u.phase, OnError: u.onError(), Pos: u.id.Pos})
	} else {
		b.field(u.items, of)
		p := &core.Pipeline{ID: u.id, Stages: ids, Concurrency: u.limit, Batch: u.batch, Flush: u.flush, Phase: u.phase, OnError: u.onError(), Pos: u.id.Pos}
		if s := specOf(u.items); s != nil {
			p.Items = source.At("$."+s.decl.Name.Value, u.id.Pos)
		}
		b.w.Pipelines = append(b.w.Pipelines, p)
	}
	b.phase(u.phase)
	checkOptions(&b.ds, of, u.constructor, u.applied, unitOptions)
}

func (u *unit) exhausted() source.Text {
	if u.failExhausted {
		return source.At("fail", u.id.Pos)
	}
	return source.Text{}
}
