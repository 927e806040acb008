package expressions

import (
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

func (m *compiler) call(n *Call) code {
	args := make([]code, len(n.Args))
	operands := make([]*code, len(n.Args))
	for i, a := range n.Args {
		args[i] = m.compile(a)
		operands[i] = &args[i]
	}
	return fold(callCode(n.Func, args), operands...)
}

func callCode(f Func, args []code) code {
	x := &args[0]
	switch f {
	case FuncLength:
		return code{size: lengthCode(x)}
	case FuncLower:
		return transformCode(x, strings.ToLower)
	case FuncUpper:
		return transformCode(x, strings.ToUpper)
	case FuncTrim:
		return transformCode(x, strings.TrimSpace)
	case FuncNumber:
		return numberCode(x)
	case FuncString:
		return stringCode(x)
	case FuncAbs:
		num := x.asNumber()
		return code{num: func(env Env) number { return absolute(num(env)) }}
	case FuncRound:
		num := x.asNumber()
		return code{num: func(env Env) number { return round(num(env)) }}
	case FuncMin, FuncMax, FuncSum:
		return reduceCode(f, args)
	case FuncSubstr:
		return substrCode(args)
	case FuncSplit:
		return splitCode(args)
	case FuncReplace:
		return replaceCode(args)
	case FuncConcat:
		return concatCode(args)
	case FuncCoalesce:
		return coalesceCode(args)
	}
	return constant(value.Missing)
}

func lengthCode(x *code) func(Env) int {
	switch {
	case x.str != nil:
		text := x.str
		return func(env Env) int { s, _ := text(env); return utf8.RuneCountInString(s) }
	case x.num != nil, x.size != nil, x.test != nil:
		return func(Env) int { return 0 }
	case x.ref != nil && x.ref.isField():
		slot := x.ref.slot
		return func(env Env) int {
			v := env.Field(slot)
			if a, ok := v.([]any); ok {
				return len(a)
			}
			return lengthOf(v)
		}
	}
	value := x.asValue()
	return func(env Env) int { return lengthOf(value(env)) }
}

func transformCode(x *code, f func(string) string) code {
	text := x.asString()
	return code{str: func(env Env) (string, bool) {
		s, ok := text(env)
		if !ok {
			return "", false
		}
		return f(s), true
	}}
}

func numberCode(x *code) code {
	if x.num != nil || x.size != nil {
		return code{num: x.asNumber()}
	}
	if x.str != nil {
		text := x.str
		return code{num: func(env Env) number {
			s, _ := text(env)
			return numberIn(s)
		}}
	}
	value := x.asValue()
	return code{num: func(env Env) number {
		v := value(env)
		if s, ok := stringOf(v); ok {
			return numberIn(s)
		}
		return numberOf(v)
	}}
}

func stringCode(x *code) code {
	if x.str != nil {
		return code{str: x.str}
	}
	value := x.asValue()
	return code{str: func(env Env) (string, bool) { return toString(value(env)) }}
}

// reduceCode compiles min, max and sum. They operate on the numbers among all arguments
// and on the elements of array arguments, one level deep. If any element is not a
// number, the result is missing.
func reduceCode(f Func, args []code) code {
	parts := make([]func(Env, reduction) reduction, len(args))
	for i := range args {
		parts[i] = reducePart(&args[i])
	}
	return code{num: func(env Env) number {
		r := reduction{f: f}
		for _, p := range parts {
			if r = p(env, r); r.failed {
				return number{}
			}
		}
		if !r.hasValue && f == FuncSum {
			return whole(0)
		}
		return r.n
	}}
}

func reducePart(x *code) func(Env, reduction) reduction {
	if x.num != nil || x.size != nil {
		num := x.asNumber()
		return func(env Env, r reduction) reduction { return r.add(num(env)) }
	}
	value := x.asValue()
	return func(env Env, r reduction) reduction { return r.addValue(value(env)) }
}

// reduction is the accumulator of a min, max or sum call. It is passed by value so that
// it stays off the heap.
type reduction struct {
	f        Func
	n        number
	hasValue bool // at least one number was added; n is set
	failed   bool // an operand was not a number, or a sum overflowed
}

func (r reduction) addValue(v any) reduction {
	a, ok := v.([]any)
	if !ok && !plain(v) && numberOf(v).kind == noNumber {
		a, ok = canonical(v).([]any)
	}
	if !ok {
		return r.add(numberOf(v))
	}
	for _, e := range a {
		if r = r.add(numberOf(e)); r.failed {
			break
		}
	}
	return r
}

func (r reduction) add(n number) reduction {
	switch {
	case n.kind == noNumber:
		r.failed = true
	case !r.hasValue:
		r.n, r.hasValue = n, true
	case r.f == FuncSum:
		r.n = add(r.n, n)
		r.failed = r.n.kind == noNumber
	case r.f == FuncMin && compareNumbers(n, r.n) < 0, r.f == FuncMax && compareNumbers(n, r.n) > 0:
		r.n = n
	}
	return r
}
