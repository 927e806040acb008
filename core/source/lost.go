package source

import (
	"reflect"
	"slices"
)

// Lost lists the keys of a mapping about which the document says something that is
// not known: their values were refused, they are required and not there, or they are
// what a key nobody knows is most likely meant to be. All of that has been reported.
// Whoever checks a workflow says nothing about what is lost, nor about what follows
// from it.
type Lost []string

// Has reports whether a key is lost.
func (l Lost) Has(key string) bool { return slices.Contains(l, key) }

// Any reports whether one of the keys is lost.
func (l Lost) Any(keys ...string) bool { return slices.ContainsFunc(keys, l.Has) }

// Absent lists the keys that Decode accepts for a struct and that v, such a struct or
// a pointer to one, does not hold: their fields have the zero value.
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
