// Package tool implements the node kind "tool", which runs code of the user: a Go
// function, or a file in the workflow's folder.
//
// # Fields
//
//	impl        required  the function or file, see below
//	pass_env              names of the environment variables that the program
//	                      inherits, instead of all; PATH, HOME, LANG and TMPDIR are
//	                      always inherited
//	max_output  10MB      limit on standard output and standard error of a program,
//	                      each
//
// The common keys of a node (reads, writes, args, for_each, on_error, timeout …)
// apply as for every kind.
//
// # Which code runs
//
// impl is looked up in this order:
//
//  1. A Go function registered under exactly this name. A function with the name of a
//     file ("tools/greet") replaces the file.
//  2. A file of this name below the workflow's folder.
//  3. The same name with .mjs, .js, .py or .sh added.
//  4. index.mjs or index.js in a folder of this name.
//
// If nothing is found, that is an error when the workflow is loaded, and so is a missing
// interpreter:
//
//	.mjs .js  node, through a small built-in module that imports the file and
//	          calls its default export (whether a .js file is a module or
//	          CommonJS is decided by node's own rules)
//	.py       python3, or python
//	.sh       the shell that its first line names, or sh
//	others    the file itself, which must be executable
//
// # Protocol
//
// The code gets one document:
//
//	{…args, "_state": {…reads}, "_edge_inputs": {id: value}, "$item": …, "$index": 0}
//
// $item and $index are present in a fan-out or pipeline, $iter and $loop in the
// body of a loop. A JavaScript default export gets the document as its argument and
// returns the result, or a promise of it; all other programs read the document as JSON
// from standard input and print the result as JSON on standard output:
//
//	{"state_delta": {field: value}, "edge_output": value, "metrics": {…}}
//
// Each member is optional. A program that prints nothing succeeds and writes nothing.
// Metrics are logged. Other output on standard output, an unknown key or an exit
// code other than 0 fails the node. Standard error is logged line by line, and so is
// the output of console.log in JavaScript. The program runs in the workflow's folder.
// WAVEFOLD_RUN, WAVEFOLD_NODE, WAVEFOLD_ATTEMPT and WAVEFOLD_IDEMPOTENCY_KEY in its
// environment identify its work. The key is the same in every attempt. Numbers above
// 2^53 lose digits in JavaScript.
//
// When the run is cancelled or the node's timeout expires, the program and its
// descendants get SIGTERM and five seconds later SIGKILL. A program that exits while one
// of its child processes still has standard output open fails, because the result may be
// incomplete.
//
// # Example
//
//	name: hello
//	state:
//	  schema:
//	    greeting: {type: string}
//	graph:
//	  nodes:
//	    - id: greet
//	      kind: tool
//	      impl: tools/greet
//	      args: {name: Ada}
//	      writes: [greeting]
//
// with tools/greet.mjs
//
//	export default ({ name }) => ({ state_delta: { greeting: `hello ${name}` } });
package tool
