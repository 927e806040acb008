// Package benchmarks measures whole runs: the cost of a node in graphs of several shapes
// and sizes, compared with two schedulers written only for the measurement. Claims about
// speed are ratios of two results of one run, because machines differ and are shared.
//
//	make bench
//
// Graph shapes are in shape.go, the references in reference.go.
package benchmarks
