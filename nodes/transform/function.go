package transform

import (
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
)

// function is what an aggregate does.
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

// functions lists the words of documents; pNN is a percentile.
var functions = []struct {
	word string
	f    function
	// argument is how many arguments the function takes; -1 for none or one.
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

// percent reads the NN of pNN.
func percent(word string) (int, bool) {
	digits, ok := strings.CutPrefix(word, "p")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && n <= 100 && strconv.Itoa(n) == digits
}

// aggregate compiles "function" or "function(argument)". The argument is the
// name of a column or an expression.
func (b *builder) aggregate(src core.Text, key string, c eval.Columns) (aggregate, core.TypeKind) {
	text := strings.TrimSpace(src.Value)
	word, rest, called := strings.Cut(text, "(")
	word = strings.TrimSpace(word)
	var a aggregate
	names := make([]string, len(functions))
	at := -1
	for i, f := range functions {
		if names[i] = f.word; f.word == word {
			at = i
		}
	}
	argument, numbers := 1, true
	switch p, ok := percent(word); {
	case ok:
		a.f, a.percent = percentile, p
	case at < 0:
		b.scope.Errorf(core.CodeExprName, src.Pos, key, "unknown function %q", word).
			WithHint("%s", core.UnknownKeyHint(word, append(names, "p90")))
		return a, core.AnyType
	default:
		f := functions[at]
		a.f, a.percent, argument, numbers = f.f, 50, f.argument, f.numbers
	}
	inner, closed := strings.CutSuffix(rest, ")")
	inner = strings.TrimSpace(inner)
	if called && !closed || called && inner == "" || !called && argument == 1 {
		b.scope.Errorf(core.CodeExprSyntax, src.Pos, key, "want %s(column) or %s(expression), found %q", word, word, src.Value)
		return a, core.AnyType
	}
	if !called {
		return a, core.IntegerType
	}
	offset := strings.Index(src.Value, "(") + 1
	offset += len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
	return a, b.argument(&a, core.Cut(src, offset, offset+len(inner)), numbers, key, c)
}

// argument compiles the argument of an aggregate and returns the type of the
// result.
func (b *builder) argument(a *aggregate, src core.Text, numbers bool, key string, c eval.Columns) core.TypeKind {
	var kind core.TypeKind
	if isName(src.Value) && a.f != countIf {
		b.need(c, src, key)
		a.column, kind = src.Value, c.Kind(src.Value)
	} else {
		compile := b.scope.Row
		if a.f == countIf {
			compile = b.scope.Condition
		}
		if a.program = compile(src, c, key); a.program != nil {
			kind = a.program.Type()
		}
	}
	if numbers && kind != core.AnyType && kind != core.IntegerType && kind != core.NumberType {
		b.scope.Errorf(core.CodeExprType, src.Pos, key, "want numbers, %s is %s", src.Value, kind)
	}
	switch a.f {
	case countRows, countIf, countDistinct:
		return core.IntegerType
	case mean:
		return core.NumberType
	case list:
		return core.ArrayType
	}
	return kind
}

// isName reports whether an argument is the bare name of a column.
func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && s != "true" && s != "false" && s != "null"
}
