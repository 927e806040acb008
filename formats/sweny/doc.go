// Package sweny reads and writes workflows in the format of SWEny: YAML or JSON
// documents whose nodes are instructions for a model and whose edges have conditions in
// natural language. A model chooses between the edges. docs/formats/sweny.md describes
// the meaning of each key.
//
//	w, findings := sweny.Parse("triage.yml", data, sweny.Options{Files: os.DirFS(".")})
//	if err := findings.Err(false); err != nil {
//		return err // each finding with file, line and column
//	}
//
// A document becomes a walk that a model routes (core.RouterModel), or with the option
// Parallel a dag. Parse checks the shape of the document, its skills, its inputs and
// the files that it refers to. Package plan checks that its edges lead to nodes and
// that its cycles are bounded. The kind agent checks evaluations and schemas. Parse
// executes nothing and fetches no URL. It reads only the files that the document names
// as sources, each once.
package sweny
