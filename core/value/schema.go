package value

// Schema describes the declared fields of a state.
type Schema interface {
	// FieldType returns the type of a field, nil if it may have any value. ok is false if
	// the field is not declared.
	FieldType(name string) (t *Type, ok bool)
	// FieldNames returns the names of the fields in the order of their declarations.
	FieldNames() []string
}

// MemberSchema is a schema with a field whose members can be named as if they were fields.
type MemberSchema interface {
	Schema
	// MembersOf returns the name of the field. A name that is not declared is a member of it.
	MembersOf() string
}
