// Package schedulertest tests the scheduler by properties. No production package imports
// it. It contains:
//
//   - [Oracle], a naive interpreter that runs a graph level by level and node by
//     node. It defines the meaning of a dag workflow; it was written from the rules
//     and shares no code with the machine;
//   - [WalkOracle], the same for walks: one visit after the other, with the
//     branches of parallel nodes in the order in which they ended;
//   - [Generate] and [GenerateWalk], which generate random graphs whose nodes derive
//     their writes from their whole input, so that a wrong input anywhere changes
//     the final state;
//   - [Reduce], which makes a failing graph small, and the String methods, which
//     print it;
//   - [Hostile], a driver that drops, repeats and reorders answers and reloads the
//     machine, all of which a machine must tolerate;
//   - [Verify], which checks order, limits and skip rules in an event log.
//
// The mutants of testdata/mutants.txtar measure the quality of the properties; `make
// mutants` builds the machine with one mutant at a time and requires that the properties
// fail.
//
// A failing property prints its seed; run it again with
//
//	go test ./scheduler/internal/schedulertest -run Property -seed=N
package schedulertest
