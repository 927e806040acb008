// Package native reads and writes wavefold's own workflow files: YAML or JSON documents
// with a name, the state, the graph and the settings of a run. docs/format.md describes
// every key.
//
//	w, findings := native.Parse("flow.yaml", data, native.OptionsFor(registry))
//	if err := findings.Err(false); err != nil {
//		return err // each finding with file, line and column
//	}
//
// Parse checks the shape of a document: keys, types, enumerated values and ranges.
// Package plan checks graphs regardless of their origin: references, conditions, and
// whether the graph can run. Parse executes nothing and opens no file.
//
// The structs in shape.go and their tags define the format. The parser's key lists, the
// JSON Schema and the tables in docs/format.md are derived from them.
package native
