// Package guard implements the node kind "guard", which checks conditions and lets the graph
// continue according to the result. A check that fails does not fail the node.
//
// # Fields
//
//	check    the condition, an expression; either this or checks
//	checks   several conditions: [{name, expr}]
//	on_pass  in a walk by steps: the next node, or __end__, if all conditions hold
//	on_fail  in a walk by steps: the next node, or __end__, if one does not hold
//
// The node sends an object with the members passed and failed, which are true or false, and checks,
// the result of each check by its name; check is called check. If the node declares one write, that
// field gets the same object.
//
// In a walk by steps (core.RouterSteps) the names of the checks are the guards that the visit has
// passed and failed, so that an edge on: guard_failed and the expression $guards_failed see them.
// Without on_pass or on_fail, the edges, transitions and the default of the node decide.
//
// # Example
//
//	name: claims
//	state: {schema: {amount: {type: number, default: 40}}}
//	graph:
//	  nodes:
//	    - id: limits
//	      kind: guard
//	      checks:
//	        - {name: positive, expr: $.amount > 0}
//	        - {name: small, expr: $.amount <= 100}
//	    - {id: pay, kind: template, text: "{{$.amount}}", writes: []}
//	  edges:
//	    - {from: limits, to: pay, when: $nodes.limits.output.passed}
package guard
