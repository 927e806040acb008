package rehearse

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
)

// Miss is one expectation that was not met.
type Miss struct {
	Pos source.Position `json:"-"`
	// At is Pos formatted for people.
	At string `json:"at"`
	// What names the expectation, such as "nodes.save" or "state.rows[2].price".
	What string `json:"what"`
	Want string `json:"want"`
	Got  string `json:"got"`
	// Because explains the actual outcome, if an explanation is known.
	Because string `json:"because,omitempty"`
}

// Check compares a rehearsal with the expectations and returns every difference, in the
// order of the expectations; nil if all were met. A decision without an answer in the file
// is the only difference returned, because the rest of the run is unknown. So is a walk
// that does not end.
func (r *Record) Check(e *mock.Expect) []Miss {
	if len(r.unscripted) > 0 {
		return r.unscripted
	}
	if r.endless != nil {
		pos := r.file.Pos
		if e != nil {
			pos = e.Pos
		}
		return []Miss{{pos, pos.String(), "the walk", "it ends", r.endless.Error(), r.endless.advice()}}
	}
	c := &checker{rec: r}
	c.unused()
	if e == nil {
		return c.misses
	}
	if want := e.Run.Value; want != "" && want != string(r.Report.Status) {
		c.miss(e.Run.Pos, "run", want, string(r.Report.Status), c.runReason())
	}
	for _, m := range e.Nodes {
		c.node(m)
	}
	for _, m := range e.State {
		c.field(m)
	}
	for _, name := range e.Absent {
		if v, ok := r.Report.State.Get(name.Value); ok {
			c.miss(name.Pos, "absent."+name.Value, "no value", value.JSON(v), "")
		}
	}
	c.counts("runs", e.Runs, r.Runs)
	c.counts("attempts", e.Attempts, r.Attempts)
	c.order(e.Order)
	if e.Trace != nil {
		c.trace(e.Trace, e.Pos)
	}
	c.counts("peak", e.Peak, r.Peak)
	c.counts("calls", source.Members[source.Int](e.Calls), r.Calls)
	c.walk(e)
	return c.misses
}

// walk checks the expectations that apply to walks only.
func (c *checker) walk(e *mock.Expect) {
	for _, m := range e.Asked {
		question, ok := c.rec.questions[m.Key.Value]
		switch {
		case !ok:
			c.miss(m.Value.Pos, "asked."+m.Key.Value, m.Value.Value, "nobody was asked", c.rec.why(m.Key.Value))
		case !strings.Contains(question, m.Value.Value):
			c.miss(m.Value.Pos, "asked."+m.Key.Value, m.Value.Value, question, "")
		}
	}
	if e.Path != nil {
		c.path(source.Strings(e.Path), e.Path)
	}
	context, _ := c.rec.Report.State.Get(core.ContextField)
	have, _ := context.(*value.Object)
	for _, m := range e.Context {
		if got, want := member(have, m.Key.Value), m.Value.Plain(); !value.Equal(want, got) {
			path, w, g := firstDifference("context."+m.Key.Value, want, got)
			c.miss(m.Value.Pos, path, text(w), text(g), "")
		}
	}
	if want := e.Failure.Value; want != "" {
		got := "none"
		if f, ok := errors.AsType[*core.Failure](c.rec.Report.Err); ok {
			got = f.Class
		}
		if got != want {
			c.miss(e.Failure.Pos, "failure", want, got, c.runReason())
		}
	}
}

// path compares the visits of a walk and reports the first difference.
func (c *checker) path(want []string, at []source.Text) {
	got := c.rec.Report.Path
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	if i == len(want) && i == len(got) {
		return
	}
	pos := at[min(i, len(at)-1)].Pos
	end := func(list []string) string {
		if i < len(list) {
			return list[i]
		}
		return "the end"
	}
	c.miss(pos, fmt.Sprintf("path[%d]", i), end(want), end(got), "the whole path is "+strings.Join(got, " ")+c.rec.chosen(i))
}

type checker struct {
	rec    *Record
	misses []Miss
}

func (c *checker) miss(pos source.Position, what, want, got, because string) {
	c.misses = append(c.misses, Miss{pos, pos.String(), what, want, got, because})
}

func (c *checker) runReason() string {
	if err := c.rec.Report.Err; err != nil {
		return err.Error()
	}
	return ""
}

func (c *checker) node(m source.Member[source.Text]) {
	id := m.Key.Value
	got := "none"
	if s := c.rec.Status[id]; s != core.StatusNone {
		got = s.String()
	}
	if got != m.Value.Value {
		c.miss(m.Value.Pos, "nodes."+id, m.Value.Value, got, c.rec.why(id))
	}
}

