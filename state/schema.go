package state

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// Field is a declared state field, ready to check and merge writes.
type Field struct {
	Name    string
	Type    *core.Type
	Default any // Missing when there is none
	// Refuses tells that a merge can fail although the value has the right
	// type; writes of such fields are committed in canonical order.
	Refuses bool
	// Broken marks a field whose declaration has a fault. It stands for the name
	// alone: it has no type, no default and the strategy last_wins.
	Broken bool

	goType   *core.GoType
	stream   bool
	integer  bool   // it holds integers only
	code     string // what the code of the user's is called that a merge runs, "" for none
	strategy *Strategy
	key      string
	reduce   func(old, new any) (any, error)
}

// Schema is the set of fields of a graph, in declared order.
type Schema struct {
	Fields []Field
	index  map[string]int
	names  []string
}

// NewSchema builds the schema of declared fields. Faults of single fields are
// findings; the schema is usable all the same, so that later checks can go on: such
// fields are Broken, as are those of which something is lost. guard calls the methods of Go
// types that write defaults as JSON.
func NewSchema(decls []core.FieldDecl, guard Guard) (*Schema, core.Diagnostics) {
	var ds core.Diagnostics
	s := &Schema{Fields: make([]Field, 0, len(decls)), index: make(map[string]int, len(decls))}
	for i := range decls {
		d := &decls[i]
		name := d.Name.Value
		if _, ok := s.index[name]; ok {
			ds.Errorf(core.CodeDuplicateID, d.Name.Pos, "state field %q is declared twice", name)
			continue
		}
		s.index[name] = len(s.Fields)
		s.names = append(s.names, name)
		s.Fields = append(s.Fields, newField(d, guard, &ds))
	}
	return s, ds
}

func newField(d *core.FieldDecl, guard Guard, ds *core.Diagnostics) Field {
	before := len(*ds)
	if len(d.Lost) == 0 {
		if f := soundField(d, guard, ds); len(*ds) == before {
			return f
		}
	}
	return Field{Name: d.Name.Value, Default: core.Missing, Broken: true, strategy: strategyNamed("")}
}

// soundField makes a field, unless there are findings about it.
func soundField(d *core.FieldDecl, guard Guard, ds *core.Diagnostics) Field {
	before := len(*ds)
	f := Field{Name: d.Name.Value, Type: d.Type, Default: core.Missing, goType: d.Go, key: d.Key.Value, reduce: d.Reduce}
	f.strategy = strategyNamed(d.Merge.Value)
	if d.Reduce != nil {
		f.strategy = &custom
	}
	if f.strategy == nil {
		ds.Errorf(core.CodeBadValue, d.Merge.Pos, "state field %q: unknown merge strategy %q", f.Name, d.Merge.Value).
			WithHint("%s", hintStrategy(d.Merge.Value))
		f.strategy = strategyNamed("")
	}
	f.Refuses = f.strategy.Refuses
	kind := f.kind()
	f.integer = kind == core.IntegerType
	switch {
	case f.reduce != nil:
		f.code = fmt.Sprintf("the reducer of field %q", f.Name)
	case f.goType != nil && f.goType.Foreign && f.strategy.asJSON:
		f.code = fmt.Sprintf("the merge of field %q", f.Name)
	}
	if !f.strategy.fits(kind) {
		ds.Errorf(core.CodeMergeType, d.Merge.Pos, "state field %q: merge %s cannot work on type %s", f.Name, f.strategy.Name, kind).
			WithHint("%s merges %s", f.strategy.Name, f.strategy.Wants)
	}
	if f.key != "" && f.strategy.Name != "union" {
		ds.Errorf(core.CodeBadValue, d.Key.Pos, "state field %q: key belongs to merge union, not to %s", f.Name, f.strategy.Name)
	}
	if !core.IsMissing(d.Default) && len(*ds) == before {
		v, err := f.start(d.Default, guard)
		if err != nil {
			ds.Errorf(core.CodeWrongType, d.Name.Pos, "state field %q: default: %v", f.Name, err)
		} else {
			f.Default = v
		}
	}
	return f
}

// start is Start for a default, which may be a value of any Go type.
func (f *Field) start(v any, guard Guard) (any, error) {
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
	r, own := new(result), *f // the call may go on after it was given up
	if err := guard(fmt.Sprintf("reading a value of type %T", v), func() { r.v, r.err = own.Start(v) }); err != nil {
		return nil, err
	}
	return r.v, r.err
}

// kind is the outer type the field is known to have.
func (f *Field) kind() core.TypeKind {
	if f.Type != nil {
		return f.Type.Kind
	}
	if f.goType == nil {
		return core.AnyType
	}
	return kindOfGo(f.goType.Type)
}

func kindOfGo(t reflect.Type) core.TypeKind {
	switch t.Kind() {
	case reflect.Bool:
		return core.BooleanType
	case reflect.String:
		return core.StringType
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return core.IntegerType
	case reflect.Float32, reflect.Float64:
		return core.NumberType
	case reflect.Slice, reflect.Array:
		return core.ArrayType
	case reflect.Map:
		return core.ObjectType
	}
	return core.AnyType
}

// Index returns the place of a field in Fields.
func (s *Schema) Index(name string) (int, bool) {
	i, ok := s.index[name]
	return i, ok
}

