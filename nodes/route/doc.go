// Package route implements the node kind "route", with which a model picks one of several
// choices by conditions in plain language.
//
// # Fields
//
//	choices  required  the choices: a list of {when, target, name}; a choice without when
//	                   is picked if no condition holds
//	shows    optional  ids of nodes whose results the model sees, each with a list of
//	                   members of the result; an empty list means all members
//	node     optional  the node that the question is about; default the node itself
//	model    optional  the name of the model; default the model of the engine
//
// The router of the run is called once, with all conditions. It sees the inputs of the run, the
// results listed in shows, and the fields that the node reads. The node sends the index of the
// picked choice, from 0, or -1 if none was picked. Edges test it: when: $nodes.ID.output == 0.
// If the node declares one write, the field gets the same number.
//
// An error of the router ends the run. In a run whose input dryRun is true the router is not
// called, and the node sends -1.
//
// # Example
//
//	name: claims
//	state: {schema: {claim: {type: string, default: The parcel is wet.}}}
//	graph:
//	  nodes:
//	    - id: pick
//	      kind: route
//	      reads: [claim]
//	      choices:
//	        - {name: refund, when: the customer is owed money}
//	        - {name: answer}
//	    - {id: refund, kind: template, text: refunded, writes: []}
//	    - {id: answer, kind: template, text: answered, writes: []}
//	  edges:
//	    - {from: pick, to: refund, when: $nodes.pick.output == 0}
//	    - {from: pick, to: answer, when: $nodes.pick.output == 1}
package route