func (c *checker) field(m source.Member[*source.Value]) {
	name := m.Key.Value
	want := m.Value.Plain()
	got, ok := c.rec.Report.State.Get(name)
	if !ok {
		got = value.Missing
	}
	if canonical, err := value.Canonical(got); err == nil {
		got = canonical
	}
	if value.Equal(want, got) {
		return
	}
	path, w, g := firstDifference("state."+name, want, got)
	c.miss(m.Value.Pos, path, text(w), text(g), c.rec.unwritten(name))
}

// text formats a value, or reports that there is none.
func text(v any) string {
	if value.IsMissing(v) {
		return "no value"
	}
	return value.JSON(v)
}

// firstDifference descends into arrays of equal length and into objects to the first part
// in which two values differ.
func firstDifference(path string, want, got any) (string, any, any) {
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return path, want, got
		}
		for i := range w {
			if !value.Equal(w[i], g[i]) {
				return firstDifference(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])
			}
		}
	case *value.Object:
		g, ok := got.(*value.Object)
		if !ok {
			return path, want, got
		}
		for _, key := range slices.Concat(w.Keys(), g.Keys()) {
			a, b := member(w, key), member(g, key)
			if !value.Equal(a, b) {
				return firstDifference(path+"."+key, a, b)
			}
		}
	}
	return path, want, got
}

func member(o *value.Object, key string) any {
	if v, ok := o.Get(key); ok {
		return v
	}
	return value.Missing
}

func (c *checker) counts(what string, want source.Members[source.Int], got map[string]int) {
	for _, m := range want {
		if n := got[m.Key.Value]; n != m.Value.Value {
			c.miss(m.Value.Pos, what+"."+m.Key.Value, strconv.Itoa(m.Value.Value), strconv.Itoa(n), c.rec.why(m.Key.Value))
		}
	}
}

// order checks that the nodes start in the given order. A repeated id means the next start
// of that node.
func (c *checker) order(want []source.Text) {
	seen := map[string]int{}
	last, lastID := -1, ""
	for _, id := range want {
		seen[id.Value]++
		at := c.start(id.Value, seen[id.Value])
		switch {
		case at < 0:
			c.miss(id.Pos, "order", id.Value+" starts", "it did not start", c.rec.why(id.Value))
			continue
		case at < last:
			c.miss(id.Pos, "order", id.Value+" starts after "+lastID, "it started before", "")
			continue
		}
		last, lastID = at, id.Value
	}
}

// start returns the index of the nth start of a node in the trace, or -1.
func (c *checker) start(id string, nth int) int {
	for i, e := range c.rec.Trace {
		if e.Node == id {
			if nth--; nth == 0 {
				return i
			}
		}
	}
	return -1
}

// trace compares the lists of executions and reports the first difference.
func (c *checker) trace(want []mock.Step, pos source.Position) {
	got := c.rec.Trace
	at := 0
	for at < len(want) && at < len(got) && matches(want[at], got[at]) {
		at++
	}
	if at == len(want) && at == len(got) {
		return
	}
	what := fmt.Sprintf("trace[%d]", at)
	w, g := "the end", "the end"
	if at < len(want) {
		w, pos = Execution{Node: want[at].Node, Index: want[at].Index}.String(), want[at].Pos
	} else if len(want) > 0 {
		pos = want[len(want)-1].Pos
	}
	if at < len(got) {
		g = got[at].String()
	}
	c.miss(pos, what, w, g, "the whole trace is "+joinTrace(got))
}

// matches compares a step with an execution. A step may have the index 0 for a plain node,
// and may omit the number of a round.
func matches(want mock.Step, got Execution) bool {
	switch {
	case want.Node != got.Node:
		return false
	case want.Index == 0:
		return got.Index == 0
	case got.Index == 0 && got.Round == 0:
		return want.Index == core.Nth(0)
	}
	return want.Index == max(got.Index, got.Round)
}

// maxTrace limits the length of a trace in a message.
const maxTrace = 40

func joinTrace(list []Execution) string {
	names := make([]string, 0, maxTrace+1)
	for i, e := range list {
		if i == maxTrace {
			names = append(names, fmt.Sprintf("… (%d in all)", len(list)))
			break
		}
		names = append(names, e.String())
	}
	if len(names) == 0 {
		return "empty"
	}
	return strings.Join(names, " ")
}
