// Package value defines run-time values: the values of state fields, arguments, node
// outputs and expressions.
//
// A value is one of seven Go types: nil, bool, int64, float64, string, []any and *Object.
// Canonical converts any other Go value to one of them. The package also provides the
// declared types of values, deep copies, comparison, and conversion from and to JSON.
// Objects keep the order of their members.
//
// The package depends on the standard library only. It starts no goroutine and reads no
// clock.
package value
