package expressions

// Limits of a text. They bound the time and the memory that compiling and
// evaluating can take, whoever wrote the text.
const (
	// MaxLength is the longest text, in bytes.
	MaxLength = 64 << 10
	// MaxDepth is the deepest nesting of a tree: parentheses, negations, calls
	// and the operands of arithmetic count; a flat chain of && or ||, or of + and -, or
	// of *, / and %, is one level however long it is.
	MaxDepth = 200
	// MaxNodes is the largest number of operators, operands and path steps.
	MaxNodes = 10_000
)
