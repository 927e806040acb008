package wavefold

import (
	"context"

	"github.com/wavefold/wavefold/core"
)

// unit is a part that becomes a pipeline or a loop.
type unit struct {
	settings
	id       core.Text
	what     string
	members  []Part
	items    AnyField // rows of a pipeline
	findings core.Diagnostics
}

var _ Part = (*unit)(nil)

func newUnit(what, id string, options []Option) *unit {
	u := &unit{what: what, id: core.At(id, here())}
	u.settings.apply(options)
	return u
}

// Body is what a Loop repeats: its parts, one after the other.
type Body []Part

// Loop repeats its body until a condition holds or a number of rounds is reached. Each
// round sees what the one before wrote. The body's parts are nodes. Beside Until,
// MaxIters and FailExhausted it takes After, From, When, Else, On, OnError and Phase.
func Loop(id string, body Body, options ...Option) Part {
	u := newUnit("Loop", id, options)
	u.members = body
	return u
}

// Stages is a row of pipeline stages that takes an A and gives a B.
type Stages[A, B any] struct{ nodes []*stage }

// stage is one stage and its function on a decoded value.
type stage struct {
	*node
	// make builds the handler for a place behind the stage with the given id, "" for
	// the first place.
	make func(before string) core.HandlerFunc
}

// Stage is one stage of a pipeline: a function that gets what the stage before it gave,
// the first one an element of the pipeline's items. What passes from stage to stage
// passes as JSON. It takes Retry, Timeout, OnError, Priority, Phase, Describe, Effects
// and After.
func Stage[A, B any](id string, fn func(context.Context, A) (B, error), options ...Option) Stages[A, B] {
	n := newNode("Stage", id, options)
	in := Field[A]{typeSpec[A]("$item")}
	n.does(fn == nil, nil)
	return Stages[A, B]{[]*stage{{n, func(before string) core.HandlerFunc {
		return func(ctx context.Context, i core.Input) (core.Result, error) {
			a, err := received(in, i, before)
			if err != nil {
				return core.Result{}, err
			}
			b, err := fn(ctx, a)
			if err != nil {
				return core.Result{}, err
			}
			return core.Send(b), nil
		}
	}}}}
}

// received is what a stage works on: the item in the first place, else what the stage
// before sent.
func received[A any](in Field[A], i core.Input, before string) (A, error) {
	if before == "" {
		return element[A]{in}.item(i)
	}
	v, ok := i.Shared().Edges.Get(before)
	if !ok {
		var zero A
		return zero, badInput("stage %s sent nothing", before)
	}
	a, err := in.from(v)
	if err != nil {
		return a, badInput("from stage %s: %w", before, err)
	}
	return a, nil
}

// Into adds what the last stage gives to a field, row after row. The field must add up
// what is written, like that of Each.
func (s Stages[A, B]) Into(out Field[[]B]) Stages[A, B] {
	last := len(s.nodes) - 1
	st := *s.nodes[last]
	n := *st.node
	n.findings = append(core.Diagnostics(nil), n.findings...)
	n.writes = nil
	n.collects(out)
	made := st.make
	st.node = &n
	st.make = func(before string) core.HandlerFunc {
		inner := made(before)
		return func(ctx context.Context, i core.Input) (core.Result, error) {
			r, err := inner(ctx, i)
			if err != nil {
				return r, err
			}
			r.Delta = map[string]any{out.s.decl.Name.Value: []B{r.EdgeOutput.(B)}}
			return r, nil
		}
	}
	nodes := append([]*stage(nil), s.nodes...)
	nodes[last] = &st
	return Stages[A, B]{nodes}
}

// Pipe puts stages behind others. Nest it for more: Pipe(a, Pipe(b, c)).
func Pipe[A, B, C any](first Stages[A, B], then Stages[B, C]) Stages[A, C] {
	nodes := append([]*stage(nil), first.nodes...)
	return Stages[A, C]{append(nodes, then.nodes...)}
}

// Pipeline runs the elements of a field through stages, one after the other or, with
// Limit, several at a time; the result is the same. A row that fails at a stage ends
// there, the others go on, and the pipeline fails in the end. It takes Limit, After,
// From, When, Else, On, OnError and Phase.
func Pipeline[A, B any](id string, items Field[[]A], stages Stages[A, B], options ...Option) Part {
	u := newUnit("Pipeline", id, options)
	u.items = items
	before := ""
	for _, st := range stages.nodes {
		n := *st.node
		n.run = &adapter{HandlerFunc: st.make(before)}
		before = n.id.Value
		u.members = append(u.members, &n)
	}
	return u
}

func (u *unit) addTo(b *builder) {
	vertex := b.vertex()
	b.units[vertex] = u
	var ids []core.Text
	for _, p := range u.members {
		n, ok := p.(*node)
		if !ok {
			b.ds.Errorf(core.CodeUnitOverlap, u.id.Pos, "%s %s: its parts must be nodes, not %T", u.what, u.id.Value, p)
			continue
		}
		ids = append(ids, n.id)
		b.member(n, vertex, u)
	}
	b.ds = append(b.ds, u.findings...)
	subject := "pipeline " + u.id.Value
	if u.what == "Loop" {
		subject = "loop " + u.id.Value
		b.w.Loops = append(b.w.Loops, &core.Loop{ID: u.id, Body: ids, BodyIsList: len(ids) != 1, Until: u.until, MaxIters: u.maxIters,
			OnExhausted: u.exhausted(), Phase: u.phase, OnError: u.onError(), Pos: u.id.Pos})
	} else {
		b.field(u.items, subject)
		p := &core.Pipeline{ID: u.id, Stages: ids, Concurrency: u.limit, Phase: u.phase, OnError: u.onError(), Pos: u.id.Pos}
		if s := u.items.field(); s != nil {
			p.Items = core.At("$."+s.decl.Name.Value, u.id.Pos)
		}
		b.w.Pipelines = append(b.w.Pipelines, p)
	}
	b.phase(u.phase)
	checkOptions(&b.ds, subject, u.what, u.used, unitOptions)
}

func (u *unit) exhausted() core.Text {
	if u.failExhausted {
		return core.At("fail", u.id.Pos)
	}
	return core.Text{}
}
