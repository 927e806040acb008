package expressions

// Limits of an expression. They bound the time and memory that compiling and evaluating
// untrusted expressions can take.
const (
	// MaxLength is the maximum length of an expression in bytes.
	MaxLength = 64 << 10
	// MaxDepth is the maximum nesting depth of a tree. Parentheses, negations, calls
	// and the operands of arithmetic count. A flat chain of && or ||, of + and -, or of
	// *, / and %, is one level regardless of its length.
	MaxDepth = 200
	// MaxNodes is the maximum number of operators, operands and path steps.
	MaxNodes = 10_000
)
