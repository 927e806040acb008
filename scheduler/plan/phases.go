package plan

import "github.com/wavefold/wavefold/core"

// checkPhases compares the phases that are declared with those that are used. A
// document that declares none uses free labels.
func (c *compiler) checkPhases() {
	if len(c.w.Phases) == 0 {
		return
	}
	used := make(map[string]bool, len(c.w.Phases))
	names := make([]string, 0, len(c.w.Phases))
	for _, p := range c.w.Phases {
		id := p.ID.Value
		if _, twice := used[id]; twice {
			c.ds.Warnf(core.CodeDuplicate, p.ID.Pos, "phase %q is declared twice", id)
			continue
		}
		used[id] = false
		names = append(names, id)
	}
	use := func(phase core.Text, at place) {
		if phase.Value == "" {
			return
		}
		if _, ok := used[phase.Value]; ok {
			used[phase.Value] = true
			return
		}
		d := c.ds.Warnf(core.CodeUnknownPhase, phase.Pos, "%s: phase %q is not declared", at, phase.Value)
		c.hint(d, phase.Value, func() []string { return names })
	}
	for _, n := range c.w.Nodes {
		use(n.Phase, nodePlace(n.ID.Value))
	}
	for _, u := range c.w.Pipelines {
		use(u.Phase, place{what: "pipeline", id: u.ID.Value})
	}
	for _, u := range c.w.Loops {
		use(u.Phase, place{what: "loop", id: u.ID.Value})
	}
	for _, p := range c.w.Phases {
		if !used[p.ID.Value] {
			used[p.ID.Value] = true // once
			c.ds.Warnf(core.CodeUnused, p.ID.Pos, "phase %q is used by no node", p.ID.Value)
		}
	}
}
