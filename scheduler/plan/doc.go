// Package plan compiles a workflow and a registry into a Plan: dense indexes, flat
// adjacency lists, compiled conditions, levels, gates. Compile is the only validator:
// it reports every error that can be known before a run, with its position, all at
// once. What can never run is an error and is found here. What can run but was
// probably not meant is a warning, and advice is a hint: package lint finds most of
// these in the finished plan.
//
//	p, findings := plan.Compile(workflow, registry, plan.Options{Lint: lint.Check})
//	if p == nil {
//		return findings
//	}
//	for _, level := range p.Describe().Levels { … }
//
// A Plan is immutable and safe for any number of concurrent runs. The package has no
// side effects: the caller passes functions that look up files and programs.
//
// # Words
//
// A vertex is what the scheduler orders: a plain node, a fan-out, or a unit, which is
// a pipeline or loop with its members. The level of a vertex is the length of the
// longest path to it from a root, where a unit counts as one vertex. Vertices are
// numbered in canonical order: by level, and within a level plain nodes, then
// pipelines, then loops, each in declared order. Writes to the state are merged in
// this order. A gate is something that opens when everything it waits for is
// resolved: a vertex, an else group or a branch of a join.
//
// # Before and after
//
// A vertex comes before another if a path leads from the one to the other: along
// edges, along references to $nodes, and from every other vertex to the units
// without edges. Two vertices that no path connects are still ordered by their
// levels, so every run gives the same state. But a change elsewhere in the graph can
// reverse that order. Therefore the findings about the state require paths: between
// two writers of a field that keeps only one write, and from the writers of a field
// to its readers.
package plan
