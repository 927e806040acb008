// Package state holds the data of a run: declared fields, the strategies that merge
// writes into them, and the ledger that folds the writes of many nodes in canonical
// order, regardless of the order in which they arrive.
//
// The package is pure: it starts no goroutines, reads no clock, and its results do not
// depend on map order. A Schema is immutable. A Ledger must be used by only one
// goroutine.
package state
