// Package verify proves from the events of a run that it kept to the rules: it
// replays a log against the graph and reports every violation with its line.
//
//	report, err := verify.Log(p, file)
//	if err != nil {
//		return err // it is no log of a run of this graph
//	}
//	for _, v := range report.Violations { … }
//
// Events does the same for events that a listener has kept, and a Checker takes them
// one by one.
//
// What a rule needs and the log does not tell is listed in the report as not
// checked. The memory is that of the graph, of what is in flight, and two bytes
// for each item of a fan-out that runs; the log itself is never held.
//
// The package decides again, from the plan and the log alone, what the machine has
// decided. It shares no code with it: a proof must not rest on what it proves.
//
// # What a log cannot show
//
// A node that writes a field whose merge can refuse may wait for its turn to write
// when its work is done. The log does not show when it let go of its slot, so such
// nodes are left out when the limits are checked. And a run that was cancelled tells
// that only at its end; so what is missing is held back until then, and forgotten
// if the run, or the nested run it belongs to, was stopped. Of the edges out of a node of
// a walk only the one that was chosen is told, with what its condition read: that no
// other condition was true cannot be checked, nor which label a node preferred.
package verify
