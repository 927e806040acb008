// Package verify checks from the events of a run whether the run followed the rules of
// the engine. It replays a log against the graph and reports every violation with its
// line.
//
//	report, err := verify.Log(p, file)
//	if err != nil {
//		return err // it is not a log of a run of this graph
//	}
//	for _, v := range report.Violations { … }
//
// Events does the same for events in memory, and a Checker accepts one event at a time.
//
// Rules that cannot be checked because the log lacks information are listed in the
// report as unchecked. The memory use is proportional to the graph and to the work in
// flight, plus two bytes for each item of a running fan-out. The log itself is never
// held in memory.
//
// The package recomputes the machine's decisions from the plan and the log alone. It
// shares no code with the machine, because a check must not depend on the code it
// checks. The exception are walks by steps, whose choices package steps makes again from
// what the log says of each visit.
//
// # Limits of a log
//
// A node that writes a field whose merge can reject values may wait for its turn to
// write after its work is done. The log does not show when such a node releases its
// slot, so these nodes are excluded from the check of limits.
//
// A cancelled run reports the cancellation only at its end. Missing events are
// therefore held back until then, and ignored if the run, or the nested run they belong
// to, was stopped.
//
// For a node of a walk, the log contains only the chosen edge and what its condition
// read. It is therefore not possible to check that no other condition was true, or
// which label the node preferred.
package verify
