package parsed

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math"
	"math/bits"
	"reflect"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// codec encodes and decodes the values of a type. decode sets a zero value.
type codec struct {
	encode func(e *encoder, v reflect.Value)
	decode func(d *decoder, v reflect.Value)
}

// builder makes the codecs of types. It hashes what the encoded form depends on.
type builder struct {
	known map[reflect.Type]*codec
	types hash.Hash
}

// layout is the version of what this package writes for a type.
const layout = 1

func newBuilder(salt string) *builder {
	b := &builder{known: map[reflect.Type]*codec{}, types: sha256.New()}
	b.hash("layout %d, salt %q\n", layout, salt)
	return b
}

func (b *builder) hash(format string, args ...any) { fmt.Fprintf(b.types, format, args...) }

// of returns the codec of a type.
func (b *builder) of(t reflect.Type) (codec, error) {
	switch c := b.known[t]; {
	case c != nil && c.encode != nil:
		return *c, nil
	case c != nil: // t contains itself: its codec is there when it is used
		return codec{func(e *encoder, v reflect.Value) { c.encode(e, v) }, func(d *decoder, v reflect.Value) { c.decode(d, v) }}, nil
	}
	c := new(codec)
	b.known[t] = c
	b.hash("%s %s\n", t, t.Kind())
	var err error
	*c, err = b.make(t)
	return *c, err
}

func (b *builder) make(t reflect.Type) (codec, error) {
	switch t {
	case reflect.TypeFor[source.Position]():
		return codec{encodePosition, decodePosition}, nil
	case reflect.TypeFor[*value.Object](), reflect.TypeFor[any]():
		return codec{encodeAny, decodeAny}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return codec{func(e *encoder, v reflect.Value) { e.bool(v.Bool()) }, func(d *decoder, v reflect.Value) { v.SetBool(d.bool()) }}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return codec{func(e *encoder, v reflect.Value) { e.int(v.Int()) }, func(d *decoder, v reflect.Value) { v.SetInt(d.int()) }}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return codec{func(e *encoder, v reflect.Value) { e.uint(v.Uint()) }, func(d *decoder, v reflect.Value) { v.SetUint(d.uint()) }}, nil
	case reflect.Float64:
		return codec{func(e *encoder, v reflect.Value) { e.uint(math.Float64bits(v.Float())) }, func(d *decoder, v reflect.Value) { v.SetFloat(math.Float64frombits(d.uint())) }}, nil
	case reflect.String:
		return codec{func(e *encoder, v reflect.Value) { e.string(v.String()) }, func(d *decoder, v reflect.Value) { v.SetString(d.string()) }}, nil
	case reflect.Struct:
		return b.structOf(t)
	case reflect.Pointer:
		return b.pointerOf(t)
	case reflect.Slice:
		return b.sliceOf(t)
	case reflect.Func, reflect.Interface, reflect.Map:
		return codec{
			func(e *encoder, v reflect.Value) { e.fail(fmt.Errorf("a value of %s has no parsed form", t)) },
			func(d *decoder, _ reflect.Value) { d.fail() },
		}, nil
	}
	return codec{}, fmt.Errorf("values of %s have no parsed form", t)
}

// structOf returns the codec of a struct: which fields are not zero, and these fields.
func (b *builder) structOf(t reflect.Type) (codec, error) {
	fields := make([]codec, t.NumField())
	if len(fields) > 64 {
		return codec{}, fmt.Errorf("%s has more than 64 fields", t)
	}
	for i := range fields {
		f := t.Field(i)
		if !f.IsExported() {
			return codec{}, fmt.Errorf("%s has the field %s, which cannot be set", t, f.Name)
		}
		b.hash("%s %s\n", f.Name, f.Type)
		var err error
		if fields[i], err = b.of(f.Type); err != nil {
			return codec{}, err
		}
	}
	return codec{
		func(e *encoder, v reflect.Value) {
			var set uint64
			for i := range fields {
				if !v.Field(i).IsZero() {
					set |= 1 << i
				}
			}
			e.uint(set)
			for ; set != 0; set &= set - 1 {
				i := bits.TrailingZeros64(set)
				fields[i].encode(e, v.Field(i))
			}
		},
		func(d *decoder, v reflect.Value) {
			for set := d.uint(); set != 0; set &= set - 1 {
				i := bits.TrailingZeros64(set)
				if i >= len(fields) {
					d.fail()
					return
				}
				fields[i].decode(d, v.Field(i))
			}
		},
	}, nil
}

// pointerOf returns the codec of a pointer that is not nil. What several pointers have in common is encoded for
// each of them.
func (b *builder) pointerOf(t reflect.Type) (codec, error) {
	elem, err := b.of(t.Elem())
	return codec{
		func(e *encoder, v reflect.Value) {
			if v.IsNil() {
				e.fail(fmt.Errorf("a list with a nil %s has no parsed form", t))
				return
			}
			elem.encode(e, v.Elem())
		},
		func(d *decoder, v reflect.Value) {
			if d.enter() {
				to := reflect.New(t.Elem())
				elem.decode(d, to.Elem())
				v.Set(to)
				d.depth--
			}
		},
	}, err
}

// sliceOf returns the codec of a slice that is not nil.
func (b *builder) sliceOf(t reflect.Type) (codec, error) {
	c := t.Elem()
	pointers := c.Kind() == reflect.Pointer && c != reflect.TypeFor[*value.Object]()
	if pointers {
		c = c.Elem()
	}
	elem, err := b.of(c)
	at := func(v reflect.Value, i int) reflect.Value {
		if v = v.Index(i); pointers {
			return v.Elem()
		}
		return v
	}
	return codec{
		func(e *encoder, v reflect.Value) {
			e.uint(uint64(v.Len()))
			for i := range v.Len() {
				x := at(v, i)
				if !x.IsValid() {
					e.fail(fmt.Errorf("a list with a nil %s has no parsed form", t.Elem()))
					return
				}
				elem.encode(e, x)
			}
		},
		func(d *decoder, v reflect.Value) {
			n := d.length()
			if !d.enter() {
				return
			}
			list := reflect.MakeSlice(t, n, n)
			v.Set(list)
			all := list
			if pointers { // all elements in one piece of memory
				all = reflect.MakeSlice(reflect.SliceOf(c), n, n)
			}
			for i := 0; i < n && d.err == nil; i++ {
				x := all.Index(i)
				elem.decode(d, x)
				if pointers {
					list.Index(i).Set(x.Addr())
				}
			}
			d.depth--
		},
	}, err
}
