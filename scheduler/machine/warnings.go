package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Warnings returns the warnings that only the whole run shows: about filters that selected
// nothing because no element had their column, and about keys that were upserted twice.
// They are in the order of their nodes.
func (m *Machine) Warnings() []core.NodeWarning {
	list := slices.Concat(m.absent, m.upsertedTwice())
	slices.SortStableFunc(list, func(a, b core.NodeWarning) int { return strings.Compare(a.Node, b.Node) })
	return list
}

// warnAbsent adds a warning if a source selected no elements because none has a column that its
// filter tests. Nodes that may run more than once are exempt: their rows may be interim results.
func (f *frame) warnAbsent(id, what string, s *plan.Source, env expressions.Env) {
	if f.p.Mode.Visits || f.parent != nil {
		return
	}
	if err := s.Absent(env); err != nil {
		f.m.absent = append(f.m.absent, core.NodeWarning{Node: id, Text: fmt.Sprintf("%s selects nothing: %v", what, err), Count: 1})
	}
}
