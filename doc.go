// Package wavefold runs graphs of work in parallel, with typed state.
//
// A graph is built in Go from typed fields and plain functions (New), or read from a
// file (Engine). In both cases the whole graph is checked before anything runs. It may
// run any number of times at once, and its result does not depend on the degree of
// parallelism.
//
// The package has no global state: it has no global registry and no init function. It
// links no database and no model client. Those are kinds of nodes that a program passes
// to NewEngine.
package wavefold
