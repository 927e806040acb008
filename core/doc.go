// Package core defines the vocabulary of workflows: the workflow as it is written in a
// document or built in Go, the contract of node kinds and handlers, statuses, failures,
// events and reports.
//
// Run-time values and their types are in package value, positions in documents and
// findings in package source.
//
// The package starts no goroutine, reads no clock and opens no file. It depends on the
// standard library only.
package core