// FieldType returns the declared type of a field.
func (s *Schema) FieldType(name string) (*core.Type, bool) {
	i, ok := s.index[name]
	if !ok {
		return nil, false
	}
	return s.Fields[i].declared(), true
}

// declared is the declared type, be it one of Go, nil for anything.
func (f *Field) declared() *core.Type {
	if f.Type == nil && f.goType != nil {
		if k := f.kind(); k != core.AnyType {
			return &core.Type{Kind: k}
		}
	}
	return f.Type
}

// Code names the code of the user's that runs when values are merged, "" for none.
func (f *Field) Code() string { return f.code }

// Foreign reports whether values of the fields bring code of their own along, which
// runs where one is read from JSON or written.
func (s *Schema) Foreign() bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.goType != nil && f.goType.Foreign })
}

// FieldNames lists the fields in declared order. The slice must not be changed.
func (s *Schema) FieldNames() []string { return s.names }

// Key returns the member by which the strategy union compares objects, "" if it compares whole
// values.
func (f *Field) Key() string { return f.key }

// Strategy returns the field's merge strategy.
func (f *Field) Strategy() *Strategy { return f.strategy }

// WriteType is the type of what is written into the field, nil for anything.
func (f *Field) WriteType() *core.Type {
	if f.strategy.takesAny {
		return nil
	}
	return f.declared()
}

// MakeStream makes the field a stream: its declared type is that of the rows, and
// what it holds is an object that describes them. The maker's description and
// what its reader adds are merged.
func (f *Field) MakeStream() error {
	switch {
	case f.goType != nil:
		return fmt.Errorf("state field %q has the Go type %s and cannot be a stream", f.Name, f.goType.Type)
	case f.kind() != core.ArrayType && f.kind() != core.AnyType:
		return fmt.Errorf("a stream has the type array, state field %q is declared as %s", f.Name, f.kind())
	case f.strategy != strategyNamed(""):
		return fmt.Errorf("state field %q merges %s; a stream has one writer and merges nothing", f.Name, f.strategy.Name)
	case !core.IsMissing(f.Default):
		return fmt.Errorf("state field %q has a default and cannot be a stream", f.Name)
	}
	f.stream, f.strategy = true, &stream
	return nil
}

// MakeContext makes the field the context of a walk: the members of what is written
// replace those of the same names.
func (f *Field) MakeContext() { f.strategy = &members }

// IsStream reports whether the field is a stream.
func (f *Field) IsStream() bool { return f.stream }

// Start checks a starting value (a default or an input): it is stored as it is,
// without merging.
func (f *Field) Start(v any) (any, error) {
	if f.stream {
		return nil, errors.New("the field is a stream and takes no starting value")
	}
	if f.strategy.start != nil {
		return f.strategy.start(f, v)
	}
	return f.fit(v, f.Type)
}

// Accept checks a written value and returns it in the form the field stores:
// canonical, or the field's Go type.
func (f *Field) Accept(v any) (any, error) {
	if f.strategy.accept != nil {
		return f.strategy.accept(f, v)
	}
	return f.fit(v, f.Type)
}

func (f *Field) fit(v any, t *core.Type) (any, error) {
	if f.goType != nil && (v == nil || f.goType.Holds(v)) {
		return v, f.writable(v)
	}
	c, err := core.Canonical(v)
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

// merge folds an accepted write into the value before it (Missing when there is
// none). owned tells that nobody else extends old, so an append may use the
// spare room behind it. An error leaves old as it was.
func (f *Field) merge(old, new any, owned bool, guard Guard) (merged any, err error) {
	if f.code == "" || guard == nil {
		return f.strategy.merge(f, old, new, owned)
	}
	var r struct { // whoever was given up may still write it
		v   any
		err error
	}
	if lost := guard(f.code, func() { r.v, r.err = f.strategy.merge(f, old, new, owned) }); lost != nil {
		return nil, lost
	}
	return r.v, r.err
}

// Restore turns a value that went through JSON into the form the field stores.
func (f *Field) Restore(v any) (any, error) {
	if f.goType == nil || v == nil || core.IsMissing(v) {
		return v, nil
	}
	return f.decode(v)
}

// decode makes a value of the field's Go type. An UnmarshalJSON of that type is
// code of the user, as a reducer is.
func (f *Field) decode(v any) (decoded any, err error) {
	defer func() {
		if p := recover(); p != nil {
			decoded, err = nil, fmt.Errorf("reading %s from JSON panicked: %s", f.goType.Type, core.PanicText(p))
		}
	}()
	if decoded, err = f.goType.Decode(v); err == nil {
		err = f.writable(decoded)
	}
	return decoded, err
}

// writable reports that a value of the field's Go type has no JSON form: a state that
// holds it could not be written.
func (f *Field) writable(v any) error {
	if f.goType.Check == nil || v == nil {
		return nil
	}
	return f.goType.Check(v)
}

// callReducer runs a user's reducer. Its panic is a refusal, because a node must
// not take the process down, and so is a result that the field cannot hold.
func (f *Field) callReducer(old, new any) (merged any, err error) {
	defer func() {
		if p := recover(); p != nil {
			merged, err = nil, fmt.Errorf("the reducer of field %q panicked: %s", f.Name, core.PanicText(p))
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
