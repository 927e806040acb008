// Package walk holds the kinds of nodes that only direct a walk: start, exit, conditional
// and parallel. They run nothing and have no fields of their own.
//
// # Fields of start
//
// Where the walk begins. Every walk has one, and no edge leads to it.
//
// # Fields of exit
//
// Where the walk ends, if all goal gates it has passed are satisfied. Every walk has one,
// and no edge leaves it.
//
// # Fields of conditional
//
// A node that only chooses among its edges. Their conditions see the outcome, the failure class and
// the preferred label of the stage before it.
//
// # Fields of parallel
//
// A node that runs branches at the same time. Each edge without a condition leads to a branch,
// which is a single node. The walk continues at the node where the branches meet. The key join says
// when the node succeeds.
package walk
