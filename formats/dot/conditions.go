package dot

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/internal/condition"
)

// ParseCondition parses the condition of an edge of a walk by outcomes. The condition is nil
// if the text is blank, and after an error.
func ParseCondition(text source.Text) (core.Condition, source.Diagnostics) {
	tree, ds := condition.Parse(text)
	if tree == nil {
		return nil, ds
	}
	return tree, ds
}
