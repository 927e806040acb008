// Package source defines what all documents have in common, whatever their format: strings
// and positions in a file, the tree of a parsed document, decoding such a tree into Go
// structs, and findings, which are errors, warnings and hints at a position. Columns says
// what is known of a table at load, when expressions that read its columns are checked.
//
// The package knows no workflows. It opens no file, starts no goroutine and reads no clock.
package source
