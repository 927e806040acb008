package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// behaviour is the handler of a generated node. The result of an execution is derived from
// a digest of its whole input, so a different input leads to different writes.
type behaviour struct {
	g   *Graph
	n   *Node
	rec *Recorder
}

// Handle records its input, takes some time and answers.
func (b *behaviour) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	seen := digestText(in)
	if b.g.Walk != nil {
		seen = walkSeen(in)
	}
	asks := b.n.Role == core.RoleHuman
	b.rec.enter(in, seen, asks)
	defer b.rec.leave(in, asks)
	if err := b.rec.sleep(ctx, in); err != nil {
		return core.Result{}, err
	}
	if b.g.Walk != nil {
		return b.visit(digest(b.g.Seed, in.Node(), fmt.Sprint(in.Visit()), seen), in.Attempt())
	}
	h := digest(b.g.Seed, in.Node(), seen)
	res := b.result(draw(h, "result"))
	if err := b.failure(draw(h, "failure"), in.Attempt(), &res); err != nil {
		return res, err // a failed attempt returns its writes too, which must be dropped
	}
	return res, nil
}

// digestText returns everything that the result of an execution may depend on, in one line.
// The attempt is not included: all attempts of an execution have the same input.
func digestText(in core.Input) string {
	s := in.Shared()
	var b strings.Builder
	fmt.Fprintf(&b, "view=%s edges=%s", value.JSON(s.View.Object()), sortedJSON(s.Edges))
	if s.Args.Len() > 0 {
		fmt.Fprintf(&b, " args=%s", sortedJSON(s.Args))
	}
	if i := in.Index(); i >= 0 {
		fmt.Fprintf(&b, " item[%d]=%s", i, value.JSON(s.Item))
	}
	if in.Loop() != "" {
		fmt.Fprintf(&b, " round=%s/%d", in.Loop(), in.Round())
	}
	return b.String()
}

// sortedJSON formats an object with sorted keys: the order of edge inputs and of arguments
// has no meaning.
func sortedJSON(o *value.Object) string {
	out := value.NewObject(o.Len())
	for _, k := range slices.Sorted(slices.Values(o.Keys())) {
		v, _ := o.Get(k)
		out.Set(k, v)
	}
	return value.JSON(out)
}

func digest(seed uint64, parts ...string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed)
	for _, p := range parts {
		h.Write([]byte{0})
		h.Write([]byte(p))
	}
	return mix(h.Sum64())
}

// mix is the finalizer of splitmix64: every bit of x affects every bit of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draw returns an independent number for each purpose.
func draw(h uint64, purpose string) uint64 { return digest(h, purpose) }

func chance(h uint64, percent int) bool { return int(h%100) < percent }

// delta returns the writes of an attempt.
func (b *behaviour) delta(h uint64) (delta map[string]any) {
	for _, name := range b.n.Writes {
		if chance(draw(h, "silent "+name), b.n.Silent) {
			continue
		}
		if delta == nil {
			delta = map[string]any{}
		}
		if name == b.n.Collect {
			delta[name] = elementOf(draw(h, "value "+name))
			continue
		}
		delta[name] = b.g.field(name).value(draw(h, "value "+name))
	}
	return delta
}

func (b *behaviour) result(h uint64) core.Result {
	r := core.Result{Delta: b.delta(h)}
	if chance(draw(h, "send"), b.n.Send) {
		r.EdgeOutput, r.HasEdgeOutput = sent(draw(h, "sent")), true
	}
	if chance(draw(h, "partial"), b.n.Partial) {
		r.Status = core.PartialSuccess
	}
	return r
}

// sent returns an edge output; falsy values must be delivered, too.
func sent(h uint64) any {
	switch h % 8 {
	case 0:
		return nil
	case 1:
		return false
	case 2:
		return int64(0)
	case 3:
		return ""
	default:
		return int64(h % 1000)
	}
}

// value returns a write to the field.
func (f Field) value(h uint64) any {
	n := int64(h >> 8 % 1000)
	switch f.Merge {
	case "array_append":
		return numbers(h, int(h%3))
	case "union":
		return []any{int64(h >> 8 % 5), int64(h >> 16 % 5)}
	case "sum", "cap":
		if f.Large {
			return []int64{1 << 62, 1 << 62, 1 << 62, -1 << 62}[h%4]
		}
		return int64(h>>8%5) + 1
	case "object_merge":
		return value.ObjectOf("k"+fmt.Sprint(h%3), n)
	case "set_once":
		if h%16 == 0 {
			return nil
		}
		return n
	}
	if f.Type == value.AnyType { // usually an array to iterate over, occasionally another value
		switch h % 20 {
		case 0:
			return "not a list"
		case 1:
			return nil
		}
		return numbers(h, int(h>>5%4))
	}
	return n
}

// elementOf returns a result of an item that is collected; it may be any value.
func elementOf(h uint64) any {
	switch h % 6 {
	case 0:
		return nil
	case 1:
		return numbers(h, int(h>>4%3))
	}
	return int64(h >> 8 % 6)
}

func numbers(h uint64, count int) []any {
	out := make([]any, count)
	for i := range out {
		out[i] = int64(draw(h, fmt.Sprint(i)) % 100)
	}
	return out
}

var errWanted = errors.New("wanted failure")

// failure decides whether and how this attempt fails. It may make the result invalid
// instead of returning an error.
func (b *behaviour) failure(h uint64, attempt int, r *core.Result) error {
	roll := int(h % 100)
	switch {
	case roll < b.n.Fail:
	case roll < b.n.Fail+b.n.Flaky:
		if attempt > 1+int(draw(h, "attempts")%2) {
			return nil
		}
	default:
		return nil
	}
	switch flavour := draw(h, "flavour") % 16; flavour {
	case 0:
		panic("wanted panic")
	case 1:
		return core.Permanent(errWanted)
	case 2:
		if r.Delta == nil {
			r.Delta = map[string]any{}
		}
		r.Delta["undeclared"] = int64(1)
		return nil
	case 3:
		return b.corrupt(r)
	case 4, 5, 6:
		r.Status = core.Retry // its writes count only if this was the last attempt
		return nil
	case 7:
		r.Status = core.Fail
		return nil
	case 8, 9:
		return fmt.Errorf("attempt %d: connection reset: %w", attempt, errWanted)
	default:
		return fmt.Errorf("attempt %d: %w", attempt, errWanted)
	}
}

// corrupt writes a value of the wrong type, if the node has a typed field.
func (b *behaviour) corrupt(r *core.Result) error {
	for _, name := range b.n.Writes {
		if name != b.n.Collect && b.g.field(name).Type != value.AnyType {
			if r.Delta == nil {
				r.Delta = map[string]any{}
			}
			r.Delta[name] = "a text"
			return nil
		}
	}
	return errWanted
}

// wait returns the duration of an execution: often 0, else up to 200 µs. In a walk every
// execution takes some time, because time decides joins.
func wait(timing uint64, in core.Input) time.Duration {
	h := digest(timing, in.Node(), fmt.Sprint(in.Index(), in.Round()+in.Visit(), in.Attempt()))
	switch {
	case in.Visit() > 0:
		return 1 + time.Duration(h>>8%200_000)
	case h%4 == 0:
		return 0
	}
	return time.Duration(h >> 8 % 200_000)
}
