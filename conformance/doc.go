// Package conformance holds documents with what must become of them. README.md lists
// the behaviours they show. The package has no code of its own.
package conformance
