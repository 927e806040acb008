package expressions

import "github.com/wavefold/wavefold/core"

// SyntaxError is why a text is no expression.
type SyntaxError struct {
	// Offset is the byte of the text where the problem is; it may be the
	// length of the text when something is missing at its end.
	Offset int
	// Message says what is wrong, Hint what to write instead; Hint may be "".
	Message string
	Hint    string
	// Code is core.CodeExprSyntax, core.CodeExprName for a function, root or
	// word that does not exist, or core.CodeLimit.
	Code core.Code
}

// Error returns the message and the hint.
func (e *SyntaxError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

func syntaxError(offset int, message, hint string) *SyntaxError {
	return &SyntaxError{Offset: offset, Message: message, Hint: hint, Code: core.CodeExprSyntax}
}

// report adds an error to a list of findings, with the subject in front.
func report(ds *core.Diagnostics, e *SyntaxError, src core.Text, subject string) {
	ds.Errorf(e.Code, core.Inside(src, e.Offset), "%s", about(subject, e.Message)).WithHint("%s", e.Hint)
}

// about prefixes a message with what it is about.
func about(subject, message string) string {
	if subject == "" {
		return message
	}
	return subject + ": " + message
}
