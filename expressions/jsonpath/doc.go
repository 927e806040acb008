// Package jsonpath selects values from the state with JSONPath: wildcards, slices,
// unions, recursive descent and filters. for_each, items and args accept JSONPath where
// a path of the expression language is not sufficient.
//
//	path, findings := jsonpath.Compile(source.Text{Value: "$.orders[?(@.price > 50)].id"})
//	path.Root()        // "orders", the state field it reads
//	path.From(orders)  // the ids, in document order
//
// The grammar of paths is the grammar of github.com/ohler55/ojg/jp. This package
// evaluates the paths itself, because objects keep the order of their keys, values of
// Go types are converted only where a path enters them, and recursive descent yields
// its matches in document order. It also compiles the filters itself, as conditions of
// the expression language on the element @: jp parses !@.a && @.b as !(@.a && @.b) and
// crashes the process if a filter compares two arrays.
//
// A filter therefore has the operators, functions and missing-value rules of the
// expression language. A path used as an operand of && || or !, or as the whole filter,
// tests whether the value exists, as in JSONPath: [?(@.price)] selects an element whose
// price is 0. A filter has access only to the element, not to the rest of the state.
package jsonpath
