// Package nodestest is the conformance suite for kinds of nodes, and the small
// tools that their tests share. Every kind, ours or a user's, should pass
//
//	func TestConformance(t *testing.T) {
//		nodestest.Run(t, mykind.Kind, nodestest.Case{
//			Node:  `{"impl": "greet", "writes": ["greeting"]}`,
//			Input: core.Shared{Args: value.ObjectOf("name", "Ada")},
//		})
//	}
//
// The suite holds a kind to the contract of core.Kind and core.Handler: findings
// carry positions, unknown and missing keys are errors, compiling changes nothing
// and runs nothing; a handler returns soon after its context ends, survives an
// input without anything in it, may be called from many goroutines, changes
// nothing it was given and shares nothing of what it returns.
package nodestest
