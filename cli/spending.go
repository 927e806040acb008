package cli

import (
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/story"
)

// spending is what the models of a run took, by node, in a summary: columns that are there
// only where a model was called.
type spending struct{ calls, cost bool }

func spentOn(r *core.Report) spending {
	return spending{calls: r.Usage != (core.Usage{}), cost: r.Usage.Cost > 0}
}

// table begins a summary with these columns: a name and a status, numbers, which are
// aligned to the right as those of spending before the last one are, and explanations.
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

// row puts the cells of a node there; nil is a row without calls.
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
		more = append(more, story.Cost(u.Cost))
	}
	return slices.Insert(cells, len(cells)-1, more...)
}

func numberText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// usageText is what all calls to models of a run took: "; models: 3 calls, …".
func usageText(r *core.Report) string {
	if r.Usage == (core.Usage{}) {
		return ""
	}
	return "; models: " + story.Usage(r.Usage)
}

func usageJSON(u core.Usage) *core.Usage {
	if u == (core.Usage{}) {
		return nil
	}
	return &u
}
