// Package machine decides what a run does next. It is a deterministic state
// machine: it is told what happened (Apply), it answers what to do (Next), and
// it does nothing itself. There is no goroutine, clock, randomness or I/O in
// it, and no result depends on map order; time and jitter arrive inside events.
//
//	m, err := machine.New(plan, inputs, machine.Options{})
//	for !m.Done() {
//		for _, c := range m.Next() {
//			... // run a handler, set a timer, publish an event
//		}
//		m.Apply(<-answers) // a *machine.Event
//	}
//
// One machine holds a whole run: nested workflows, pipelines and loops are
// frames inside it, a fan-out is a command over a range of items. The local
// driver, a test that shuffles answers, and a distributed engine drive the same
// machine. A Machine belongs to one goroutine at a time.
//
// The scripts in testdata show the rules by example: what happens to a machine, and the
// commands that it issues. testdata/README.md describes how to read and write them;
// go test -update rewrites their transcripts.
package machine
