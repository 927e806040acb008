// Package fanin is the node kind "fan_in": it picks the best branch of the parallel node
// before it.
//
// # Fields
//
// It has none of its own.
//
// It reads parallel.results in the context of its walk: what the last parallel node left
// there, one object for each branch with its id, its status and, if the branch set one,
// a score. The best status wins: success before partial_success, retry, fail and anything
// else; among equals the higher score, a branch without one having 0; and then the id that
// comes first in the alphabet. The winner is written to the context:
//
//	parallel.fan_in.best_id       its id
//	parallel.fan_in.best_outcome  its status
//
// A branch that says no status counts as failed. The node fails when all branches have,
// and when there are no results.
//
// # Example
//
//	name: vote
//	nodes:
//	  - id: pick
//	    kind: fan_in
package fanin
