package lint

import (
	"strconv"

	"github.com/wavefold/wavefold/core/source"
)

// missingSkills warns of skills that do not exist. Documents list the same few skills at many of
// their nodes, so there is one warning for all of them.
func (c *checker) missingSkills() {
	missing := c.f.MissingSkills()
	if len(missing) == 0 {
		return
	}
	var nodes, failing, skills []string
	seen := map[string]bool{}
	near := ""
	for _, m := range missing {
		nodes = append(nodes, m.Node)
		if m.All {
			failing = append(failing, m.Node)
		}
		for _, s := range m.Names {
			if seen[s.Value] {
				continue
			}
			seen[s.Value] = true
			skills = append(skills, strconv.Quote(s.Value))
			if n := source.DidYouMean(s.Value, c.f.Tools()); n != "" && near == "" {
				near = strconv.Quote(s.Value) + ": " + n
			}
		}
	}
	hint := near
	if hint == "" {
		hint = plural(len(skills), "register a Go function of this name, or some that begin with it and _, or give the skill an instruction",
			"register Go functions of these names, or that begin with them and _, or give the skills instructions")
	}
	c.ds.Warnf(source.CodeUnknownSkill, missing[0].Names[0].Pos, "%s: there %s%s", plural(len(nodes), "node ", "nodes ")+source.Named(nodes),
		plural(len(skills), "is no skill ", "are no skills ")+source.Named(skills), idle(nodes, failing)).WithHint("%s", hint)
}

// idle describes which of the nodes have no other skills.
func idle(nodes, failing []string) string {
	who := ""
	switch {
	case len(failing) == 0:
		return ""
	case len(failing) < len(nodes):
		who = source.Named(failing)
	default:
		who = plural(len(nodes), "it", "they")
	}
	return "; " + who + plural(len(failing), " has no other, so the run fails when it is reached", " have no others, so the run fails when they are reached")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
