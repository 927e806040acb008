package journal

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// planAt returns the plan of the frame at a path.
func (k *Codec) planAt(path string) (*plan.Plan, error) {
	if k.PlanAt != nil {
		return k.PlanAt(path)
	}
	return k.Plan.At(path)
}

// visited writes what a result says in a walk by steps.
func (w *writer) visited(s *machine.Visited) {
	w.open('{')
	w.strings("tool_calls", s.ToolCalls)
	w.flag("tool_loop", s.ToolLoop)
	if s.Messages != nil {
		w.key("messages")
		w.value([]any(s.Messages))
	}
	w.text("next", s.Next)
	w.strings("guards_passed", s.GuardsPassed)
	w.strings("guards_failed", s.GuardsFailed)
	if s.Mutations != nil {
		w.key("mutations")
		w.open('[')
		for i := range s.Mutations {
			w.comma()
			w.mutation(&s.Mutations[i])
		}
		w.close(']')
	}
	w.text("answers", s.Answers)
	w.flag("end", s.End)
	w.close('}')
}

func (w *writer) mutation(m *core.Mutation) {
	w.open('{')
	w.text("action", m.Action)
	w.text("node", m.Node)
	w.text("from", m.From)
	w.text("to", m.To)
	if m.Config != nil {
		w.key("config")
		w.value(m.Config)
	}
	w.close('}')
}

// strings writes a list of strings unless it is nil.
func (w *writer) strings(key string, list []string) {
	if list == nil {
		return
	}
	w.key(key)
	w.open('[')
	for _, s := range list {
		w.comma()
		w.string(s)
	}
	w.close(']')
}

// visited is the inverse of writer.visited.
func (d *decoder) visited(o *value.Object) *machine.Visited {
	s := &machine.Visited{ToolCalls: d.strings(o, "tool_calls"), ToolLoop: d.flag(o, "tool_loop"), Next: d.text(o, "next"),
		GuardsPassed: d.strings(o, "guards_passed"), GuardsFailed: d.strings(o, "guards_failed"), Answers: d.text(o, "answers"), End: d.flag(o, "end")}
	if list, ok := member[[]any](d, o, "messages"); ok {
		s.Messages, _ = d.value(list).([]any)
	}
	list, ok := member[[]any](d, o, "mutations")
	if ok {
		s.Mutations = make([]core.Mutation, 0, len(list))
	}
	for _, v := range list {
		m, ok := v.(*value.Object)
		if !ok {
			d.fail("a mutation is %s", value.TypeName(v))
			return s
		}
		x := core.Mutation{Action: d.text(m, "action"), Node: d.text(m, "node"), From: d.text(m, "from"), To: d.text(m, "to")}
		if config, ok := member[*value.Object](d, m, "config"); ok {
			x.Config, _ = d.value(config).(*value.Object)
		}
		s.Mutations = append(s.Mutations, x)
	}
	return s
}

// strings reads a list of strings. The result is nil if
// there is none.
func (d *decoder) strings(o *value.Object, name string) []string {
	list, ok := member[[]any](d, o, name)
	if !ok {
		return nil
	}
	out := make([]string, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			d.fail("%s has %s", name, value.TypeName(v))
		}
		out[i] = d.string(s)
	}
	return out
}
