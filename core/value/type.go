package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TypeKind is a JSON-Schema type.
type TypeKind uint8

// The types that a schema can name. AnyType means that no type is given; it has no name in
// schemas.
const (
	AnyType TypeKind = iota
	StringType
	NumberType
	IntegerType
	BooleanType
	ObjectType
	ArrayType
	NullType
)

var typeNames = [...]string{"any", "string", "number", "integer", "boolean", "object", "array", "null"}

// String returns the name of the type in documents.
func (k TypeKind) String() string { return typeNames[k] }

// TypeNames lists the type names that a schema may use.
func TypeNames() []string { return slices.Clone(typeNames[1:]) }

// TypeKindOf returns the type of that name.
func TypeKindOf(name string) (TypeKind, bool) {
	i := slices.Index(typeNames[1:], name)
	return TypeKind(i + 1), i >= 0
}

// Type is a declared type: the subset of JSON Schema that state fields use. A nil *Type
// accepts everything. Every type accepts null.
type Type struct {
	Kind       TypeKind
	Items      *Type      // element type of an array; nil means any type
	Properties []Property // known members of an object
	Required   []string   // members an object must have
	Enum       []any      // allowed values; empty means all
	// Ref is the value of a $ref, which is kept and never checked.
	Ref  string
	Desc string
}

// plainTypes are the types without details, by kind.
var plainTypes = [...]Type{AnyType: {}, StringType: {Kind: StringType}, NumberType: {Kind: NumberType}, IntegerType: {Kind: IntegerType},
	BooleanType: {Kind: BooleanType}, ObjectType: {Kind: ObjectType}, ArrayType: {Kind: ArrayType}, NullType: {Kind: NullType}}

// PlainType returns the type that accepts all values of a kind. It must not be changed.
func PlainType(k TypeKind) *Type { return &plainTypes[k] }

// Property is a declared member of an object type.
type Property struct {
	Name string
	Type *Type
}

// Property returns the type of a member, and whether the member is declared.
func (t *Type) Property(name string) (*Type, bool) {
	if t == nil {
		return nil, false
	}
	for _, p := range t.Properties {
		if p.Name == name {
			return p.Type, true
		}
	}
	return nil, false
}

// Optional lists the declared members that an object may lack: if Required is given, the
// members that are not in it.
func (t *Type) Optional() []string {
	if t == nil || t.Required == nil {
		return nil
	}
	var out []string
	for _, p := range t.Properties {
		if !slices.Contains(t.Required, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}

// Disjoint reports whether two types have no value in common except null. AnyType and
// NullType are not disjoint from any type, and integers are numbers.
func (k TypeKind) Disjoint(o TypeKind) bool {
	if k == AnyType || o == AnyType || k == NullType || o == NullType || k == o {
		return false
	}
	return !(k.isNumber() && o.isNumber())
}

func (k TypeKind) isNumber() bool { return k == NumberType || k == IntegerType }

// TypeError describes the part of a value that does not have its type.
type TypeError struct {
	Path string // such as [3].price; "" means the value itself
	Want string
	Got  string
}

// Error describes the mismatch.
func (e *TypeError) Error() string {
	if e.Path == "" {
		return "want " + e.Want + ", got " + e.Got
	}
	return strings.TrimPrefix(e.Path, ".") + ": want " + e.Want + ", got " + e.Got
}

// Check returns a *TypeError for the first part of the canonical value v that does not have
// the declared type. Values are not converted: a float without a fraction is both a number
// and an integer, and a string is neither.
func (t *Type) Check(v any) error {
	if e := t.check(v); e != nil {
		return e
	}
	return nil
}

func (t *Type) check(v any) *TypeError {
	if t == nil || v == nil {
		return nil
	}
	if !t.Kind.accepts(v) {
		return &TypeError{Want: t.Kind.String(), Got: describe(v)}
	}
	if len(t.Enum) > 0 && !slices.ContainsFunc(t.Enum, func(e any) bool { return Equal(e, v) }) {
		return &TypeError{Want: "one of " + JSON(t.Enum), Got: describe(v)}
	}
	switch v := v.(type) {
	case []any:
		return t.checkItems(v)
	case *Object:
		return t.checkMembers(v)
	}
	return nil
}

func (t *Type) checkItems(list []any) *TypeError {
	if t.Items == nil {
		return nil
	}
	for i, e := range list {
		if err := t.Items.check(e); err != nil {
			err.Path = "[" + strconv.Itoa(i) + "]" + err.Path
			return err
		}
	}
	return nil
}

func (t *Type) checkMembers(o *Object) *TypeError {
	for _, name := range t.Required {
		if _, ok := o.Get(name); !ok {
			return &TypeError{Path: "." + name, Want: "a value", Got: "nothing"}
		}
	}
	for _, p := range t.Properties {
		if e, ok := o.Get(p.Name); ok {
			if err := p.Type.check(e); err != nil {
				err.Path = "." + p.Name + err.Path
				return err
			}
		}
	}
	return nil
}

// accepts reports whether the type accepts a non-null canonical value, without its elements
// or members.
func (k TypeKind) accepts(v any) bool {
	switch v := v.(type) {
	case bool:
		return k == BooleanType || k == AnyType
	case int64:
		return k == IntegerType || k == NumberType || k == AnyType
	case float64:
		return k == NumberType || k == AnyType || k == IntegerType && v == float64(int64(v))
	case string:
		return k == StringType || k == AnyType
	case []any:
		return k == ArrayType || k == AnyType
	case *Object:
		return k == ObjectType || k == AnyType
	}
	return k == AnyType
}

// describe describes a value in a message by its type and, if it is short, its JSON form.
func describe(v any) string {
	s := JSON(v)
	if len(s) > 40 {
		return TypeName(v)
	}
	return fmt.Sprintf("%s %s", TypeName(v), s)
}
