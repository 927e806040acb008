// Package rehearse runs a plan with scripted answers instead of handlers, in virtual time:
// it executes nothing and writes nothing, and a wait of an hour takes no time. It drives
// the same state machine as the local driver, so every decision about order, skips, retries
// and merges is the real one.
//
//	engine := wavefold.EngineOf(rehearse.Registry(registry, file)) // kinds without side effects
//	p, findings := engine.Compile(workflow, false)
//	rec, err := rehearse.Run(p, inputs, file, rehearse.Options{})
//	misses := rec.Check(file.Expect)
//
// It runs on the calling goroutine, starts no other and reads no clock.
package rehearse
