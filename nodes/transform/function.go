package transform

import (
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// function identifies an aggregate function.
type function uint8

const (
	countRows function = iota
	countIf
	countDistinct
	sum
	minimum
	maximum
	mean
	first
	last
	list
	percentile
)

// functions lists the functions by their names in documents. pNN is not listed; see
// percent.
var functions = []struct {
	word string
	f    function
	// argument is the number of arguments, or -1 if one argument is optional.
	argument int
	numbers  bool // the argument must be a number
}{
	{"count", countRows, -1, false},
	{"count_if", countIf, 1, false},
	{"count_distinct", countDistinct, 1, false},
	{"sum", sum, 1, true},
	{"min", minimum, 1, false},
	{"max", maximum, 1, false},
	{"mean", mean, 1, true},
	{"median", percentile, 1, true},
	{"first", first, 1, false},
	{"last", last, 1, false},
	{"list", list, 1, false},
}

// percent parses the number in pNN.
func percent(word string) (int, bool) {
	digits, ok := strings.CutPrefix(word, "p")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && n <= 100 && strconv.Itoa(n) == digits
}

// call is a parsed function call. The parentheses and the argument are optional.
type call struct {
	word   string
	inner  source.Text // the text between the parentheses
	called bool        // there were parentheses
}

// parseCall parses a call such as "sum(delay)". ok is false if the parentheses are
// empty or not closed.
func parseCall(src source.Text) (c call, ok bool) {
	word, rest, called := strings.Cut(src.Value, "(")
	c.word, c.called = strings.TrimSpace(word), called
	if !called {
		return c, true
	}
	inner, closed := strings.CutSuffix(strings.TrimRight(rest, space), ")")
	trimmed := strings.TrimLeft(inner, space)
	from := len(word) + 1 + len(inner) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, space)
	c.inner = source.Cut(src, from, from+len(trimmed))
	return c, closed && trimmed != ""
}

// space lists the characters that are allowed around the parts of a call.
const space = " \t\r\n"

// aggregate compiles "function" or "function(argument)". The argument is the name of a
// column, or an expression.
func (b *builder) aggregate(src source.Text, key string, c source.Columns) (aggregate, value.TypeKind) {
	call, ok := parseCall(src)
	var a aggregate
	names := make([]string, len(functions))
	at := -1
	for i, f := range functions {
		if names[i] = f.word; f.word == call.word {
			at = i
		}
	}
	argument, numbers := 1, true
	switch p, ok := percent(call.word); {
	case ok:
		a.f, a.percent = percentile, p
	case at < 0:
		b.scope.Errorf(source.CodeExprName, src.Pos, key, "unknown function %q", call.word).
			WithHint("%s", source.UnknownKeyHint(call.word, append(names, "p90")))
		return a, value.AnyType
	default:
		f := functions[at]
		a.f, a.percent, argument, numbers = f.f, 50, f.argument, f.numbers
	}
	if !ok || !call.called && argument == 1 {
		b.scope.Errorf(source.CodeExprSyntax, src.Pos, key, "want %s(column) or %s(expression), found %q", call.word, call.word, src.Value)
		return a, value.AnyType
	}
	if !call.called {
		return a, value.IntegerType
	}
	kind := b.argument(&a.argument, call.inner, a.f == countIf, numbers, key, c)
	switch a.f {
	case countRows, countIf, countDistinct:
		kind = value.IntegerType
	case mean:
		kind = value.NumberType
	case list:
		kind = value.ArrayType
	}
	return a, kind
}

// argument compiles the argument of a function and returns its type. condition is set
// if the argument is a condition, numbers if it must be numeric.
func (b *builder) argument(a *argument, src source.Text, condition, numbers bool, key string, c source.Columns) value.TypeKind {
	var kind value.TypeKind
	if isName(src.Value) && !condition {
		b.need(c, src, key)
		a.column, kind = src.Value, c.Kind(src.Value)
	} else {
		compile := b.scope.Row
		if condition {
			compile = b.scope.Condition
		}
		if a.program = compile(src, c, key); a.program != nil {
			kind = a.program.Type()
		}
	}
	if numbers && kind != value.AnyType && kind != value.IntegerType && kind != value.NumberType {
		b.scope.Errorf(source.CodeExprType, src.Pos, key, "want numbers, %s is %s", src.Value, kind)
	}
	return kind
}

// isName reports whether an argument is just the name of a column.
func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && s != "true" && s != "false" && s != "null"
}
