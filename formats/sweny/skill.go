package sweny

import (
	"context"
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// inlineSkills reads the skills that the document defines.
func (l *loader) inlineSkills() {
	l.skills = map[string]*skillShape{}
	for _, m := range l.doc.Skills {
		s := &skillShape{id: m.Key.Value}
		l.ds = append(l.ds, source.Decode(m.Value, s)...)
		l.skills[m.Key.Value] = s
		blank := strings.TrimSpace(s.Instruction.Value) == ""
		switch {
		case s.Lost != nil:
		case blank && s.MCP == nil:
			l.ds.Errorf(source.CodeInlineSkill, m.Key.Pos, "skill %s: has neither an instruction nor a server of tools (mcp)", s.id).
				WithHint("give it an instruction")
		case s.MCP != nil:
			l.ds.Warnf(source.CodeIgnored, s.MCP.Pos, "skill %s: mcp: servers of tools are not supported", s.id).
				WithHint("register Go functions called %s, or %s_something", s.id, s.id)
		}
	}
}

// nodeSkills passes the skills of a node to its kind, with the document's definitions.
// The kind checks whether there are functions with these names.
func (l *loader) nodeSkills(d *nodeShape, c *config) {
	if len(d.Skills) == 0 {
		return
	}
	list := &source.Value{Kind: source.ArrayValue, Pos: c.tree.Get("skills").Pos}
	for _, id := range d.Skills {
		s := &source.Value{Kind: source.ObjectValue, Pos: id.Pos}
		put := func(key string, t source.Text) {
			if strings.TrimSpace(t.Value) != "" {
				s.Set(source.At(key, t.Pos), stringTree(t))
			}
		}
		put("name", id)
		if inlineSkill := l.skills[id.Value]; inlineSkill != nil {
			put("description", inlineSkill.Description)
			put("instruction", inlineSkill.Instruction)
		}
		list.Items = append(list.Items, s)
	}
	c.set("skills", list)
}

// unfetchedHandler returns the handler of a node whose instruction is at a URL.
func unfetchedHandler(address string) core.Handler {
	return core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		return core.Result{}, core.Permanent(fmt.Errorf("the instruction is at %s, and addresses are not fetched", address))
	})
}
