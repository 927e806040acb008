// Package expressions is the language of conditions and values: `when`, `until`,
// sources, transforms, checks and the inside of templates. A text is parsed into
// a Tree, checked against what exists at its place (Scope) and compiled into a
// Program of typed closures, which is immutable and evaluated without
// allocation. The package knows no workflow and no state: it reads through Env.
//
//	p, findings := expressions.Compile(core.Text{Value: `length($.findings) > 0`}, scope, "edge a -> b: when")
//	if p != nil && p.Test(env) { … }
//
// The user's manual is docs/expressions.md. What follows is the exact meaning.
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
//	literal    = "null" | "true" | "false" | ["-"] number | text
//	number     = digits [ "." digits ] [ ("e" | "E") [ "+" | "-" ] digits ]
//	text       = "'" … "'" | `"` … `"`                      no escapes
//	path       = ("$" | "$name" | "outcome" | "preferred_label") { "." name | "[" ["-"] digits "]" | "[" text "]" }
//
// White space may stand between tokens; a path is one token but for the inside
// of its brackets. A number without point and exponent is an int64 and must fit.
//
// # Values
//
// A value is one of the plain values of package core or of a Go type. A path
// gives it as it is. A step into a value of a Go type, and a comparison with
// one, goes through core.Canonical at that moment; Go's scalars and the length
// and elements of a Go slice are read in place. What has no JSON form (NaN,
// infinities, integers beyond int64, functions) is missing.
//
// # Missing values
//
// A comparison with a missing value is false, but for != between it and a value
// that is there (null is). Arithmetic and functions hand it on. As a condition
// it is false, like false, every zero, the empty text and null.
//
// # Comparison
//
// == is core.Equal: numbers by value and integers exactly, arrays and objects by
// content, different types unequal. < <= > >= order two numbers (exactly, also
// an integer and a float) or two texts by code point; anything else is false.
// "a in b" is "b contains a": an array holds an equal element, a text a part, an
// object a key; anything else is false. The right side of matches is an RE2
// pattern written as a text; it matches anywhere in the left side, a text.
//
// # Arithmetic
//
// + - * % of two integers are exact integers; a result beyond 64 bits is
// missing. / of two integers is an integer when it divides evenly and a float
// otherwise. With a float on either side both are floats. Division and remainder
// by zero, and a float result that is not finite, are missing. The remainder
// takes the sign of its left operand. Operands that are no numbers give missing.
//
// # Functions
//
//   - length(x): elements of an array, code points of a text, otherwise 0, also
//     for missing.
//   - lower(x), upper(x), trim(x): of a text, by Unicode letters and white space.
//   - number(x): a number as it is; of a text the number it spells by the
//     grammar above, with white space around.
//   - string(x): a text as it is, everything else as compact JSON.
//   - abs(x): the magnitude of a number; of the least int64 missing.
//   - round(x): the nearest integer of a number, halves away from zero; missing
//     beyond 64 bits.
//   - min(x, …), max(x, …): the least and greatest of numbers and of the elements
//     of arrays of numbers, one level deep; the first of equal ones; missing for
//     no number at all.
//   - sum(x, …): their sum from left to right as + adds; 0 for none.
//   - substr(x, from, length): the characters (code points) from number from on,
//     at most length of them, all without it. A negative from counts from the
//     end. What lies outside of the text is left out; a negative length is
//     missing.
//   - split(x, separator, i): the i-th part of a text between separators, from
//     0, or counted from the end when i is negative; missing when there is none
//     and for an empty separator.
//   - replace(x, old, new): the text with each old, from the left, replaced by
//     new; an empty old is found nowhere.
//   - concat(x, …): the texts that string gives, one after the other; missing
//     when one of the arguments is null or missing.
//   - coalesce(x, …): the first argument that is neither null nor missing,
//     otherwise the last one.
//
// An argument of another type makes the result missing; so does, in min, max and
// sum, a single element that is no number, and in replace and concat a text of
// more than 64 MB. Places and lengths are whole numbers. Where the types are
// declared it is an error of Compile.
//
// # Allocation
//
// Program.Test allocates nothing, with these exceptions: lower, upper, string,
// replace and concat when they make a new text, coalesce of computed values of
// different types, and values of Go types that have to be converted.
// Program.Value allocates for a computed number or text that it has to box.
package expressions
