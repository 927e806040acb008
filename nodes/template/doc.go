// Package template is the node kind "template": a text with values in it.
//
// # Fields
//
//	text  the template; either this or file
//	file  a file with the template, below the workflow's folder, at most 1 MB
//	into  the field that gets the text; without one, the only declared write; else
//	      it goes along the outgoing edges
//
// In the template {{…}} stands for a value: a path such as $.order.lines[0].title,
// $item, $index, $input.day, or a plain name, which is looked up among the node's
// reads, edge inputs and args. A text is put in as it is, any other value as JSON.
// Names that do not exist are errors, when the workflow is loaded wherever that can
// be known.
//
// The text is data, never code: nothing in it is run or expanded again.
//
// # Example
//
//	name: letters
//	state:
//	  schema:
//	    name: {type: string, default: Ada}
//	    orders: {type: array, default: [{title: Notes}]}
//	    letter: {type: string}
//	graph:
//	  nodes:
//	    - id: write
//	      kind: template
//	      text: "Dear {{$.name}}, {{$.orders[0].title}} is on its way."
//	      writes: [letter]
package template
