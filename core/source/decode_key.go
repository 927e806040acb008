package source

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Key describes a key that Decode reads into a field of a struct.
type Key struct {
	Name     string
	Required bool
	// OneOf lists the allowed words; if it is empty, all are allowed. Min and Max are the
	// limits of a number or duration as written in the tag, or "" if there are none.
	OneOf    []string
	Min, Max string
	// Fixed rejects templates, because the string is used as written.
	Fixed bool
	// Millis allows a duration to be a whole number of milliseconds.
	Millis bool
	// Doc is the value of the field's `doc` tag, for help and schemas.
	Doc  string
	Type reflect.Type

	index []int
}

// KeysOf lists the keys that Decode accepts for a struct, or a pointer to one, in the order
// of its fields. With its `doc` tags, the struct is the only source for a decoder, its
// schema and its documentation. KeysOf panics if a tag is malformed.
func KeysOf(v any) []Key {
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return shapeOf(t).keys
}

// KeyNames lists the names of the keys that Decode accepts for a struct, required
// ones first.
func KeyNames(v any) []string {
	keys := KeysOf(v)
	slices.SortStableFunc(keys, func(a, b Key) int { return cmp.Compare(rank(a), rank(b)) })
	return names(keys)
}

func rank(k Key) int {
	if k.Required {
		return 0
	}
	return 1
}

func names(keys []Key) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.Name
	}
	return out
}

// UnknownKeyHint returns the hint for an unknown key: the nearest name and the list of
// known keys.
func UnknownKeyHint(key string, known []string) string {
	if len(known) == 0 {
		return "no keys are known here"
	}
	if hint, _ := otherSystemsHint(key, known); hint != "" {
		return hint
	}
	hint := "known keys: " + strings.Join(known, ", ")
	if near := DidYouMean(key, known); near != "" {
		return near + " " + hint
	}
	return hint
}

// otherSystemsKeys are keys of other systems. An entry applies to mappings in which the key
// allowed is known; the hint describes the equivalent of this engine. means is the key for it, ""
// if it is in another mapping.
var otherSystemsKeys = []struct{ keys, allowed, means, hint string }{
	{"when if condition", "for_each", "", "conditions are on edges: {from: a, to: b, when: ...} under graph.edges"},
	{"needs depends depends_on dependencies after upstream requires", "for_each", "", "the order is under graph.edges: {from: a, to: b}"},
	{"retry retries", "for_each", "on_error", "write on_error: {policy: retry, attempts: 3}"},
	{"steps jobs tasks nodes", "graph", "graph", "the nodes are a list under graph.nodes, their order is under graph.edges"},
	{"edges", "graph", "graph", "edges are a list under graph.edges"},
	{"steps jobs tasks", "edges", "nodes", "the nodes are a list under graph.nodes"},
	{"backoff_ms delay_ms interval_ms delay interval retry_delay", "base_ms", "base_ms", "the first wait is base_ms, in milliseconds"},
	{"max_attempts retries limit count", "base_ms", "attempts", "write attempts, which counts the first try"},
	{"strategy merge_strategy reducer reduce", "merge", "merge", "the key is called merge"},
}

// otherSystemsHint returns the hint for a key of another system and the key that it means, or "" if
// it is not one.
func otherSystemsHint(key string, known []string) (hint, means string) {
	for _, f := range otherSystemsKeys {
		if slices.Contains(strings.Fields(f.keys), key) && slices.Contains(known, f.allowed) {
			return f.hint, f.means
		}
	}
	return "", ""
}

// Intended returns the known key that the author of an unknown key probably meant, or "".
func Intended(key string, known []string) string {
	if _, means := otherSystemsHint(key, known); means != "" {
		return means
	}
	return Nearest(key, known)
}

// KeyHint is UnknownKeyHint for the key of a mapping in a document. No known key contains a
// blank, so a key with one is usually the end of a string without quotes that a comma
// inside of braces has cut off.
func KeyHint(key string, known []string) string {
	hint := UnknownKeyHint(key, known)
	if strings.Contains(strings.TrimSpace(key), " ") {
		hint = "is it the end of a string? in {…} a string with a comma needs quotes; " + hint
	}
	return hint
}

// shape is the parsed form of the tags of a struct. Its index slices are indexes of fields.
type shape struct {
	keys            []Key
	pos, rest, lost []int
}

// shapeOf parses the tags of a struct.
func shapeOf(t reflect.Type) *shape {
	s := &shape{}
	s.add(t, nil)
	return s
}

func (s *shape) add(t reflect.Type, prefix []int) {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("core.Decode: %s is not a struct", t))
	}
	s.keys = slices.Grow(s.keys, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		index := f.Index
		if len(prefix) > 0 {
			index = slices.Concat(prefix, index)
		}
		tag, ok := f.Tag.Lookup("wavefold")
		switch {
		case !ok && f.Anonymous && f.Type.Kind() == reflect.Struct:
			s.add(f.Type, index)
		case !ok:
		case tag == ",pos":
			s.pos = index
		case tag == ",rest":
			s.rest = index
		case tag == ",lost":
			s.lost = index
		default:
			s.keys = append(s.keys, parseKey(tag, f, index))
		}
	}
}

func parseKey(tag string, f reflect.StructField, index []int) Key {
	name, options, _ := strings.Cut(tag, ",")
	k := Key{Name: name, Doc: f.Tag.Get("doc"), Type: f.Type, index: index}
	ok := name != "" && f.IsExported()
	for option := range strings.SplitSeq(options, ",") {
		word, value, _ := strings.Cut(option, "=")
		switch word {
		case "":
		case "required":
			k.Required = true
		case "ms":
			k.Millis = true
		case "fixed":
			k.Fixed = true
		case "min":
			k.Min = value
		case "max":
			k.Max = value
		case "oneof":
			k.OneOf = strings.Split(value, "|")
		default:
			ok = false
		}
	}
	if !ok {
		panic(fmt.Sprintf("core.Decode: bad tag %q on field %s", tag, f.Name))
	}
	return k
}
