// Package workflow implements the node kind "workflow", which runs another workflow as a node,
// and the kind "experience", which does the same with the keys of another system.
//
// # Fields of workflow
//
//	file     required  the other workflow, a path below this workflow's folder
//	outputs            the fields of the inner workflow that fill fields of the outer
//	                   one: {outer: inner}; without it every declared write is filled
//	                   by the field of the same name
//
// The node's args are the inputs of the inner run, which has its own state and does not see
// the outer state. If it succeeds, the fields in outputs are written like the writes of any
// node; if it fails, the node fails and names the inner node that failed. Relative paths in
// the other file are relative to its folder. With for_each there is one inner run for each
// item.
//
// A workflow that includes itself, directly or through others, is an error when it
// is loaded; the message has the whole cycle.
//
// # Fields of experience
//
//	impl         required  the other workflow, a file or a folder with an
//	                       experience.yaml, below this workflow's folder
//	state_scope            isolated, which is the default; shared is an error
//
// The kind behaves like workflow without outputs: args are the inputs of the nested run, which
// has its own state, and a declared write is filled by the field of the same name. If there is
// no such field, the write stays unfilled, which is a warning. The node also sends {status,
// finalState} to its successors: "success" or "partial", and the fields of the nested run.
//
// # Example
//
//	name: daily
//	state:
//	  schema:
//	    report: {type: string}
//	graph:
//	  nodes:
//	    - id: north
//	      kind: workflow
//	      file: region.yaml
//	      args: {region: north}
//	      outputs: {report: summary}
//	      writes: [report]
package workflow
