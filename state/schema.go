package state

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Field is a declared state field. It checks and merges writes.
type Field struct {
	Name    string
	Type    *value.Type
	Default any // value.Missing if there is none
	// MayReject reports whether a merge can fail even if the value has the right type.
	// Writes of such fields are committed in canonical order.
	MayReject bool
	// Invalid marks a field whose declaration has an error. Only its name is valid: it
	// has no type, no default and the strategy last_wins.
	Invalid bool

	goType   *value.GoType
	isMap    bool // goType is a map whose JSON form has the same members
	stream   bool
	integer  bool   // the field holds only integers
	code     string // describes the user code that merges run, for messages; empty if there is none
	strategy *Strategy
	key      string
	reduce   func(old, new any) (any, error)
}

// Schema is the set of fields of a graph, in declared order.
type Schema struct {
	Fields []Field
	keys   *value.Keys
}

// NewSchema builds a schema from declared fields. It reports errors in fields as
// findings. The schema is usable even then, so that later checks can continue: fields
// with errors, and fields with a property that could not be read, are Invalid. guard
// calls the methods of Go types that encode defaults as JSON.
func NewSchema(decls []core.FieldDecl, guard Guard) (*Schema, source.Diagnostics) {
	var ds source.Diagnostics
	s := &Schema{Fields: make([]Field, 0, len(decls))}
	names := make([]string, len(decls))
	for i := range decls {
		names[i] = decls[i].Name.Value
	}
	var err error
	var seen map[string]int // nil if no field is declared twice
	if s.keys, err = value.NewKeys(names); err != nil {
		seen = make(map[string]int, len(decls))
	}
	for i := range decls {
		d := &decls[i]
		if seen != nil {
			name := d.Name.Value
			if at, ok := seen[name]; ok {
				ds.Errorf(source.CodeDuplicateID, d.Name.Pos, "state field %q is declared twice", name)
				s.Fields[at].Invalid, s.Fields[at].Type = true, nil // which declaration is meant is not known
				continue
			}
			seen[name] = len(s.Fields)
			names[len(s.Fields)] = name
		}
		s.Fields = append(s.Fields, newField(d, guard, &ds))
	}
	if seen != nil {
		s.keys, _ = value.NewKeys(names[:len(s.Fields)])
	}
	return s, ds
}

func newField(d *core.FieldDecl, guard Guard, ds *source.Diagnostics) Field {
	before := len(*ds)
	if len(d.Lost) == 0 {
		if f := checkedField(d, guard, ds); len(*ds) == before {
			return f
		}
	}
	return Field{Name: d.Name.Value, Default: value.Missing, Invalid: true, strategy: strategyNamed("")}
}

// checkedField returns the field for a declaration, or an Invalid field if the
// declaration has errors.
func checkedField(d *core.FieldDecl, guard Guard, ds *source.Diagnostics) Field {
	before := len(*ds)
	f := Field{Name: d.Name.Value, Type: d.Type, Default: value.Missing, goType: d.Go, key: d.Key.Value, reduce: d.Reduce}
	f.strategy = strategyNamed(d.Merge.Value)
	if d.Reduce != nil {
		f.strategy = &custom
	}
	if f.strategy == nil {
		ds.Errorf(source.CodeBadValue, d.Merge.Pos, "state field %q: unknown merge strategy %q", f.Name, d.Merge.Value).
			WithHint("%s", hintStrategy(d.Merge.Value))
		f.strategy = strategyNamed("")
	}
	f.MayReject = f.strategy.MayReject
	f.isMap = f.goType != nil && isJSONMap(f.goType.Type)
	kind := f.kind()
	f.integer = kind == value.IntegerType
	switch {
	case f.reduce != nil:
		f.code = fmt.Sprintf("the reducer of field %q", f.Name)
	case f.goType != nil && f.goType.RunsUserCode && f.strategy.asJSON:
		f.code = fmt.Sprintf("the merge of field %q", f.Name)
	}
	if !f.strategy.fits(kind) {
		ds.Errorf(source.CodeMergeType, d.Merge.Pos, "state field %q: merge %s cannot work on type %s", f.Name, f.strategy.Name, kind).
			WithHint("%s merges %s", f.strategy.Name, f.strategy.Wants)
	}
	if f.key != "" && f.strategy.Name != "union" {
		ds.Errorf(source.CodeBadValue, d.Key.Pos, "state field %q: key belongs to merge union, not to %s", f.Name, f.strategy.Name)
	}
	if !value.IsMissing(d.Default) && len(*ds) == before {
		v, err := f.startGuarded(d.Default, guard)
		if err != nil {
			ds.Errorf(source.CodeWrongType, d.Name.Pos, "state field %q: default: %v", f.Name, err)
		} else {
			f.Default = v
		}
	}
	return f
}

