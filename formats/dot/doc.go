// Package dot reads and writes workflows in DOT, the language of Graphviz. It accepts
// the dialect of engines that run pipelines of agents (.dot and .fabro files): a
// directed graph whose nodes get their kind from a shape or type and whose edges have
// conditions, labels and weights. docs/formats/dot.md describes the dialect and the
// meaning of each attribute.
//
//	w, findings := dot.Parse("flow.dot", data, dot.Options{Files: os.DirFS(".")})
//	if err := findings.Err(false); err != nil {
//		return err // each finding with file, line and column
//	}
//
// The mode of the workflow is walk. Parse checks the syntax and the values of
// attributes. Package plan checks the graph: whether it has one start and one exit,
// whether all nodes can be reached, whether targets exist. Parse executes nothing. It
// accesses only prompt files (@file) and sub-workflows below the document's folder.
package dot
