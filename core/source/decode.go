package source

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// Unmarshaler is implemented by types that decode their own part of a tree. Decode prefixes
// the messages that DecodeValue returns with the path to that part.
type Unmarshaler interface {
	DecodeValue(v *Value) Diagnostics
}

// Subject is implemented by structs that have a name of their own in messages ("node load")
// instead of their path in the tree ("graph.nodes[3]"). DecodeSubject is called before the
// struct is filled. If it returns "", the path is used.
type Subject interface {
	DecodeSubject(v *Value) string
}

// Member is one key of a mapping and its value.
type Member[T any] struct {
	Key   Text
	Value T
}

// Members is a mapping that keeps the order and the positions of its keys. Decode fills it
// in the same way as a map.
type Members[T any] []Member[T]

// Get returns the value of a key.
func (m Members[T]) Get(key string) (T, bool) {
	for _, e := range m {
		if e.Key.Value == key {
			return e.Value, true
		}
	}
	var zero T
	return zero, false
}

func (m Members[T]) isMembers() {}

// MembersOf returns the type of the values of a Members type; ok is false for other types.
// It is for code that describes the documents that Decode accepts.
func MembersOf(t reflect.Type) (value reflect.Type, ok bool) {
	if t.Kind() != reflect.Slice || !t.Implements(membersType) {
		return nil, false
	}
	return t.Elem().Field(1).Type, true
}

// located is implemented by Located of any type.
type located interface {
	parts() (value any, pos *Position)
}

func (l *Located[T]) parts() (any, *Position) { return &l.Value, &l.Pos }

// Decode decodes a tree into the value that into points to, usually a struct. It reports
// everything that does not match, at its own position: unknown, duplicate and missing keys,
// wrong types, values out of range and words that are not allowed. There is no coercion
// between numbers and strings.
//
// The keys of a struct are its fields with a tag:
//
//	Attempts source.Int      `wavefold:"attempts,required,min=1,max=20"`
//	Backoff  source.Text     `wavefold:"backoff,oneof=linear|exponential"`
//	Base     time.Duration `wavefold:"base_ms,ms"`
//	Table    source.Text     `wavefold:"table,fixed"` // no template, no {{
//	Pos      source.Position `wavefold:",pos"`  // where the mapping begins
//	More     *source.Value   `wavefold:",rest"` // keys without a field, as a mapping
//	Lost     source.Lost     `wavefold:",lost"` // keys that could not be decoded, see Lost
//
// A required key must be present and not blank: an empty string, list or map counts as
// missing. min, max, oneof and fixed apply to the scalars inside lists, maps and pointers.
// Fields without a tag are ignored. The keys of an embedded struct belong to the outer
// struct.
//
// A field may be a bool, string, integer, float, time.Duration, slice, map with string keys,
// struct, Members, Located, *Object, *Value (the tree itself), any (a run-time value), an
// Unmarshaler, or a pointer to one of these, which stays nil if the key is absent. If a key is
// absent, or its scalar is invalid, the field is not changed, so that callers can set defaults
// before. Invalid elements of a list are left out. Decode reports nothing about a value that is
// Lost. A blank value (null) is an empty list or mapping if one is expected, and an error for
// scalars. A duration is a string such as "1.5s" or, with the option ms, a whole number of
// milliseconds.
//
// Decode panics if into is not a pointer, if it contains a type that is not supported, or
// if a tag is malformed: these are programming errors.
func Decode(v *Value, into any) Diagnostics { return (&decoder{}).decode(v, into, nil) }

// Consume is Decode for a tree that the caller does not need any more. It drops each element of a list from
// the tree once the element is decoded, so that a large tree and its result are not in memory at the same
// time.
func Consume(v *Value, into any) Diagnostics { return (&decoder{consumes: true}).decode(v, into, nil) }

// Shapes keeps the tags of structs for several calls of DecodeFor, because reading them takes longer than
// decoding a small struct. The zero Shapes is empty, and nil keeps nothing. It must not be used concurrently.
type Shapes struct{ known map[reflect.Type]*shape }

// DecodeFor is like Decode for a struct, but the messages begin with subject, such as "node load".
// known are keys of v that are known to be lost, so they are not reported as missing. DecodeFor
// returns all lost keys of v.
func (s *Shapes) DecodeFor(subject string, v *Value, known Lost, into any) (Lost, Diagnostics) {
	var lost Lost
	d := &decoder{known: known, lost: &lost}
	if s != nil {
		if s.known == nil {
			s.known = map[reflect.Type]*shape{}
		}
		d.shapes = s.known
	}
	ds := d.decode(v, into, &place{subject: subject})
	return lost, ds
}

