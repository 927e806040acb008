package lint

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// checkPhases compares the declared phases with the phases that are used. In a document that
// declares none, phases are free labels.
func (c *checker) checkPhases() {
	if len(c.w.Phases) == 0 {
		return
	}
	unknown := c.w.Lost.Has("phases")
	used := make(map[string]bool, len(c.w.Phases))
	names := make([]string, 0, len(c.w.Phases))
	for _, p := range c.w.Phases {
		if p.Lost.Has("id") {
			unknown = true
			continue
		}
		id := p.ID.Value
		if _, twice := used[id]; twice {
			c.ds.Warnf(source.CodeDuplicate, p.ID.Pos, "phase %q is declared twice", id)
			continue
		}
		used[id] = false
		names = append(names, id)
	}
	all := !c.f.Invalid().Nodes && !c.f.Invalid().Members // all uses are known
	use := func(phase source.Text, lost source.Lost, at string) {
		all = all && !lost.Has("phase")
		if phase.Value == "" {
			return
		}
		if _, ok := used[phase.Value]; ok {
			used[phase.Value] = true
			return
		}
		if unknown {
			return
		}
		d := c.ds.Warnf(source.CodeUnknownPhase, phase.Pos, "%s: phase %q is not declared", at, phase.Value)
		c.hint(d, phase.Value, names)
	}
	for _, n := range c.w.Nodes {
		use(n.Phase, n.Lost, message.Node(n.ID.Value))
	}
	for _, u := range c.w.Pipelines {
		use(u.Phase, u.Lost, message.Unit("pipeline", u.ID.Value))
	}
	for _, u := range c.w.Loops {
		use(u.Phase, u.Lost, message.Unit("loop", u.ID.Value))
	}
	for _, p := range c.w.Phases {
		if all && !p.Lost.Has("id") && !used[p.ID.Value] {
			used[p.ID.Value] = true // report it only once
			c.ds.Warnf(source.CodeUnused, p.ID.Pos, "phase %q is used by no node", p.ID.Value)
		}
	}
}
