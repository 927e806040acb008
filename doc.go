// Package wavefold runs graphs of work in parallel, with typed state.
//
// A graph is written in Go, from typed fields and plain functions (New), or read from
// a file (Engine). Either way it is checked as a whole before anything runs, may run
// any number of times at once, and gives the same result at every degree of
// parallelism.
//
// The package has no state of its own: no registry fills itself, nothing happens in
// init. It links no database and no model client; those are kinds of nodes that a
// program hands to NewEngine.
package wavefold
