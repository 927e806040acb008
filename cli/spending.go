package cli

import (
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
)

// spending selects the columns about model calls in a summary. They are present only if a
// model was called.
type spending struct{ calls, cost bool }

func spentOn(r *core.Report) spending {
	return spending{calls: r.Usage != (core.Usage{}), cost: r.Usage.Cost > 0}
}

// table returns a table for a summary. The first columns are a name and a status, and the
// last column is an explanation. The columns in between are numbers, aligned to the
// right; the columns of spending are added to them.
func (s spending) table(names ...string) *tty.Table {
	var more []string
	if s.calls {
		more = append(more, "calls", "tokens")
	}
	if s.cost {
		more = append(more, "cost")
	}
	names = slices.Insert(names, len(names)-1, more...)
	var right []int
	for c := 2; c < len(names)-1; c++ {
		right = append(right, c)
	}
	return tty.NewTable(names, right...)
}

// row adds the cells of a node to its other cells; a nil node made no calls.
func (s spending) row(n *core.NodeReport, cells ...any) []any {
	var u core.Usage
	if n != nil {
		u = n.Usage
	}
	var more []any
	if s.calls {
		more = append(more, numberText(u.Calls), numberText(u.Tokens()))
	}
	if s.cost {
		more = append(more, explain.Cost(u.Cost))
	}
	return slices.Insert(cells, len(cells)-1, more...)
}

func numberText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// usageText describes the usage of all model calls of a run: "; models: 3 calls, …".
func usageText(r *core.Report) string {
	if r.Usage == (core.Usage{}) {
		return ""
	}
	return "; models: " + explain.Usage(r.Usage)
}

func usageJSON(u core.Usage) *core.Usage {
	if u == (core.Usage{}) {
		return nil
	}
	return &u
}
