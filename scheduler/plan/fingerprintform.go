package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Digest returns the SHA-256, in hexadecimal, of the JSON of a value with its keys sorted. Values of Go
// types must be in their canonical form, see value.Canonical.
func Digest(v any) string { return digest(v) }

func digest(v any) string { return digestOf(canonical(nil, v)) }

// digestOf returns the SHA-256, in hexadecimal, of a canonical form.
func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// canonical appends the JSON of a value with its keys sorted.
func canonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case *value.Object:
		var few [24]string // most objects have fewer keys
		keys := append(few[:0], v.Keys()...)
		slices.Sort(keys)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			member, _ := v.Get(k)
			b = append(value.AppendString(b, k), ':')
			b = canonical(b, member)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = canonical(b, e)
		}
		return append(b, ']')
	}
	out, err := value.AppendJSON(b, v)
	if err != nil {
		return append(b, "<"+err.Error()+">"...)
	}
	return out
}

// form is the canonical form of an object while it is written. What has many parts is written directly: the
// objects that canonical needs would take most of the time of a fingerprint.
type form struct {
	b    []byte
	last string // the key that was written last
}

// newForm begins an object in the memory of another form.
func newForm(memory []byte) form { return form{b: append(memory[:0], '{')} }

// key begins a member. Keys must be written in ascending order.
func (f *form) key(name string) {
	if name <= f.last {
		panic("plan: the key " + name + " of a fingerprint follows " + f.last)
	}
	if f.last != "" {
		f.b = append(f.b, ',')
	}
	f.last = name
	f.b = append(value.AppendString(f.b, name), ':')
}

func (f *form) end() []byte {
	f.b = append(f.b, '}')
	return f.b
}

func (f *form) string(key, s string) {
	f.key(key)
	f.b = value.AppendString(f.b, s)
}

func (f *form) bool(key string, v bool) {
	f.key(key)
	f.b = strconv.AppendBool(f.b, v)
}

func (f *form) value(key string, v any) {
	f.key(key)
	f.b = canonical(f.b, v)
}

// set writes a member unless it is nil.
func (f *form) set(key string, v any) {
	if v != nil {
		f.value(key, v)
	}
}

func (f *form) tree(key string, v *source.Value) {
	f.key(key)
	f.b = canonicalTree(f.b, v)
}

// strings writes a sorted list of strings.
func (f *form) strings(key string, list []string) {
	f.key(key)
	if len(list) > 1 {
		list = slices.Sorted(slices.Values(list))
	}
	f.b = appendStrings(f.b, len(list), func(i int) string { return list[i] })
}

// appendStrings appends a list of n strings.
func appendStrings(b []byte, n int, at func(i int) string) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = value.AppendString(b, at(i))
	}
	return append(b, ']')
}

// forms writes a list of n objects, sorted by their canonical form if their order has no meaning.
func (f *form) forms(key string, n int, sorted bool, write func(i int, f *form)) {
	f.key(key)
	f.b = append(f.b, '[')
	var few [8]int
	start, ends := len(f.b), few[:0]
	for i := range n {
		inner := form{b: append(f.b, '{')}
		write(i, &inner)
		f.b = append(inner.end(), ',')
		ends = append(ends, len(f.b))
	}
	if sorted && n > 1 {
		list, all := make([][]byte, n), bytes.Clone(f.b[start:])
		from := 0
		for i, end := range ends {
			list[i], from = all[from:end-start], end-start
		}
		// No object is the beginning of another one, so the commas change no order.
		slices.SortFunc(list, bytes.Compare)
		f.b = f.b[:start]
		for _, e := range list {
			f.b = append(f.b, e...)
		}
	}
	f.b[len(f.b)-1] = ']' // the last comma
}

// canonicalTree appends the canonical form of the plain value of a tree.
func canonicalTree(b []byte, v *source.Value) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	switch v.Kind {
	case source.ArrayValue:
		b = append(b, '[')
		for i, e := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = canonicalTree(b, e)
		}
		return append(b, ']')
	case source.ObjectValue:
		return canonicalMembers(b, v)
	case source.NullValue:
		return append(b, "null"...)
	}
	return canonical(b, v.Scalar)
}

func canonicalMembers(b []byte, v *source.Value) []byte {
	var few [16]int
	order := few[:0]
	for i := range v.Keys {
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(v.Keys[i].Value, v.Keys[j].Value) })
	start := len(b)
	b = append(b, '{')
	for n, i := range order {
		if n > 0 {
			if v.Keys[order[n-1]].Value == v.Keys[i].Value {
				return canonical(b[:start], v.Plain()) // the last of several members counts
			}
			b = append(b, ',')
		}
		b = append(value.AppendString(b, v.Keys[i].Value), ':')
		b = canonicalTree(b, v.Values[i])
	}
	return append(b, '}')
}