// startGuarded is Start for a default, which may be a value of any Go type.
func (f *Field) startGuarded(v any, guard Guard) (any, error) {
	switch v.(type) {
	case nil, bool, int64, float64, string:
		return f.Start(v)
	}
	if guard == nil {
		return f.Start(v)
	}
	type result struct {
		v   any
		err error
	}
	r, field := new(result), *f // the call may continue after guard has returned
	if err := guard(fmt.Sprintf("reading a value of type %T", v), func() { r.v, r.err = field.Start(v) }); err != nil {
		return nil, err
	}
	return r.v, r.err
}

// kind returns the outer type of the field, or AnyType if it is not known.
func (f *Field) kind() value.TypeKind {
	if f.Type != nil {
		return f.Type.Kind
	}
	if f.goType == nil {
		return value.AnyType
	}
	return kindOfGo(f.goType.Type)
}

func kindOfGo(t reflect.Type) value.TypeKind {
	switch t.Kind() {
	case reflect.Bool:
		return value.BooleanType
	case reflect.String:
		return value.StringType
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return value.IntegerType
	case reflect.Float32, reflect.Float64:
		return value.NumberType
	case reflect.Slice, reflect.Array:
		return value.ArrayType
	case reflect.Map:
		return value.ObjectType
	}
	return value.AnyType
}

// Index returns the index of a field in Fields.
func (s *Schema) Index(name string) (int, bool) {
	return s.keys.Index(name)
}

// FieldType returns the declared type of a field.
func (s *Schema) FieldType(name string) (*value.Type, bool) {
	i, ok := s.keys.Index(name)
	if !ok {
		return nil, false
	}
	return s.Fields[i].declared(), true
}

// declared returns the type of the field, derived from its Go type if no other type is
// declared. It is nil if the field holds values of any type.
func (f *Field) declared() *value.Type {
	if f.Type == nil && f.goType != nil {
		if k := f.kind(); k != value.AnyType {
			return &value.Type{Kind: k}
		}
	}
	return f.Type
}

// Code describes the user code that merges run. It is empty if there is none.
func (f *Field) Code() string { return f.code }

// HasUserCode reports whether any field has a Go type with its own code for encoding or
// decoding JSON.
func (s *Schema) HasUserCode() bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.goType != nil && f.goType.RunsUserCode })
}

// FieldNames returns the fields in declared order. The slice must not be changed.
func (s *Schema) FieldNames() []string { return s.keys.Names() }

// Keys returns the names of the fields in declared order.
func (s *Schema) Keys() *value.Keys { return s.keys }

// Key returns the member by which the strategy union compares objects. It is empty if
// union compares whole values.
func (f *Field) Key() string { return f.key }

// Strategy returns the field's merge strategy.
func (f *Field) Strategy() *Strategy { return f.strategy }

// WriteType returns the type of values written to the field, or nil if they may be of
// any type.
func (f *Field) WriteType() *value.Type {
	if f.strategy.anyType {
		return nil
	}
	return f.declared()
}

// MakeStream makes the field a stream: its declared type is the type of the rows, and
// its value is an object that describes them. The descriptions by its producer and its
// reader are merged.
func (f *Field) MakeStream() error {
	switch {
	case f.goType != nil:
		return fmt.Errorf("state field %q has the Go type %s and cannot be a stream", f.Name, f.goType.Type)
	case f.kind() != value.ArrayType && f.kind() != value.AnyType:
		return fmt.Errorf("a stream has the type array, state field %q is declared as %s", f.Name, f.kind())
	case f.strategy != strategyNamed(""):
		return fmt.Errorf("state field %q merges %s; a stream has one writer and merges nothing", f.Name, f.strategy.Name)
	case !value.IsMissing(f.Default):
		return fmt.Errorf("state field %q has a default and cannot be a stream", f.Name)
	}
	f.stream, f.strategy = true, &stream
	return nil
}

// MakeContext makes the field the context of a walk: each member of a write replaces
// the member with the same name.
func (f *Field) MakeContext() { f.strategy = &members }

// IsContext reports whether the field is the context of a walk.
func (f *Field) IsContext() bool { return f.strategy == &members }

// MergesInPlace reports whether merging may change objects of the previous value instead of
// copying them. See Column.SetReads.
func (f *Field) MergesInPlace() bool { return f.strategy.inPlace }

// IsStream reports whether the field is a stream.
func (f *Field) IsStream() bool { return f.stream }

// Start checks a starting value (a default or an input), which is stored without
// merging.
func (f *Field) Start(v any) (any, error) {
	if f.stream {
		return nil, errors.New("the field is a stream and takes no starting value")
	}
	if f.strategy.start != nil {
		return f.strategy.start(f, v)
	}
	return f.fit(v, f.Type)
}

