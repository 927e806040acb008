// Package unwritten holds the list of what a writer of a format could not write.
package unwritten

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// List is everything of a workflow that a document of some format cannot hold, in the order
// in which a writer met it.
type List source.Diagnostics

// Addf adds an entry. The message begins with its subject, such as "node a".
func (l *List) Addf(pos source.Position, format string, args ...any) {
	(*source.Diagnostics)(l).Errorf(source.CodeNotation, pos, format, args...)
}

// Err returns the list as an error, nil if it is empty. The error wraps the list as
// source.Diagnostics.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return listError(l)
}

type listError List

// Error returns the messages, one per line.
func (l listError) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.Message
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the list with its positions.
func (l listError) Unwrap() error { return source.Diagnostics(l) }
