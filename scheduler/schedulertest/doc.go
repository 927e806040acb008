// Package schedulertest proves the scheduler. It holds what its tests need and
// no production package imports:
//
//   - [Oracle], a naive interpreter that runs a graph wave by wave and node by
//     node. It is the meaning of a dag workflow, written from the rules and
//     sharing no code with the machine;
//   - [Generate], random graphs whose nodes compute their writes from all they
//     saw, so that a wrong view anywhere changes the final state;
//   - [Reduce], which makes a failing graph small, and [Graph.String], which
//     prints it;
//   - [Hostile], a driver that loses, doubles, reorders and reloads everything
//     a machine may be expected to survive;
//   - [Check], which proves order, limits and skip rules from an event log.
//
// A failing property prints its seed; run it again with
//
//	go test ./scheduler/schedulertest -run Property -seed=N
package schedulertest
