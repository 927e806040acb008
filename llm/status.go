package llm

import (
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
	if text := statusTexts[e.Status]; text != "" {
		s += " " + text
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// statusTexts are the names of the statuses that servers of models use; package net/http,
// which knows all of them, is linked by backends only.
var statusTexts = map[int]string{
	400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 408: "Request Timeout",
	409: "Conflict", 413: "Request Entity Too Large", 422: "Unprocessable Entity", 429: "Too Many Requests",
	500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}

// StatusCode returns the status.
func (e *StatusError) StatusCode() int { return e.Status }
