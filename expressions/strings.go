package expressions

import (
	"strings"
	"unicode/utf8"
)

// maxStringSize limits the size in bytes of strings made by replace and concat, which
// can produce a large string from small arguments.
const maxStringSize = 64 << 20

// integer returns the number as an int64. ok is false if it is not integral.
func (n number) integer() (int64, bool) {
	n = wholeOf(n)
	return n.int(), n.kind == wholeNumber
}

// wholeOf returns a float with an integral value as an integer.
func wholeOf(n number) number {
	if n.kind != floatNumber {
		return n
	}
	if r := round(n); r.kind == wholeNumber && compareNumbers(r, n) == 0 {
		return r
	}
	return number{}
}

func substrCode(args []code) code {
	text, from := args[0].asString(), args[1].asNumber()
	if len(args) == 2 {
		return code{str: func(env Env) (string, bool) {
			s, ok := text(env)
			i, whole := from(env).integer()
			if !ok || !whole {
				return "", false
			}
			start, _ := charOffset(s, i)
			return s[start:], true
		}}
	}
	length := args[2].asNumber()
	return code{str: func(env Env) (string, bool) {
		s, ok := text(env)
		i, whole := from(env).integer()
		n, counts := length(env).integer()
		if !ok || !whole || !counts || n < 0 {
			return "", false
		}
		return substr(s, i, n), true
	}}
}

// substr returns the characters of s from number i on, at most n of them. Positions
// before the start of s count towards n: substr("abc", -5, 3) is "a", because two of
// the three positions precede the string.
func substr(s string, i, n int64) string {
	start, before := charOffset(s, i)
	s = s[start:]
	if n -= before; n <= 0 {
		return ""
	}
	end, _ := charOffset(s, n)
	return s[:end]
}

// charOffset returns the offset of character number i, counted from 0, or from the end
// if i is negative. The offset stays within s; before is the number of characters by
// which a negative i exceeds the length of s.
func charOffset(s string, i int64) (offset int, before int64) {
	if i < 0 {
		if i += int64(utf8.RuneCountInString(s)); i < 0 {
			return 0, -i
		}
	}
	for ; i > 0 && offset < len(s); i-- {
		if s[offset] < utf8.RuneSelf {
			offset++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[offset:])
		offset += size
	}
	return offset, 0
}

func splitCode(args []code) code {
	text, separator, index := args[0].asString(), args[1].asString(), args[2].asNumber()
	return code{str: func(env Env) (string, bool) {
		s, ok := text(env)
		sep, there := separator(env)
		i, whole := index(env).integer()
		if !ok || !there || !whole || sep == "" {
			return "", false
		}
		if i < 0 {
			return lastPart(s, sep, -i)
		}
		return part(s, sep, i)
	}}
}

// part returns part number i of s split at sep, counted from 0.
func part(s, sep string, i int64) (string, bool) {
	if i < 0 {
		return "", false
	}
	for ; i > 0; i-- {
		_, rest, found := strings.Cut(s, sep)
		if !found {
			return "", false
		}
		s = rest
	}
	s, _, _ = strings.Cut(s, sep)
	return s, true
}

// lastPart returns part number i from the end, counted from 1. Overlapping separators
// are matched from the start of s, as in part.
func lastPart(s, sep string, i int64) (string, bool) {
	if i < 0 { // the negation of the least int64 overflows
		return "", false
	}
	return part(s, sep, int64(strings.Count(s, sep))-(i-1))
}

func replaceCode(args []code) code {
	text, old, by := args[0].asString(), args[1].asString(), args[2].asString()
	return code{str: func(env Env) (string, bool) {
		s, ok := text(env)
		o, there := old(env)
		b, given := by(env)
		if !ok || !there || !given {
			return "", false
		}
		return replace(s, o, b)
	}}
}

func replace(s, old, by string) (string, bool) {
	if old == "" {
		return s, true
	}
	if more := len(by) - len(old); more > 0 && len(s)+strings.Count(s, old)*more > maxStringSize {
		return "", false
	}
	return strings.ReplaceAll(s, old, by), true
}

// concatCode compiles concat. A null argument makes the result missing, because a
// string that contains "null" is never intended.
func concatCode(args []code) code {
	parts := make([]func(Env) (string, bool), len(args))
	for i := range args {
		parts[i] = concatPart(&args[i])
	}
	return code{str: func(env Env) (string, bool) {
		var room [128]byte
		buf := room[:0]
		for _, p := range parts {
			s, ok := p(env)
			if !ok || len(buf)+len(s) > maxStringSize {
				return "", false
			}
			buf = append(buf, s...)
		}
		return string(buf), true
	}}
}

func concatPart(x *code) func(Env) (string, bool) {
	if x.str != nil {
		return x.str
	}
	value := x.asValue()
	return func(env Env) (string, bool) {
		v := value(env)
		if isNull(v) {
			return "", false
		}
		return toString(v)
	}
}

// coalesceCode compiles coalesce. If all arguments are computed numbers, or all are
// computed strings, none of them is boxed.
func coalesceCode(args []code) code {
	numbers, texts := true, true
	for i := range args {
		x := &args[i]
		_, isText := x.konst.(string)
		numbers = numbers && (x.num != nil || x.size != nil || x.fixed && numberOf(x.konst).kind != noNumber)
		texts = texts && (x.str != nil || x.fixed && isText)
	}
	switch {
	case numbers:
		return code{num: first(args, (*code).asNumber, func(n number) bool { return n.kind != noNumber })}
	case texts:
		return coalesceStrings(args)
	}
	return code{value: first(args, (*code).asValue, func(v any) bool { return present(v) && !isNull(v) })}
}

// first returns a function that evaluates the arguments in order and returns the first
// value that is present, or the last value if there is none.
func first[T any](args []code, as func(*code) func(Env) T, isPresent func(T) bool) func(Env) T {
	list := make([]func(Env) T, len(args))
	for i := range args {
		list[i] = as(&args[i])
	}
	return func(env Env) (v T) {
		for _, f := range list {
			if v = f(env); isPresent(v) {
				break
			}
		}
		return v
	}
}

func coalesceStrings(args []code) code {
	list := make([]func(Env) (string, bool), len(args))
	for i := range args {
		list[i] = args[i].asString()
	}
	return code{str: func(env Env) (string, bool) {
		for _, f := range list {
			if s, ok := f(env); ok {
				return s, true
			}
		}
		return "", false
	}}
}
