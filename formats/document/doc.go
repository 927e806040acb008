// Package document reads YAML and JSON text into positioned trees and prints trees
// as YAML. It knows nothing of workflows; the formats built on YAML share it, and
// nothing else in the project imports a YAML library.
//
//	var config Config
//	findings, ok := document.Decode("flow.yaml", data, &config)
//
// The text is data, so the reading is strict where YAML is loose:
//
//   - Keys are texts and stand once. Merge keys (<<) are applied.
//   - Only true and false are booleans; yes, no, on, off and dates are texts.
//   - Whole numbers keep all 64 bits. A number that does not fit, NaN, infinities and
//     numbers with a leading zero are errors, never something close.
//   - Tags other than the standard scalar ones are errors.
//   - One document per file, at most 10 MB, nested at most 100 deep, with at most
//     100,000 values that come from aliases.
package document