func (d *decoder) decode(v *Value, into any, at *place) Diagnostics {
	dst := reflect.ValueOf(into)
	if dst.Kind() != reflect.Pointer || dst.IsNil() {
		panic(fmt.Sprintf("source.Decode: want a pointer, got %T", into))
	}
	if v == nil {
		v = &Value{Kind: NullValue}
	}
	d.hasLost = !v.Whole()
	d.value(v, dst.Elem(), at, &Key{})
	return d.ds
}

// decoder collects the findings of one Decode. shapes caches the tags of each struct:
// parsing them again for every element of a list took a fifth of the time of a large
// document.
type decoder struct {
	ds       Diagnostics
	shapes   map[reflect.Type]*shape
	hasLost  bool // the tree is not Whole
	consumes bool // see Consume
	// known and lost are the lost keys of the struct at the root, see DecodeFor. Inside of it they
	// are nil.
	known Lost
	lost  *Lost
}

// completeness says how much of a value was decoded.
type completeness uint8

const (
	none     completeness = iota // the value is invalid
	partial                      // a part of it is invalid
	complete                     // everything, or all invalid parts are recorded in a Lost
)

// since returns none if findings have been added since there were before of them, and
// complete otherwise.
func (d *decoder) since(before int) completeness {
	if len(d.ds) > before {
		return none
	}
	return complete
}

func (d *decoder) shapeOf(t reflect.Type) *shape {
	s, ok := d.shapes[t]
	if !ok {
		s = shapeOf(t)
		if d.shapes == nil {
			d.shapes = map[reflect.Type]*shape{}
		}
		d.shapes[t] = s
	}
	return s
}

// place is the path from the root of the tree to a value.
type place struct {
	up      *place
	subject string // replaces the path up to here
	key     string
	index   int // if key is ""
}

func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case p.subject != "":
		return p.subject
	}
	up := p.up.String()
	switch {
	case p.key == "":
		return up + "[" + strconv.Itoa(p.index) + "]"
	case up == "":
		return p.key
	case p.up.subject != "":
		return up + ": " + p.key
	default:
		return up + "." + p.key
	}
}

func (d *decoder) errorf(code Code, pos Position, at *place, format string, args ...any) *Diagnostic {
	if s := at.String(); s != "" {
		return d.ds.Errorf(code, pos, "%s: %s", s, fmt.Sprintf(format, args...))
	}
	return d.ds.Errorf(code, pos, "%s", fmt.Sprintf(format, args...))
}

func (d *decoder) wrongType(v *Value, at *place, want string) *Diagnostic {
	return d.errorf(CodeWrongType, v.Pos, at, "want %s, found %s", want, v.Describe())
}

// include adds the findings of an Unmarshaler.
func (d *decoder) include(ds Diagnostics, at *place) {
	prefix := at.String()
	for _, f := range ds {
		switch {
		case prefix == "":
		case strings.HasPrefix(f.Message, "["): // the message is about an element of the list at this place
			f.Message = prefix + f.Message
		default:
			f.Message = prefix + ": " + f.Message
		}
		d.ds = append(d.ds, f)
	}
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	objectType   = reflect.TypeFor[*value.Object]()
	valueType    = reflect.TypeFor[*Value]()
	membersType  = reflect.TypeFor[interface{ isMembers() }]()
)

// value decodes v into dst; key holds the constraints on scalars.
func (d *decoder) value(v *Value, dst reflect.Value, at *place, key *Key) completeness {
	before := len(d.ds)
	switch p := dst.Addr().Interface().(type) {
	case Unmarshaler:
		if v.refused() {
			return none
		}
		ds := p.DecodeValue(v)
		d.include(ds, at)
		if ds.Failed(false) {
			return none
		}
		return d.completenessOf(v)
	case located:
		target, pos := p.parts()
		got := d.value(v, reflect.ValueOf(target).Elem(), at, key)
		if got == complete {
			*pos = v.Pos
		}
		return got
	}
	switch t := dst.Type(); {
	case t == valueType:
		dst.Set(reflect.ValueOf(v))
		return d.completenessOf(v)
	case v.refused():
		if dst.Kind() == reflect.Struct {
			shape := d.shapeOf(t)
			return shape.recordLost(dst, d.lost, names(shape.keys), none)
		}
		if dst.Kind() == reflect.Pointer {
			return d.byKind(v, dst, at, key)
		}
		return none
	case t == objectType:
		d.plainObject(v, dst, at)
		return min(d.since(before), d.completenessOf(v))
	case t == durationType:
		d.duration(v, dst, at, key)
		return d.since(before)
	case t.Kind() == reflect.Slice && t.Implements(membersType):
		return d.members(v, dst, at, key)
	default:
		return d.byKind(v, dst, at, key)
	}
}

// completenessOf says how much of a tree was read, for a tree that is not decoded further.
func (d *decoder) completenessOf(v *Value) completeness {
	if d.hasLost && !v.Whole() {
		return partial
	}
	return complete
}

