// Package plan turns a workflow and a registry into a Plan: dense indexes, flat
// adjacency, compiled conditions, levels, gates. Compile is the only validator:
// it reports everything that can be known to be wrong before a run, with its
// position, all at once. What can never run is an error and is found here; what
// can run but is probably not meant is a warning, and advice a hint: package
// lint finds most of these in the finished plan.
//
//	p, findings := plan.Compile(workflow, registry, plan.Options{Lint: lint.Check})
//	if p == nil {
//		return findings
//	}
//	for _, level := range p.Describe().Levels { … }
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
// as declared. All folding of state follows this order. A gate is a vertex or a
// judge: what opens when all it waits for is resolved.
//
// # Before and after
//
// A vertex comes before another if a path leads from one to the other: over
// edges, over references to $nodes, and to units without edges from everything
// else. Two vertices without a path are ordered by their levels all the same,
// which is what makes every run give the same state, but a change elsewhere in
// the graph can turn that order round. So the findings about state ask for
// paths: two writers of a field that keeps one write only, a read of a field
// whose writers no path connects with the reader.
package plan
