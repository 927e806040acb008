// Package scheduler is the local driver: it runs a plan on this machine's
// cores. It owns everything the pure machine must not know: goroutines,
// contexts, timers, the clock, the one recover around handlers.
//
// All decisions are the machine's (package machine). The driver calls handlers
// as it is told, reports what happened, and delivers events.
package scheduler
