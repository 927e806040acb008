// Package core is the vocabulary every other package of wavefold speaks: the
// workflow as it was written (with positions), values and their types, the
// contract of a node handler, statuses, events and diagnostics.
//
// core decides nothing and does nothing. It starts no goroutine, reads no clock
// and opens no file; it depends on the standard library only.
package core
