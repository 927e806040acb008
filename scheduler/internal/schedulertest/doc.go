// Package schedulertest proves the scheduler. It holds what its tests need and
// no production package imports:
//
//   - [Oracle], a naive interpreter that runs a graph wave by wave and node by
//     node. It is the meaning of a dag workflow, written from the rules and
//     sharing no code with the machine;
//   - [WalkOracle], the same for walks: one visit after the other, with the
//     branches of parallel nodes in the order in which they ended;
//   - [Generate] and [GenerateWalk], random graphs whose nodes compute their writes from all they
//     saw, so that a wrong view anywhere changes the final state;
//   - [Reduce], which makes a failing graph small, and the String methods,
//     which print it;
//   - [Hostile], a driver that loses, doubles, reorders and reloads everything
//     a machine may be expected to survive;
//   - [Check], which proves order, limits and skip rules from an event log.
//
// The mistakes of testdata/mutants.txtar measure the properties; `make mutants` builds the
// machine with one mistake at a time and requires that the properties fail.
//
// A failing property prints its seed; run it again with
//
//	go test ./scheduler/internal/schedulertest -run Property -seed=N
package schedulertest
