package convert

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// lost returns every value of a walk that another one, read from its conversion, does not
// have.
func lost(w, back *core.Workflow) []loss {
	a, b := normal(w), normal(back)
	c := &comparison{subject: "workflow " + w.Name.Value, pos: w.Pos}
	graphs := [2]core.Workflow{*a, *b}
	for i := range graphs {
		graphs[i].Nodes, graphs[i].Edges, graphs[i].Inputs, graphs[i].Fields = nil, nil, nil, nil
	}
	c.fields("", reflect.ValueOf(graphs[0]), reflect.ValueOf(graphs[1]))
	c.named("input", inputs(a), inputs(b))
	c.named("field", fields(a), fields(b))
	c.named("node", nodes(a), nodes(b))
	c.edges(a.Edges, b.Edges)
	return c.found
}

// part is a node, input or field with its name.
type part struct {
	name string
	pos  source.Position
	v    reflect.Value
}

func nodes(w *core.Workflow) []part {
	var out []part
	for _, n := range w.Nodes {
		out = append(out, part{n.ID.Value, n.Pos, reflect.ValueOf(*n)})
	}
	return out
}

func inputs(w *core.Workflow) []part {
	var out []part
	for _, in := range w.Inputs {
		out = append(out, part{in.Name.Value, in.Pos, reflect.ValueOf(in)})
	}
	return out
}

func fields(w *core.Workflow) []part {
	var out []part
	for _, f := range w.Fields {
		out = append(out, part{f.Name.Value, f.Pos, reflect.ValueOf(f)})
	}
	return out
}

// comparison collects what the second of two walks does not have.
type comparison struct {
	subject string
	pos     source.Position
	found   []loss
}

func (c *comparison) add(what, got string) {
	c.found = append(c.found, loss{subject: c.subject, what: what, pos: c.pos, got: got})
}

// extra adds what only the other walk has.
func (c *comparison) extra(what, got string) {
	c.found = append(c.found, loss{c.subject, what, c.pos, got, true})
}

// named compares lists of parts by their names, and their order.
func (c *comparison) named(kind string, a, b []part) {
	list, place, pos := c.subject, 0, c.pos
	for _, p := range a {
		c.subject, c.pos = kind+" "+p.name, p.pos
		i := slices.IndexFunc(b, func(q part) bool { return q.name == p.name })
		if i < 0 {
			c.add("the "+kind, "")
			continue
		}
		before := len(c.found)
		c.fields("", p.v, b[i].v)
		if other := c.found[before:]; slices.ContainsFunc(other, func(l loss) bool { return l.what == "kind" }) { // the other kind has other settings
			c.found = append(c.found[:before], slices.DeleteFunc(slices.Clone(other), func(l loss) bool { return l.extra })...)
		}
		if i < place {
			c.add("its place among the "+kind+"s", "another one")
		}
		place = i
	}
	c.subject, c.pos = list, pos
	for _, q := range b {
		if !slices.ContainsFunc(a, func(p part) bool { return p.name == q.name }) {
			c.add(kind+" "+q.name+", which does not exist", "there")
		}
	}
}

func (c *comparison) edges(a, b []*core.Edge) {
	if len(a) != len(b) {
		c.add("the number of its edges", "another one")
		return
	}
	for i, e := range a {
		c.subject, c.pos = "edge "+e.From.Value+" -> "+e.To.Value, e.Pos
		c.fields("", reflect.ValueOf(*e), reflect.ValueOf(*b[i]))
	}
}

// fields compares the fields of two structs. A field that has a position is named with it.
func (c *comparison) fields(at string, a, b reflect.Value) {
	for i := range a.NumField() {
		c.field(join(at, key(a.Type(), a.Type().Field(i).Name)), a.Field(i), b.Field(i))
	}
}

func (c *comparison) field(name string, a, b reflect.Value) {
	if same(a, b) {
		return
	}
	defer func(at source.Position) { c.pos = at }(c.pos)
	if pos := positionOf(a); pos.IsValid() {
		c.pos = pos
	}
	if x, ok := members(a); ok {
		y, _ := members(b)
		c.members(name, x, y)
		return
	}
	x, y := reflect.Indirect(a), reflect.Indirect(b)
	if x.IsValid() && y.IsValid() && x.Kind() == reflect.Struct && !x.FieldByName("Value").IsValid() {
		c.fields(name, x, y)
		return
	}
	if !x.IsValid() || a.Kind() != reflect.Pointer && x.IsZero() {
		c.extra(name+" is not set", short(b))
		return
	}
	c.add(name, short(b))
}

// members compares objects. Members of the configuration are keys of the node.
func (c *comparison) members(name string, a, b *value.Object) {
	if name == "config" {
		name = ""
	}
	n := len(c.found)
	for k, v := range a.All() {
		if w, ok := b.Get(k); !ok {
			c.add(join(name, k), "")
		} else if !sameValue(v, w) {
			c.add(join(name, k), text(w))
		}
	}
	for k, w := range b.All() {
		if _, ok := a.Get(k); !ok {
			c.extra(join(name, k)+" is not set", text(w))
		}
	}
	if len(c.found) == n && !strings.HasSuffix(name, "attributes") { // the order of attributes says nothing
		c.add("the order of "+join(name, "members"), "another one")
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

// key returns the name of a field in documents.
func key(of reflect.Type, field string) string {
	switch field {
	case "Walk":
		return ""
	case "MaxSteps":
		return "max_visits"
	case "MaxVisits":
		if of == reflect.TypeFor[core.Walk]() {
			return "max_node_visits"
		}
	case "MaxRetries":
		return "default_max_retries"
	case "RepeatLimit":
		return "loop_restart_signature_limit"
	case "HasWrites":
		return "writes"
	case "Handler":
		return "its Go function, which has no name"
	case "FixedGraph":
		return "self_modification"
	case "Cond":
		return "condition"
	case "Lacks":
		return "a sub-workflow that is not there"
	case "Child":
		return inlineChild
	}
	var b strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(field[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
