package setting

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// Fixed rejects templates in strings that are used as they are written. It is the option fixed
// of source.Decode for types that decode themselves.
func Fixed(list ...source.Text) source.Diagnostics {
	var ds source.Diagnostics
	for _, t := range list {
		if strings.Contains(t.Value, "{{") {
			ds.Errorf(source.CodeBadValue, t.Pos, "a template is not allowed here: %q is used as it is written", t.Value)
		}
	}
	return ds
}
