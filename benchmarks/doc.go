// Package benchmarks measures whole runs and writes the tables of docs/performance.md.
// Claims about speed are ratios of two results of one run, because machines differ and are
// shared.
//
//	make figures
//
// To add a row, add a [Figure] to the [Table] of its subject, in one of the test files:
// shapes, nodes, items, merges, walks, events, commands, streams or build. A new table needs a line in tables
// (figures_test.go) and a place in docs/performance.md. The row appears there when the
// tables are measured the next time.
package benchmarks
