// Package plan turns a workflow and a registry into a Plan: dense indexes, flat
// adjacency, compiled conditions, levels, gates. Compile is the only validator:
// all that can be known to be wrong before a run is found here, with its
// position, all at once.
//
// A Plan is immutable and safe for any number of concurrent runs. The package
// is pure: files and programs are looked up by functions the caller hands over.
//
// # Words
//
// A vertex is what the scheduler orders: a plain node, a fan-out, or a unit (a
// pipeline or loop with its members). The level of a vertex is the longest path
// to it from a root, units counted as one. Vertices are numbered in canonical
// order: by level, within a level plain nodes, then pipelines, then loops, each
// as declared. All folding of state follows this order.
package plan
