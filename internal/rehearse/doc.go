// Package rehearse runs a plan with scripted answers instead of handlers, in
// virtual time: nothing is executed, nothing is written, and a wait of an hour
// takes no time. It drives the same pure machine as the local driver, so every
// decision about order, skips, retries and merges is the real one.
//
//	engine := wavefold.EngineOf(rehearse.Registry(registry, file)) // kinds without side effects
//	p, findings := engine.Compile(workflow, false)
//	rec, err := rehearse.Run(p, inputs, file, rehearse.Options{})
//	misses := rec.Check(file.Expect)
//
// It belongs to one goroutine, starts none and reads no clock.
package rehearse
