package builder

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// DefaultPrompt is the prompt that Upgrade gives to an approval without one.
const DefaultPrompt = "Approve this step?"

// edit replaces a part of a text.
type edit struct {
	at, end int
	text    string
}

// apply returns the text with all edits, which must not overlap.
func (s *scanner) apply(edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	out, at := make([]byte, 0, len(s.data)), 0
	for _, e := range edits {
		out = append(append(out, s.data[at:e.at]...), e.text...)
		at = e.end
	}
	return append(out, s.data[at:]...)
}

// Upgrade rewrites what older documents have: the node type input becomes approval, a text in
// condition becomes a condition of the operator contains, the handle true of an if becomes
// condition-0, an approval without a prompt gets DefaultPrompt, and the flags of tools become booleans.
// Everything else stays as it is, byte for byte.
func Upgrade(file string, data []byte) ([]byte, source.Diagnostics) {
	s, root := scan(file, data)
	if root == nil {
		return nil, s.ds.Capped()
	}
	l := &loader{scanner: s}
	nodes, connections := l.list(root, keyNodes), l.list(root, keyConnections)
	if nodes == nil || connections == nil {
		return nil, l.ds.Capped()
	}
	u := &upgrade{scanner: s}
	ifs := map[string]bool{}
	for _, n := range nodes.items {
		switch u.string(n.get("type")) {
		case typeInput:
			u.replace(n.get("type"), `"`+typeApproval+`"`)
			u.approval(n)
		case typeApproval:
			u.approval(n)
		case typeIf:
			ifs[u.string(n.get("id"))] = true
			u.condition(n.get("data"))
		case typeAgent:
			u.tools(n.get("data").get("tools"))
		}
	}
	for _, c := range connections.items {
		if h := c.get("sourceHandle"); u.string(h) == "true" && ifs[u.string(c.get("source"))] {
			u.replace(h, `"condition-0"`)
		}
	}
	return s.apply(u.edits), nil
}

type upgrade struct {
	*scanner
	edits []edit
}

// string returns the content of a string, "" for any other part.
func (u *upgrade) string(p *part) string {
	if p == nil || p.kind != '"' {
		return ""
	}
	return text(u.raw(p))
}

func (u *upgrade) replace(p *part, text string) {
	u.edits = append(u.edits, edit{p.at, p.end, text})
}

// add adds a member to an object.
func (u *upgrade) add(p *part, name, text string) {
	member, at := value.JSON(name)+": "+text, p.at+1
	if n := len(p.items); n > 0 {
		member, at = ", "+member, p.items[n-1].end
	}
	u.edits = append(u.edits, edit{at, at, member})
}

// remove removes a member of an object, with the comma before or after it.
func (u *upgrade) remove(p *part, name string) {
	i := slices.IndexFunc(p.keys, func(k key) bool { return k.name == name })
	from, to := p.keys[i].at, p.items[i].end
	switch {
	case i+1 < len(p.keys):
		to = p.keys[i+1].at
	case i > 0:
		from = p.items[i-1].end
	}
	u.edits = append(u.edits, edit{from, to, ""})
}

func (u *upgrade) approval(n *part) {
	prompt := value.JSON(DefaultPrompt)
	switch data := n.get("data"); {
	case data == nil:
		u.add(n, "data", `{"prompt": `+prompt+`}`)
	case data.kind == 'n':
		u.replace(data, `{"prompt": `+prompt+`}`)
	case data.kind != '{':
	case data.get("prompt") == nil:
		u.add(data, "prompt", prompt)
	case data.get("prompt").kind == 'n', u.string(data.get("prompt")) == "" && data.get("prompt").kind == '"':
		u.replace(data.get("prompt"), prompt)
	}
}

func (u *upgrade) condition(data *part) {
	old, list := data.get("condition"), data.get("conditions")
	if old == nil {
		return
	}
	one := "[]"
	if t := u.string(old); t != "" {
		one = `[{"operator": "contains", "value": ` + string(u.raw(old)) + `}]`
	}
	switch {
	case list == nil: // the new member takes the place of the old one
		i := slices.IndexFunc(data.keys, func(k key) bool { return k.name == "condition" })
		u.edits = append(u.edits, edit{data.keys[i].at, old.end, `"conditions": ` + one})
		return
	case list.kind == 'n', list.kind == '[' && len(list.items) == 0:
		u.replaceBeside(data, list, one)
	default:
		u.remove(data, "condition")
	}
}

// replaceBeside replaces a member and removes the member condition, which may be its neighbour.
func (u *upgrade) replaceBeside(data, list *part, text string) {
	u.replace(list, text)
	u.remove(data, "condition")
}

func (u *upgrade) tools(tools *part) {
	for _, name := range toolKeys {
		switch p := tools.get(name); {
		case p == nil || p.kind == 't' || p.kind == 'f':
		case truthy(u.scanner, p):
			u.replace(p, "true")
		default:
			u.replace(p, "false")
		}
	}
}
