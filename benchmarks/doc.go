// Package benchmarks measures whole runs: what a node costs in graphs of
// several shapes and sizes, beside two schedulers written by hand for nothing
// but the measurement. A claim about speed is a ratio of two figures of one
// run, because machines differ and are shared.
//
//	make bench
//
// Graph shapes are in shape.go, the references in reference.go.
package benchmarks
