// Package scheduler is the local driver: it runs a plan on the cores of this machine.
// It has everything that the pure machine must not have: goroutines, contexts,
// timers, the clock, and the recovery from panics of handlers.
//
// Package machine makes all decisions. The driver calls handlers as the machine
// commands, reports what happened, and delivers events.
package scheduler
