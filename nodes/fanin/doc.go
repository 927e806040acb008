// Package fanin implements the node kind "fan_in", which picks the best branch of the previous
// parallel node.
//
// # Fields
//
// The kind adds no keys to the keys of every node.
//
// The node reads parallel.results in the context of its walk. The last parallel node stored one
// object for each branch there, with its id, its status and, if the branch set one, a score. The
// best status wins, in the order success, partial_success, retry, fail, any other. Among equal
// statuses the higher score wins, where a missing score is 0, and among equal scores the id that
// sorts first. The winner is stored in the context:
//
//	parallel.fan_in.best_id       its id
//	parallel.fan_in.best_outcome  its status
//
// A branch without a status counts as failed. The node fails if all branches failed or if there
// are not results.
//
// # Example
//
//	name: vote
//	nodes:
//	  - id: pick
//	    kind: fan_in
package fanin
