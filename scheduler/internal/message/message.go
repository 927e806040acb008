// Package message formats the parts that findings about a workflow have in common.
package message

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// MaxHinted limits the number of findings with suggested names. Searching 100,000 names for the
// nearest one, for each of 100,000 misspelt names, would take minutes.
const MaxHinted = 100

// Near suggests the name that is most similar to a word, or lists the names if there are few.
func Near(word string, names []string) string {
	if s := source.DidYouMean(word, names); s != "" {
		return s
	}
	switch {
	case len(names) == 0:
		return "none is defined"
	case len(names) <= 12:
		return "defined: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d are defined", len(names))
}

// PointTo adds the position of a second thing to a finding, if the position is known.
func PointTo(d *source.Diagnostic, what string, pos source.Position) {
	if pos.IsValid() {
		d.WithHint("%s at %s", what, pos)
	}
}

// More formats the number of things that a list leaves out, such as "1 more read" or "2 more
// reads".
func More(n int, what string) string {
	s := strconv.Itoa(n) + " more " + what
	if n != 1 {
		s += "s"
	}
	return s
}

// Arrows joins the names on a path. If there are more than limit, it leaves out the middle.
func Arrows(names []string, limit int) string {
	if len(names) > limit {
		middle := "(" + More(len(names)-limit, "node") + ")"
		names = slices.Concat(names[:limit/2], []string{middle}, names[len(names)-(limit-limit/2):])
	}
	return strings.Join(names, " -> ")
}

// Edge returns the words that a finding about an edge begins with.
func Edge(e *core.Edge) string { return "edge " + known(e.From.Value) + " -> " + known(e.To.Value) }

// Node returns the words that a finding about a node begins with.
func Node(id string) string { return Unit("node", id) }

// Unit returns the words that a finding about a pipeline or loop begins with.
func Unit(what, id string) string { return what + " " + known(id) }

func known(id string) string {
	if id == "" {
		return "?"
	}
	return id
}
