// Package native reads and writes wavefold's own workflow files: YAML, or JSON, with
// a name, the state, the graph and what surrounds them. docs/format.md describes every
// key.
//
//	w, findings := native.Parse("flow.yaml", data, native.OptionsFor(registry))
//	if err := findings.Err(false); err != nil {
//		return err // each finding with file, line and column
//	}
//
// Parse checks the shape of a document: keys, types, words and ranges. Whether names
// refer to something, conditions make sense and the graph can run is up to package
// plan, which checks graphs whatever they were made from. Nothing is executed and no
// file is opened.
//
// The structs in shape.go and their tags are the one table of the format: the parser's
// key lists, the JSON Schema and the tables in docs/format.md are read from it.
package native
