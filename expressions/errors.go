package expressions

import "github.com/wavefold/wavefold/core/source"

// SyntaxError describes why a string is not a valid expression.
type SyntaxError struct {
	// Offset is the byte offset of the problem in the expression. It is the length of
	// the expression if something is missing at the end.
	Offset int
	// Message describes the problem. Hint suggests a correction and may be empty.
	Message string
	Hint    string
	// Code is source.CodeExprSyntax, source.CodeExprName for an unknown function, root or
	// word, or source.CodeLimit.
	Code source.Code
}

// Error returns the message and the hint.
func (e *SyntaxError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

func syntaxError(offset int, message, hint string) *SyntaxError {
	return &SyntaxError{Offset: offset, Message: message, Hint: hint, Code: source.CodeExprSyntax}
}

// report adds an error to a list of findings and prefixes its message with the subject.
func report(ds *source.Diagnostics, e *SyntaxError, src source.Text, subject string) {
	ds.Errorf(e.Code, source.Inside(src, e.Offset), "%s", about(subject, e.Message)).WithHint("%s", e.Hint)
}

// about prefixes a message with its subject.
func about(subject, message string) string {
	if subject == "" {
		return message
	}
	return subject + ": " + message
}
