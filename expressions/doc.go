// Package expressions implements the language of conditions and values that is used in
// `when`, `until`, sources, transforms, checks and templates. An expression is parsed
// into a Tree, checked against the names that are in scope (Scope) and compiled into a
// Program of typed closures. A Program is immutable and is evaluated without
// allocation. The package does not depend on workflows or state; it reads values
// through Env.
//
//	p, findings := expressions.Compile(source.Text{Value: `length($.findings) > 0`}, scope, "edge a -> b: when")
//	if p != nil && p.Test(env) { … }
//
// The user's manual is docs/expressions.md. The exact semantics are as follows.
//
// # Grammar
//
//	expression = conjunction { "||" conjunction }
//	conjunction = comparison { "&&" comparison }
//	comparison = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "contains" | "matches") sum ]
//	sum        = product { ("+" | "-") product }
//	product    = prefix { ("*" | "/" | "%") prefix }
//	prefix     = { "!" } operand
//	operand    = literal | path | name "(" expression { "," expression } ")" | "(" expression ")"
//	literal    = "null" | "true" | "false" | ["-"] number | string
//	number     = digits [ "." digits ] [ ("e" | "E") [ "+" | "-" ] digits ]
//	string     = "'" … "'" | `"` … `"`                      no escapes
//	path       = ("$" | "$name" | "outcome" | "preferred_label") { "." name | "[" ["-"] digits "]" | "[" quoted "]" }
//	quoted     = "'" … "'" | `"` … `"`                      with the escapes of JSON, and \'
//
// White space is allowed between tokens. A path is one token, so white space is allowed
// in it only inside brackets. A number without a decimal point and an exponent is an
// int64 and must be in range.
//
// # Values
//
// A value is one of the plain values of package core/value or a value of a Go type. A
// path evaluates to the value unchanged. A step into a value of a Go type, and a
// comparison with one, convert it with value.Canonical at that moment; Go scalars and
// the length and elements of a Go slice are read in place. A value without a JSON form
// (NaN, infinities, integers outside the range of int64, functions) is missing.
//
// # Missing values
//
// A comparison with a missing value is false, except that != is true if the other value
// is present; null is present. Arithmetic and functions propagate a missing value. As a
// condition, a missing value is false, as are false, every zero, the empty string and
// null.
//
// # Comparison
//
// == is value.Equal: numbers are compared by value, and integers exactly; arrays and
// objects are compared by content; values of different types are unequal. < <= > >=
// order two numbers (exactly, even an integer and a float) or two strings by code
// point; for other operands they are false. "a in b" means "b contains a": an array
// contains an equal element, a string a substring, an object a key; for other operands
// the result is false. The right operand of matches is an RE2 pattern written as a
// string literal. It matches anywhere in the left operand, which must be a string.
//
// # Arithmetic
//
// + - * % of two integers are exact integers; a result that overflows int64 is missing.
// / of two integers is an integer if the division leaves no remainder, and a float
// otherwise. If either operand is a float, the operation is done on floats. Division
// and remainder by zero are missing, as is a float result that is not finite. The
// remainder has the sign of its left operand. If an operand is not a number, the result
// is missing.
//
// # Functions
//
//   - length(x): the number of elements of an array or code points of a string; 0 for
//     other values and if x is missing.
//   - lower(x), upper(x), trim(x): the string x converted to lower or upper case, or
//     without leading and trailing white space, as defined by Unicode.
//   - number(x): a number unchanged; for a string, the number it represents in the
//     grammar above, with optional white space around it.
//   - string(x): a string unchanged; any other value as compact JSON.
//   - abs(x): the absolute value of a number; missing for the least int64.
//   - round(x): the integer nearest to a number, with halves rounded away from zero;
//     missing if it overflows int64.
//   - min(x, …), max(x, …): the smallest and largest of the given numbers and of the
//     elements of array arguments, one level deep. Of equal numbers, the first is
//     returned. Missing if there is no number.
//   - sum(x, …): the sum of these numbers, added from left to right with +; 0 if there
//     are none.
//   - substr(x, from, length): the substring that begins at code point number from and
//     has at most length code points; without length, the rest of the string. A
//     negative from counts from the end. The part of the range outside the string is
//     ignored. Missing if length is negative.
//   - split(x, separator, i): part number i of a string split at separator, counted
//     from 0, or from the end if i is negative. Missing if there is no such part or the
//     separator is empty.
//   - replace(x, old, new): the string x with every occurrence of old replaced by new,
//     from left to right. If old is empty, x is unchanged.
//   - concat(x, …): the concatenation of the arguments, each converted as by string.
//     Missing if any argument is null or missing.
//   - coalesce(x, …): the first argument that is neither null nor missing, or the last
//     argument if there is none.
//
// If an argument has another type, the result is missing; this includes a single
// element of min, max or sum that is not a number. The result of replace and concat is
// missing if it exceeds 64 MB. Indexes and lengths must be integers. If the declared
// types rule an argument out, Compile reports an error.
//
// # Allocation
//
// Program.Test does not allocate, with these exceptions: lower, upper, string, replace
// and concat when they create a new string, coalesce of computed values of different
// types, and values of Go types that have to be converted. Program.Value allocates if
// it has to box a computed number or string.
package expressions