func (d *decoder) byKind(v *Value, dst reflect.Value, at *place, key *Key) completeness {
	before := len(d.ds)
	switch dst.Kind() {
	case reflect.Pointer:
		target := reflect.New(dst.Type().Elem())
		got := d.value(v, target.Elem(), at, key)
		if got == complete || isUseful(target) {
			dst.Set(target)
		}
		return got
	case reflect.Interface:
		d.plain(v, dst)
		return d.completenessOf(v)
	case reflect.Struct:
		return d.object(v, dst, at)
	case reflect.Slice:
		return d.list(v, dst, at, key)
	case reflect.Map:
		return d.mapping(v, dst, at, key)
	default:
		d.scalar(v, dst, at, key)
		return d.since(before)
	}
}

// isUseful reports whether target points to a struct, whose valid fields can be used even if others
// are invalid. A Located value has only one.
func isUseful(target reflect.Value) bool {
	_, isLocated := target.Interface().(located)
	return target.Elem().Kind() == reflect.Struct && !isLocated
}

func (d *decoder) plain(v *Value, dst reflect.Value) {
	if dst.NumMethod() > 0 {
		panic(fmt.Sprintf("source.Decode: cannot decode into %s", dst.Type()))
	}
	if p := v.Plain(); p != nil {
		dst.Set(reflect.ValueOf(p))
		return
	}
	dst.SetZero()
}

func (d *decoder) plainObject(v *Value, dst reflect.Value, at *place) {
	if !d.isMapping(v, at) {
		return
	}
	if v.Kind == NullValue {
		dst.Set(reflect.ValueOf(&value.Object{}))
		return
	}
	dst.Set(reflect.ValueOf(v.Plain()))
}

// isMapping accepts a mapping, and a blank value as an empty mapping.
func (d *decoder) isMapping(v *Value, at *place) bool {
	if v.Kind == ObjectValue || v.Kind == NullValue {
		return true
	}
	d.wrongType(v, at, "a mapping")
	return false
}

func (d *decoder) list(v *Value, dst reflect.Value, at *place, key *Key) completeness {
	if v.Kind != ArrayValue && v.Kind != NullValue {
		f := d.wrongType(v, at, "a list")
		if v.Kind == StringValue {
			f.WithHint("write [%s]", v.Scalar)
		}
		return none
	}
	out := reflect.MakeSlice(dst.Type(), len(v.Items), len(v.Items))
	got, n := complete, 0
	element := &place{up: at} // one after the other
	for i, e := range v.Items {
		element.index = i
		one := d.value(e, out.Index(n), element, key)
		if one > none {
			n++
		} else {
			out.Index(n).SetZero()
		}
		got = min(got, max(one, partial))
		if d.consumes {
			v.Items[i] = nil
		}
	}
	dst.Set(out.Slice3(0, n, n))
	return got
}

func (d *decoder) mapping(v *Value, dst reflect.Value, at *place, key *Key) completeness {
	t := dst.Type()
	if t.Key().Kind() != reflect.String {
		panic(fmt.Sprintf("source.Decode: cannot decode into %s", t))
	}
	if !d.isMapping(v, at) {
		return none
	}
	out := reflect.MakeMapWithSize(t, len(v.Keys))
	got := d.keys(v)
	d.eachMember(v, at, func(i int, at *place) {
		e := reflect.New(t.Elem()).Elem()
		got = min(got, max(d.value(v.Values[i], e, at, key), partial))
		out.SetMapIndex(reflect.ValueOf(v.Keys[i].Value).Convert(t.Key()), e)
	})
	dst.Set(out)
	return got
}

func (d *decoder) members(v *Value, dst reflect.Value, at *place, key *Key) completeness {
	if !d.isMapping(v, at) {
		return none
	}
	out := reflect.MakeSlice(dst.Type(), 0, len(v.Keys))
	got := d.keys(v)
	d.eachMember(v, at, func(i int, at *place) {
		m := reflect.New(dst.Type().Elem()).Elem()
		m.Field(0).Set(reflect.ValueOf(v.Keys[i]))
		got = min(got, max(d.value(v.Values[i], m.Field(1), at, key), partial))
		out = reflect.Append(out, m)
	})
	dst.Set(out)
	return got
}

// keys says how much of the keys of a mapping was read.
func (d *decoder) keys(v *Value) completeness {
	if v.Lost {
		return partial
	}
	return complete
}

// eachMember calls f for each key of a mapping at its first occurrence, and reports the
// others.
func (d *decoder) eachMember(v *Value, at *place, f func(i int, at *place)) {
	var seen map[string]int // the first occurrences of keys, if there are many
	if len(v.Keys) > maxSearched {
		seen = make(map[string]int, len(v.Keys))
	}
	member := &place{up: at} // of one member after the other
	for i, k := range v.Keys {
		first, ok := seen[k.Value]
		if seen == nil {
			first = slices.IndexFunc(v.Keys[:i], func(o Text) bool { return o.Value == k.Value })
			ok = first >= 0
		}
		if ok {
			d.duplicate(k, v.Keys[first].Pos, at)
			continue
		}
		if seen != nil {
			seen[k.Value] = i
		}
		member.key = k.Value
		f(i, member)
	}
}

