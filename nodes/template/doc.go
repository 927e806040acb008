// Package template implements the node kind "template", which renders a template to a string.
//
// # Fields
//
//	text  the template; either this or file
//	file  a file with the template, below the workflow's folder, at most 1 MB
//	into  the field that gets the string; by default the only declared write; without
//	      one, the string is sent along the outgoing edges
//
// In the template {{…}} is replaced by a value: a path such as $.order.lines[0].title,
// $item, $index, $input.day, or a plain name, which is looked up in the node's
// reads, edge inputs and args. A string is inserted unchanged, any other value as JSON.
// A name that does not exist is an error; if possible, it is reported when the workflow
// is loaded.
//
// Inserted values are data: they are not run or expanded again.
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
