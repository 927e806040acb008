package source

import "strings"

// Fixed rejects templates in strings that are used as written. Types that decode themselves call it
// in place of the option fixed of Decode.
func Fixed(list ...Text) Diagnostics {
	var ds Diagnostics
	for _, t := range list {
		if strings.Contains(t.Value, "{{") {
			ds.Errorf(CodeBadValue, t.Pos, "a template is not allowed here: %q is used as it is written", t.Value)
		}
	}
	return ds
}
