// Package nodestest is the conformance suite for kinds of nodes, with helpers that their tests
// share. Every kind, of this module or of a user, should pass it:
//
//	func TestConformance(t *testing.T) {
//		nodestest.Run(t, mykind.Kind, nodestest.Case{
//			Node:  `{"impl": "greet", "writes": ["greeting"]}`,
//			Input: core.Shared{Args: value.ObjectOf("name", "Ada")},
//		})
//	}
//
// The suite tests the contract of core.Kind and core.Handler. Findings have positions,
// unknown and missing keys are errors, and compiling changes and runs nothing. A handler
// returns soon after its context ends, accepts an empty input, may be called from several
// goroutines, does not change its input, and does not keep references to its result.
package nodestest