// maxSearched limits the keys that are searched one after the other.
const maxSearched = 16

func (d *decoder) duplicate(k Text, first Position, at *place) {
	f := d.errorf(CodeDuplicateKey, k.Pos, at, "key %q appears twice", k.Value)
	if first.IsValid() {
		f.WithHint("the first one is on line %d", first.Line)
	}
}

// object decodes a struct.
func (d *decoder) object(v *Value, dst reflect.Value, at *place) completeness {
	if s, ok := dst.Addr().Interface().(Subject); ok {
		if name := s.DecodeSubject(v); name != "" {
			at = &place{subject: name}
		}
	}
	shape, known, report := d.shapeOf(dst.Type()), d.known, d.lost
	d.known, d.lost = nil, nil
	if shape.pos != nil {
		dst.FieldByIndex(shape.pos).Set(reflect.ValueOf(v.Pos))
	}
	if !d.isMapping(v, at) {
		return shape.recordLost(dst, report, names(shape.keys), none)
	}
	rest := &Value{Kind: ObjectValue, Pos: v.Pos}
	var few [32]bool
	present := few[:]
	if len(shape.keys) > len(few) {
		present = make([]bool, len(shape.keys))
	}
	var lost Lost
	d.eachMember(v, at, func(i int, at *place) {
		k := slices.IndexFunc(shape.keys, func(k Key) bool { return k.Name == v.Keys[i].Value })
		if k < 0 {
			rest.Set(v.Keys[i], v.Values[i])
			return
		}
		present[k] = true
		if d.field(v.Values[i], dst, at, &shape.keys[k]) < complete {
			lost = append(lost, shape.keys[k].Name)
		}
	})
	var meant []string // by the unknown keys
	if shape.rest != nil {
		dst.FieldByIndex(shape.rest).Set(reflect.ValueOf(rest))
	} else if len(rest.Keys) > 0 {
		meant = d.unknown(rest.Keys, at, names(shape.keys))
	}
	for i, k := range shape.keys {
		switch {
		case present[i]:
		case v.Lost || slices.Contains(meant, k.Name) || known.Has(k.Name):
			lost = append(lost, k.Name)
		case k.Required:
			d.errorf(CodeMissingKey, v.Pos, at, "key %q is missing", k.Name)
			lost = append(lost, k.Name)
		}
	}
	if lost == nil && (len(rest.Keys) == 0 || shape.rest != nil) {
		return complete
	}
	return shape.recordLost(dst, report, lost, partial)
}

// recordLost records the lost keys of a struct, also in report unless it is nil. If the struct has
// no field for them, it returns got.
func (s *shape) recordLost(dst reflect.Value, report *Lost, lost Lost, got completeness) completeness {
	if report != nil {
		*report = lost
	}
	if s.lost == nil {
		return got
	}
	dst.FieldByIndex(s.lost).Set(reflect.ValueOf(lost))
	return complete
}

func (d *decoder) field(v *Value, dst reflect.Value, at *place, key *Key) completeness {
	if key.Required && !v.refused() && blank(v, key.Type) {
		d.errorf(CodeMissingKey, v.Pos, at.up, "key %q is empty", key.Name)
		return none
	}
	return d.value(v, dst.FieldByIndex(key.index), at, key)
}

// blank reports whether a required key has an empty value. An empty struct is not blank,
// because its own missing keys are reported. If any value is allowed, null is not blank.
func blank(v *Value, t reflect.Type) bool {
	for t.Kind() == reflect.Pointer && t != valueType && t != objectType {
		t = t.Elem()
	}
	if t == valueType || t.Kind() == reflect.Interface {
		return false
	}
	switch v.Kind {
	case NullValue:
		return true
	case StringValue:
		return strings.TrimSpace(v.Scalar.(string)) == ""
	case ArrayValue:
		return len(v.Items) == 0
	case ObjectValue:
		return len(v.Keys) == 0 && t.Kind() != reflect.Struct
	default:
		return false
	}
}

// unknown reports keys that are not known. It returns the known keys that the author probably meant.
func (d *decoder) unknown(keys []Text, at *place, known []string) (meant []string) {
	for _, k := range keys {
		d.errorf(CodeUnknownKey, k.Pos, at, "unknown key %q", k.Value).
			WithHint("%s", KeyHint(k.Value, known))
		if key := Intended(k.Value, known); key != "" {
			meant = append(meant, key)
		}
	}
	return meant
}
