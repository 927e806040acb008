package llm

import (
	"strconv"
	"time"
)

// StatusError is the response of a server that could not or would not serve a request.
// core.CategoryOf reads its status: 408, 429 and 5xx are transient, others are not.
type StatusError struct {
	Status int // HTTP status code
	// RetryAfter is the delay that the server requests, or 0 if it requests none.
	RetryAfter time.Duration
	// Message is the error message of the server.
	Message string
}

// Error returns the status and the message of the server.
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

// statusTexts names the statuses that model servers use. Only backends link package
// net/http, which knows all of them.
var statusTexts = map[int]string{
	400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 408: "Request Timeout",
	409: "Conflict", 413: "Request Entity Too Large", 422: "Unprocessable Entity", 429: "Too Many Requests",
	500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}

// StatusCode returns the HTTP status code.
func (e *StatusError) StatusCode() int { return e.Status }
