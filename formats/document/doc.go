// Package document parses YAML and JSON into positioned trees and prints trees as YAML.
// It knows nothing about workflows. The formats based on YAML share it, and no other
// package imports a YAML library.
//
//	var config Config
//	findings, ok := document.Decode("flow.yaml", data, &config)
//
// Documents are data, so Parse is stricter than YAML:
//
//   - Keys are strings and unique. Merge keys (<<) are applied.
//   - Only true and false are booleans; yes, no, on, off and dates are strings.
//   - Integers keep all 64 bits. A number out of range, NaN, infinities and numbers
//     with a leading zero are errors. Numbers are never rounded silently.
//   - Tags other than the standard scalar tags are errors.
//   - A file holds one document of at most 10 MB, nested at most 100 deep, with at most
//     100,000 values that come from aliases.
package document
