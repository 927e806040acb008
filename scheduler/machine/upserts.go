package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// upserts are the keys that a run has upserted. They reveal executions that have stored the same
// key in one table without a path between them, so that timing decides which row is left. The
// findings do not depend on timing: each key counts once, and if there are too many keys to
// compare, the choice depends on the keys. Snapshots do not contain them.
type upserts struct {
	keys      core.KeyMap[upsert]
	claimants []claimant
	tables    []upsertTable
}

// upsert describes a key: the execution that stored it last, its table, and whether executions
// without a path between them have stored it. It is enough to keep the last execution, because a
// later one that has no path to an earlier one has none to the last one either, or precedes the
// last one.
type upsert struct {
	by, table int32
	conflict  bool
}

// upsertTable is a table and the nodes that store rows in it.
type upsertTable struct {
	target, name string
	nodes        []string
}

// Upserted records the keys that an execution has stored. It must be called before the answer of
// the execution is applied.
func (m *Machine) Upserted(id ID, u *core.Upserted) {
	f := m.frame(id.Frame)
	if f == nil || u.Keys.Len() == 0 {
		return
	}
	s := &m.upserts
	who := f.claimant(id)
	at, table := int32(len(s.claimants)), s.table(u, m.claimantNode(who))
	s.claimants = append(s.claimants, who)
	for h := range u.Keys.All() {
		k, known := s.keys.Get(h)
		k.conflict = k.conflict || known && m.conflict(s.claimants[k.by], who)
		k.by, k.table = at, table
		s.keys.Set(h, k)
	}
}

// StoredBefore describes the keys that an execution is about to store and that an execution
// without a path to it has stored before. It returns "" if there are none, and records nothing.
func (m *Machine) StoredBefore(id ID, u *core.Upserted) string {
	f, s := m.frame(id.Frame), &m.upserts
	if f == nil || len(s.claimants) == 0 {
		return ""
	}
	who := f.claimant(id)
	conflicts := make([]int, len(s.claimants)) // number of keys by execution
	count, first := 0, len(s.claimants)
	for h := range u.Keys.All() {
		if k, known := s.keys.Get(h); known && m.conflict(s.claimants[k.by], who) {
			conflicts[k.by]++
			count, first = count+1, min(first, int(k.by))
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: 1 key was upserted by %s before, and no order between them decides which row is left", u.Name, m.claimantName(s.claimants[first]))
	case conflicts[first]:
		return fmt.Sprintf("%s: %d keys were upserted by %s before, and no order between them decides which rows are left", u.Name, count, m.claimantName(s.claimants[first]))
	}
	return fmt.Sprintf("%s: %d keys were upserted by %s and others before, and no order between them decides which rows are left", u.Name, count, m.claimantName(s.claimants[first]))
}

// table returns the index of a table, and adds a node that stores rows in it.
func (s *upserts) table(u *core.Upserted, node string) int32 {
	at := slices.IndexFunc(s.tables, func(t upsertTable) bool { return t.target == u.Target })
	if at < 0 {
		at = len(s.tables)
		s.tables = append(s.tables, upsertTable{target: u.Target, name: u.Name})
	}
	t := &s.tables[at]
	t.name = min(t.name, u.Name) // the same file may have several names
	if !slices.Contains(t.nodes, node) {
		t.nodes = append(t.nodes, node)
	}
	return int32(at)
}

// claimantNode returns the path of an execution without items and rounds.
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

// upsertedTwice returns a warning for each table with keys that several executions have stored in
// no fixed order. The warning belongs to the first of the table's nodes by name.
func (m *Machine) upsertedTwice() []core.NodeWarning {
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
