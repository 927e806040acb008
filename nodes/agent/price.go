package agent

import (
	"slices"

	"github.com/wavefold/wavefold/llm"
)

// unpriced lists the models without a known price that a node may call.
func (r *runner) unpriced() []string {
	var names []string
	ask := func(model string) {
		if name, _, ok := llm.PriceOf(r.llm, model); !ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	ask(r.model)
	for _, c := range r.checks {
		if c.kind == checkJudge {
			ask(c.model)
		}
	}
	return names
}
