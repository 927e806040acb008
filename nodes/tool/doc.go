// Package tool is the node kind "tool": a node whose work is done by code of the
// user, a Go function or a file beside the workflow.
//
// # Fields
//
//	impl        required  what does the work, see below
//	pass_env              names of the variables that the program gets of the
//	                      environment, in place of all; PATH, HOME, LANG and
//	                      TMPDIR in any case
//	max_output  10MB      limit on what a file prints, on standard output and
//	                      standard error each
//
// The common keys of a node (reads, writes, args, for_each, on_error, timeout …)
// apply as for every kind.
//
// # Which code runs
//
// impl is looked up in this order:
//
//  1. A Go function registered under exactly this name. A function may be named
//     like a file ("tools/greet") and then replaces it.
//  2. A file of this name below the workflow's folder.
//  3. The same name with .mjs, .js, .py or .sh added.
//  4. index.mjs or index.js in a folder of this name.
//
// Nothing found is an error when the workflow is loaded, and so is a missing
// interpreter:
//
//	.mjs .js  node, through a small built-in module that imports the file and
//	          calls its default export (whether a .js file is a module or
//	          CommonJS is decided by node's own rules)
//	.py       python3, or python
//	.sh       the shell its first line names, or sh
//	others    the file itself, which must be executable
//
// # Protocol
//
// The code is given one document:
//
//	{…args, "_state": {…reads}, "_edge_inputs": {id: value}, "$item": …, "$index": 0}
//
// $item and $index are there in a fan-out or pipeline, $iter and $loop in the
// body of a loop. A JavaScript default export gets it as its argument and returns
// the result, or a promise of it; all other programs read it as JSON on standard
// input and print the result as JSON on standard output:
//
//	{"state_delta": {field: value}, "edge_output": value, "metrics": {…}}
//
// Each part is optional, and printing nothing is a success that writes nothing.
// Metrics are logged. Anything else on standard output, an unknown key or an exit
// code other than 0 fails the node. Standard error goes to the log line by line;
// in JavaScript console.log does too. The program runs in the workflow's folder
// and finds the identity of its work in WAVEFOLD_RUN, WAVEFOLD_NODE,
// WAVEFOLD_ATTEMPT and WAVEFOLD_IDEMPOTENCY_KEY, which is the same in every
// attempt. Numbers above 2^53 lose digits in JavaScript, as they do everywhere
// there.
//
// When the run is cancelled or the node's timeout is over, the program and all it
// started get SIGTERM and five seconds later SIGKILL. A program that ends while
// something it started still holds standard output fails, since the result may be
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
