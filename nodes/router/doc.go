// Package router implements the node kind "router", which lets a model choose one of several labels.
// In a walk by steps each label leads to a node.
//
// # Fields
//
//	prompt   required  what the model is told, a template; or the name of a file (.md, .txt) with it
//	routes   required  the labels and the nodes that they lead to: {label: node}
//	system   optional  instructions that go before everything; or the name of a file with them
//	model    optional  name of the model (the engine's)
//	effort   optional  the reasoning effort of the model, such as low or high (the model's)
//
// The model is called once, with the prompt and the labels, and answers with one of the labels. An
// answer counts only if it is exactly a label, or a JSON object whose member choice is one; any other
// answer fails the attempt. The node sends {choice: LABEL}; if it declares one write, that field gets
// the label.
//
// In a walk by steps (core.RouterSteps) the walk continues at the node of the label. Elsewhere the
// nodes have no meaning, and edges test the output: when: $nodes.ID.output.choice == 'refund'.
//
// # Example
//
//	name: claims
//	state: {schema: {claim: {type: string, default: The parcel is wet.}}}
//	graph:
//	  nodes:
//	    - id: pick
//	      kind: router
//	      prompt: "What is to be done with this claim? {{$.claim}}"
//	      routes: {refund: refund, answer: answer}
//	    - {id: refund, kind: template, text: refunded, writes: []}
//	    - {id: answer, kind: template, text: answered, writes: []}
//	  edges:
//	    - {from: pick, to: refund, when: $nodes.pick.output.choice == 'refund'}
//	    - {from: pick, to: answer, when: $nodes.pick.output.choice == 'answer'}
package router
