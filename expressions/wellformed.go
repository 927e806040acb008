package expressions

import (
	"fmt"
	"math"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// malformed returns an error if a node cannot be part of a tree. It rejects nodes that
// the grammar allows or that were built by hand.
func malformed(n Node) error {
	var e *SyntaxError
	switch n := n.(type) {
	case *Literal:
		e = malformedLiteral(n)
	case *Path:
		e = malformedPath(n)
	case *Call:
		e = malformedCall(n)
	case *Clause:
		e = malformedClause(n)
	case *Logic:
		if len(n.Terms) < 2 || n.Op > And {
			e = syntaxError(n.From, "a chain needs two terms or more, and && or ||", "")
		}
	}
	if e == nil {
		return nil
	}
	return e
}

// bothQuotes reports whether s contains both kinds of quotes. Such a string cannot be
// written because there are no escapes.
func bothQuotes(s string) bool { return strings.Contains(s, `"`) && strings.Contains(s, "'") }

func malformedLiteral(n *Literal) *SyntaxError {
	switch v := n.Value.(type) {
	case nil, bool, int64:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return syntaxError(n.From, "not a number", "")
		}
		return nil
	case string:
		if bothQuotes(v) {
			return syntaxError(n.From, "a string cannot contain both kinds of quotes", "")
		}
		return nil
	default:
		return syntaxError(n.From, fmt.Sprintf("a %T cannot be a literal", v), "")
	}
}

// malformedPath checks the requirements of a root on its first steps.
func malformedPath(n *Path) *SyntaxError {
	switch n.Root {
	case RootState:
		return needsName(n, `"$" alone is not a value`, "write $.name for a field")
	case RootInput:
		return needsName(n, `"$input" alone is not a value`, "write $input.name")
	case RootNodes:
		return malformedNode(n)
	case RootOutcome, RootPreferredLabel:
		if len(n.Steps) > 0 {
			return syntaxError(n.Steps[0].From, n.Root.String()+" is a string and has no parts", "")
		}
	}
	return nil
}

// needsName checks that a path begins with a name.
func needsName(n *Path, alone, hint string) *SyntaxError {
	switch {
	case len(n.Steps) == 0:
		return syntaxError(n.From, alone, hint)
	case n.Steps[0].IsIndex:
		return syntaxError(n.Steps[0].From, "the first step must be a name", hint)
	}
	return nil
}

func malformedNode(n *Path) *SyntaxError {
	steps := n.Steps
	if len(steps) < 2 || steps[0].IsIndex || steps[1].IsIndex {
		return syntaxError(n.From, "$nodes needs the id of a node and what to read of it", "write $nodes.ID.status or $nodes.ID.output")
	}
	switch what := steps[1].Name; what {
	case "output":
		return nil
	case "status":
		if len(steps) > 2 {
			return syntaxError(steps[2].From, "a status is a string and has no parts", "")
		}
		return nil
	default:
		e := syntaxError(steps[1].From, "a node has no "+quoteCode(what), "write .status or .output")
		e.Code = source.CodeExprName
		return e
	}
}

func malformedCall(n *Call) *SyntaxError {
	f := functions[n.Func]
	if got := len(n.Args); got >= f.minArgs && (got <= f.maxArgs || f.maxArgs == unboundedCount) {
		return nil
	}
	want := fmt.Sprintf("%d arguments", f.minArgs)
	switch {
	case f.maxArgs == unboundedCount:
		want = "one argument or more"
	case f.maxArgs > f.minArgs:
		want = fmt.Sprintf("%d or %d arguments", f.minArgs, f.maxArgs)
	case f.minArgs == 1:
		want = "one argument"
	}
	return syntaxError(n.From, fmt.Sprintf("%s takes %s, not %d", n.Func, want, len(n.Args)), "")
}
