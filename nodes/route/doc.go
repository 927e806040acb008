// Package route is the node kind "route": it lets a model pick one of several ways on, by
// conditions in plain language.
//
// # Fields
//
//	choices  required  what to choose from: a list of {when, target, name}; one without when
//	                   is chosen when no condition fits
//	shows    optional  ids of nodes whose results the model is shown, each with the members
//	                   of the result that are shown, an empty list for all
//	node     optional  the node that the question is about; default the node itself
//	model    optional  the model to ask; default the one of the engine
//
// The router of the run is asked once, with all conditions; it is shown the inputs of the
// run, what is listed in shows, and the fields of the state that the node reads. The node
// sends the place of the chosen one in the list, from 0, or -1 when none fits, so that
// edges can ask for it: when: $nodes.ID.output == 0. If the node declares one write, that
// field gets the same number.
//
// A router that breaks ends the run: nothing is guessed. In a run whose input dryRun is
// true nobody is asked, and none fits.
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
