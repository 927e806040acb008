package cli

import (
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/story"
)

// spending is what the models of a run took, by node, in a summary: columns that are there
// only where a model was called.
type spending struct{ calls, cost bool }

func spentOn(r *core.Report) spending {
	return spending{calls: r.Usage != (core.Usage{}), cost: r.Usage.Cost > 0}
}

// headings puts those of the columns before the last one, which has the explanations.
func (s spending) headings(names ...string) []string {
	var more []string
	if s.calls {
		more = append(more, "calls", "tokens")
	}
	if s.cost {
		more = append(more, "cost")
	}
	return slices.Insert(names, len(names)-1, more...)
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
