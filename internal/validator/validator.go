// Package validator lets nodes check values against a JSON Schema without importing the
// library for it. Package llm/jsonschema registers the validator when it is imported, and
// models import that package. Other programs do not link the library, which takes longer
// to initialize than all other packages together.
package validator

import "github.com/wavefold/wavefold/core/value"

// Import is the package that a program imports to have a validator.
const Import = "github.com/wavefold/wavefold/llm/jsonschema"

// Fault is a violation of a schema, with the path of the value.
type Fault struct {
	Path []string
	Text string
}

// Check returns the faults of a value in a fixed order, or nil if there are none. It is
// safe for concurrent use.
type Check func(v any) []Fault

// Compiler compiles a schema. It returns a Check or the faults of the schema, with paths
// inside the schema.
type Compiler func(schema *value.Object) (Check, []Fault)

var registered Compiler

// Register sets the compiler of the program. Package llm/jsonschema calls it when it is
// initialized.
func Register(c Compiler) { registered = c }

// Registered returns the compiler of the program, nil if package llm/jsonschema is not
// linked.
func Registered() Compiler { return registered }
