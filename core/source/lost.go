package source

import (
	"reflect"
	"slices"
)

// Lost lists the keys of a mapping whose values are not known because of an error in the
// document: the value is invalid, the required key is missing, or the author probably
// meant it by an unknown key. The errors have been reported. Checks of a workflow report
// neither lost keys nor anything that follows from them.
type Lost []string

// Has reports whether a key is lost.
func (l Lost) Has(key string) bool { return slices.Contains(l, key) }

// Any reports whether one of the keys is lost.
func (l Lost) Any(keys ...string) bool { return slices.ContainsFunc(keys, l.Has) }

// Absent lists the keys that Decode accepts for a struct and whose fields are zero in v,
// which is the struct or a pointer to it.
func Absent(v any) []string {
	dst := reflect.Indirect(reflect.ValueOf(v))
	var out []string
	for _, k := range KeysOf(v) {
		if dst.FieldByIndex(k.index).IsZero() {
			out = append(out, k.Name)
		}
	}
	return out
}
