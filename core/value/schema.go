package value

// Schema describes the declared fields of a state.
type Schema interface {
	// FieldType returns the type of a field, nil if it may have any value. ok is false if
	// the field is not declared.
	FieldType(name string) (t *Type, ok bool)
	// FieldNames returns the names of the fields in the order of their declarations.
	FieldNames() []string
}
