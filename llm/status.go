package llm

import (
	"net/http"
	"strconv"
	"time"
)

// StatusError is the answer of a server that could not or would not do what it was asked.
// core.CategoryOf reads its status: 408, 429 and 5xx may pass, other ones will not.
type StatusError struct {
	Status int // of HTTP
	// RetryAfter is how long the server asks to wait, 0 if it does not say.
	RetryAfter time.Duration
	// Message is what the server says.
	Message string
}

// Error gives the status and what the server said.
func (e *StatusError) Error() string {
	s := "the model's server answered " + strconv.Itoa(e.Status)
	if text := http.StatusText(e.Status); text != "" {
		s += " " + text
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// StatusCode returns the status.
func (e *StatusError) StatusCode() int { return e.Status }
