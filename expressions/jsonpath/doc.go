// Package jsonpath reads values out of the state by JSONPath: wildcards, slices,
// unions, recursive descent and filters, which for_each, items and args accept
// where a path of the expression language does not reach.
//
//	path, findings := jsonpath.Compile(core.Text{Value: "$.orders[?(@.price > 50)].id"})
//	path.Root()        // "orders", the state field it reads
//	path.From(orders)  // the ids, in document order
//
// The grammar of paths is that of github.com/ohler55/ojg/jp. Two things are done
// here: following the path, because objects keep the order of their keys, values
// of Go types are converted only where a path enters them, and descent gives
// its matches in the order of the document; and filters, which are conditions of
// the expression language on the element @. jp reads !@.a && @.b as
// !(@.a && @.b) and stops the process when a filter compares two arrays.
//
// A filter therefore has the operators, functions and missing-value rules of the
// language. A path that stands alone in it, or beside && || !, asks whether the
// value exists, as JSONPath does: [?(@.price)] keeps an element whose price is 0.
// A filter sees the element and nothing else of the state.
package jsonpath