// Accept checks a written value and returns it in the form the field stores: canonical,
// or the field's Go type.
func (f *Field) Accept(v any) (any, error) {
	if f.strategy.accept != nil {
		return f.strategy.accept(f, v)
	}
	return f.fit(v, f.Type)
}

func (f *Field) fit(v any, t *value.Type) (any, error) {
	if f.goType != nil && (v == nil || f.goType.Holds(v)) {
		return v, f.writable(v)
	}
	c, err := value.Canonical(v)
	if err != nil {
		return nil, err
	}
	if err := t.Check(c); err != nil {
		return nil, err
	}
	if f.goType != nil && c != nil {
		return f.decode(c)
	}
	return c, nil
}

// merge folds an accepted write into the previous value, which is value.Missing if there
// is none. own describes the previous value, and afterwards the merged value. It is nil
// if nothing is known about the values and nothing is to be recorded. If merge returns an
// error, every value that readers can see is unchanged, and own must no longer be used.
func (f *Field) merge(old, new any, own *owned, guard Guard) (merged any, err error) {
	if f.code == "" || guard == nil {
		return f.strategy.merge(f, old, new, own)
	}
	if plain := f.strategy.mergePlain; plain != nil {
		if merged, ok := plain(f, old, new, own); ok {
			return merged, nil
		}
	}
	return f.guarded(guard, own, func(own *owned) (any, error) { return f.strategy.merge(f, old, new, own) })
}

// mergeAll folds consecutive accepted writes like merge.
func (f *Field) mergeAll(old any, writes []any, own *owned, guard Guard) (merged any, err error) {
	if f.code == "" || guard == nil {
		return f.fold(old, writes, own)
	}
	for plain := f.strategy.mergePlain; plain != nil && len(writes) > 0; writes = writes[1:] {
		merged, ok := plain(f, old, writes[0], own)
		if !ok {
			break
		}
		old = merged
	}
	if len(writes) == 0 {
		return old, nil
	}
	return f.guarded(guard, own, func(own *owned) (any, error) { return f.fold(old, writes, own) })
}

// fold is mergeAll without a guard.
func (f *Field) fold(old any, writes []any, own *owned) (any, error) {
	if all := f.strategy.mergeAll; all != nil {
		if merged, ok, err := all(f, old, writes, own); ok {
			return merged, err
		}
	}
	for _, w := range writes {
		merged, err := f.strategy.merge(f, old, w, own)
		if err != nil {
			return nil, err
		}
		own.setArray()
		old = merged
	}
	return old, nil
}

// guarded calls merge, which may run user code, with a copy of own: the call may continue
// after guard has returned.
func (f *Field) guarded(guard Guard, own *owned, merge func(own *owned) (any, error)) (any, error) {
	var r struct {
		v   any
		err error
		own owned
	}
	if own != nil {
		r.own = *own
	}
	if err := guard(f.code, func() { r.v, r.err = merge(&r.own) }); err != nil {
		return nil, err
	}
	if own != nil {
		*own = r.own
	}
	return r.v, r.err
}

// Restore converts a value decoded from JSON into the form the field stores.
func (f *Field) Restore(v any) (any, error) {
	if f.goType == nil || v == nil || value.IsMissing(v) {
		return v, nil
	}
	return f.decode(v)
}

// decode converts a canonical value into the field's Go type. Its UnmarshalJSON method
// is user code, as a reducer is.
func (f *Field) decode(v any) (decoded any, err error) {
	defer func() {
		if p := recover(); p != nil {
			decoded, err = nil, fmt.Errorf("reading %s from JSON panicked: %s", f.goType.Type, value.PanicText(p))
		}
	}()
	if decoded, err = f.goType.Decode(v); err == nil {
		err = f.writable(decoded)
	}
	return decoded, err
}

// writable returns an error if a value of the field's Go type has no JSON form, because
// then the state could not be written.
func (f *Field) writable(v any) error {
	if f.goType.Check == nil || v == nil {
		return nil
	}
	return f.goType.Check(v)
}

// callReducer calls a user's reducer. A panic is returned as an error, because a node
// must not crash the process. A result that does not fit the field is an error too.
func (f *Field) callReducer(old, new any) (merged any, err error) {
	defer func() {
		if p := recover(); p != nil {
			merged, err = nil, fmt.Errorf("the reducer of field %q panicked: %s", f.Name, value.PanicText(p))
		}
	}()
	v, err := f.reduce(old, new)
	if err != nil {
		return nil, err
	}
	if v, err = f.fit(v, f.Type); err != nil {
		return nil, fmt.Errorf("the reducer of field %q: %w", f.Name, err)
	}
	return v, nil
}
