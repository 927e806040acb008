// Package dot reads and writes workflows in DOT, the language of Graphviz, in the
// dialect that engines for pipelines of agents use (.dot and .fabro files): a directed
// graph whose nodes get their work by shape or type and whose edges carry conditions,
// labels and weights. docs/formats/dot.md describes the dialect and what each attribute
// becomes.
//
//	w, findings := dot.Parse("flow.dot", data, dot.Options{Files: os.DirFS(".")})
//	if err := findings.Err(false); err != nil {
//		return err // each finding with file, line and column
//	}
//
// A document becomes a graph of mode walk. Parse checks the text and the values of
// attributes; whether the graph has one start and one exit, whether its nodes can be
// reached and its targets exist is up to package plan. Nothing is executed; the only
// files that are looked at are prompts (@file) and sub-workflows below the document's
// folder.
package dot
