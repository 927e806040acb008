package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// This file finds keys that executions with no path between them have stored by key in one
// table: which of the rows is left depends on time. What is found does not: a key counts
// once, whoever came first, and which keys are compared when there are too many depends on
// the keys. A snapshot does not hold them.

// upserts are the keys that a run has stored.
type upserts struct {
	keys   core.KeyMap[upsert]
	who    []claimant
	tables []upserted
}

// upsert is a key: who stored it last, in which table, and whether an execution with no path
// to another one did. Whoever has no path to an earlier one has none to the last one either,
// or came before it.
type upsert struct {
	who, table int32
	conflict   bool
}

// upserted is a table, with the nodes that store rows in it.
type upserted struct {
	target, name string
	nodes        []string
}

// Upserted takes in the keys that an execution has stored. It is called before the answer of
// the execution is applied.
func (m *Machine) Upserted(id ID, u *core.Upserted) {
	f := m.frame(id.Frame)
	if f == nil || u.Keys.Len() == 0 {
		return
	}
	s := &m.upserts
	who := f.claimant(id)
	at, table := int32(len(s.who)), s.table(u, m.claimantNode(who))
	s.who = append(s.who, who)
	for h := range u.Keys.All() {
		k, known := s.keys.Get(h)
		k.conflict = k.conflict || known && m.conflict(s.who[k.who], who)
		k.who, k.table = at, table
		s.keys.Set(h, k)
	}
}

// StoredBefore says which of the keys that an execution is about to store were stored by
// another one with no path between them, "" if none was. It notes nothing.
func (m *Machine) StoredBefore(id ID, u *core.Upserted) string {
	f, s := m.frame(id.Frame), &m.upserts
	if f == nil || len(s.who) == 0 {
		return ""
	}
	who := f.claimant(id)
	conflicts := make([]int, len(s.who)) // keys, by execution
	count, first := 0, len(s.who)
	for h := range u.Keys.All() {
		if k, known := s.keys.Get(h); known && m.conflict(s.who[k.who], who) {
			conflicts[k.who]++
			count, first = count+1, min(first, int(k.who))
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: 1 key was upserted by %s before, and no order between them decides which row is left", u.Name, m.claimantName(s.who[first]))
	case conflicts[first]:
		return fmt.Sprintf("%s: %d keys were upserted by %s before, and no order between them decides which rows are left", u.Name, count, m.claimantName(s.who[first]))
	}
	return fmt.Sprintf("%s: %d keys were upserted by %s and others before, and no order between them decides which rows are left", u.Name, count, m.claimantName(s.who[first]))
}

// table returns the place of a table, and notes a node that stores rows in it.
func (s *upserts) table(u *core.Upserted, node string) int32 {
	at := slices.IndexFunc(s.tables, func(t upserted) bool { return t.target == u.Target })
	if at < 0 {
		at = len(s.tables)
		s.tables = append(s.tables, upserted{target: u.Target, name: u.Name})
	}
	t := &s.tables[at]
	t.name = min(t.name, u.Name) // the same file may have several names
	if !slices.Contains(t.nodes, node) {
		t.nodes = append(t.nodes, node)
	}
	return int32(at)
}

// claimantNode is the path of nodes of an execution.
func (m *Machine) claimantNode(who claimant) string {
	var ids []string
	p := m.root.p
	for _, s := range who {
		n := &p.Nodes[s.Node]
		ids = append(ids, n.ID)
		if n.Frame != nil {
			p = n.Frame.Plan
		}
	}
	return strings.Join(ids, "/")
}

// UpsertedTwice tells of keys that several executions have stored in one table, in no fixed
// order: a warning for each table, of the first of its nodes by name.
func (m *Machine) UpsertedTwice() []core.NodeWarning {
	s := &m.upserts
	counts := make([]int, len(s.tables))
	for _, k := range s.keys.All() {
		if k.conflict {
			counts[k.table]++
		}
	}
	var list []core.NodeWarning
	for i, t := range s.tables {
		if counts[i] == 0 {
			continue
		}
		slices.Sort(t.nodes)
		by := "more than one execution of the node"
		if len(t.nodes) > 1 {
			by = "more than one of the nodes " + strings.Join(t.nodes, ", ")
		}
		number := fmt.Sprint(counts[i])
		if share := s.keys.Share(); share > 1 {
			number = fmt.Sprint("about ", counts[i]*share)
		}
		keys := " keys were upserted by "
		if number == "1" {
			keys = " key was upserted by "
		}
		list = append(list, core.NodeWarning{Node: t.nodes[0], Text: t.name + ": " + number + keys + by +
			", and no order between them decides which row is left", Count: 1})
	}
	return list
}
