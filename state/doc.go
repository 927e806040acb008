// Package state holds the data of a run: declared fields, the strategies that
// merge writes into them, and the ledger that folds the writes of many nodes in
// one canonical order, whatever order they arrive in.
//
// The package is pure: it starts no goroutine, reads no clock, and its results
// do not depend on map order. A Schema is immutable; a Ledger belongs to one
// goroutine.
package state
