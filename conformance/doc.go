// Package conformance holds documents with their expected results. README.md lists the
// behaviours that they show. The package contains only tests.
package conformance
