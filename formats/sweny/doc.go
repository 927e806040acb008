// Package sweny reads and writes workflows in the format of SWEny: YAML or JSON documents
// whose nodes are instructions for a model and whose edges carry conditions in plain
// language, between which a model picks. docs/formats/sweny.md describes what becomes of
// each key.
//
//	w, findings := sweny.Parse("triage.yml", data, sweny.Options{Files: os.DirFS(".")})
//	if err := findings.Err(false); err != nil {
//		return err // each finding with file, line and column
//	}
//
// A document becomes a walk that a model routes (core.RouterModel), or with the option
// Parallel a dag. Parse checks the shape of the document, its skills, its inputs and the
// files that it refers to; whether its edges lead somewhere and its rings are bounded is up
// to package plan, what a node says of checks and schemas to the kind agent. Nothing is
// executed and no address is fetched; the only files that are looked at are those that texts
// stand in, each once.
package sweny
