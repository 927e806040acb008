package schedulertest

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// join returns the join of a unit, which one of its members declares. It is nil if the unit
// needs all of its predecessors.
func (u *unit) join() *core.Join {
	for _, n := range u.members {
		switch n.Join.Word() {
		case core.JoinAny, core.JoinKOfN, core.JoinQuorum:
			return n.Join
		}
	}
	return nil
}

// need returns how many of n predecessors a join needs.
func need(j *core.Join, n int) int {
	switch j.Word() {
	case core.JoinAny, core.JoinFirstSuccess:
		return 1
	case core.JoinKOfN:
		return j.Count.Value
	case core.JoinQuorum:
		// In decimal, as written: 0.28 of 25 is 7.
		f, _ := new(big.Rat).SetString(fmt.Sprint(j.Fraction.Value))
		f.Mul(f, big.NewRat(int64(n), 1))
		up := new(big.Int).Add(f.Num(), new(big.Int).Sub(f.Denom(), big.NewInt(1)))
		return int(up.Div(up, f.Denom()).Int64())
	}
	return 0 // wait_all
}

// predecessors returns the predecessors of a unit, each once, in canonical order: by level,
// then by declaration.
func (o *oracle) predecessors(u *unit) []*unit {
	var list []*unit
	for _, e := range u.in {
		if from := o.of[e.From.Value]; !slices.Contains(list, from) {
			list = append(list, from)
		}
	}
	slices.SortFunc(list, func(a, b *unit) int {
		return cmp.Or(a.level-b.level, slices.Index(o.units, a)-slices.Index(o.units, b))
	})
	return list
}

// decideJoin is decide for a unit that needs only some of its predecessors: the join takes
// the first predecessors with a live edge. All predecessors are resolved at this point; the
// remaining ones do not matter.
func (o *oracle) decideJoin(u *unit, j *core.Join) (Skip, string) {
	u.took = []*core.Edge{}
	list := o.predecessors(u)
	missing := need(j, len(list))
	chosen := o.choices.Won[o.path+u.id]
	says := false
	for _, p := range list {
		if missing == 0 {
			break
		}
		worth := false
		for _, e := range u.in {
			if o.of[e.From.Value] != p || j.Race && chosen != nil && !slices.Contains(chosen, e.From.Value) {
				continue
			}
			v := o.effect(e, u)
			says = says || v != neutral
			if v == live {
				u.took = append(u.took, e)
				worth = true
			}
		}
		if worth {
			missing--
		}
	}
	if missing == 0 {
		return "", ""
	}
	u.took = nil
	for _, e := range u.in {
		if o.propagatesFailure(e) {
			return SkipFailure, o.origin(e)
		}
	}
	if len(u.in) > 0 && !says {
		return SkipAll, o.origin(u.in[0])
	}
	return SkipJoin, ""
}

// takes reports whether the output of an edge reaches its target.
func (o *oracle) takes(e *core.Edge) bool {
	u := o.of[e.To.Value]
	return u.join() == nil || slices.Contains(u.took, e)
}

// handledBefore marks the failures that a unit handled before it lost a race.
func (o *oracle) handledBefore(u *unit) {
	for _, e := range u.in {
		if source := o.of[e.From.Value]; o.choices.Handled[[2]string{o.path + source.id, e.To.Value}] {
			source.handled = true
		}
	}
}
