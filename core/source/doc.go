// Package source defines what the formats of documents have in common: strings and
// positions in a file, the tree of a parsed document, decoding such a tree into Go structs,
// and findings, which are errors, warnings and hints at a position. Columns describes the
// rows of a table at compile time, for checks of expressions that read its columns.
//
// The package knows nothing about workflows. It opens no file, starts no goroutine and
// reads no clock.
package source
