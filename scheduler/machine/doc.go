// Package machine decides what a run does next. It is a deterministic state machine: Apply tells
// it what happened, Next returns what to do, and it does nothing itself. It has no goroutine,
// clock, randomness or I/O, and no result depends on the order of a map. Time and jitter arrive
// in events.
//
//	m, err := machine.New(plan, inputs, machine.Options{})
//	for !m.Done() {
//		for _, c := range m.Next() {
//			... // run a handler, set a timer, publish an event
//		}
//		m.Apply(<-answers) // a *machine.Event
//	}
//
// One machine holds a whole run: nested workflows, pipelines and loops are frames inside it, and
// a fan-out is a command over a range of items. The local driver, a test that shuffles answers
// and a distributed engine drive the same machine. A Machine must be used by one goroutine at a
// time.
//
// The scripts in testdata show the rules by example: the events that a machine receives and the
// commands that it issues. testdata/README.md describes how to read and write them; go test
// -update rewrites their transcripts.
package machine
