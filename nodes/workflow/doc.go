// Package workflow is the node kind "workflow", another workflow as a node of this one,
// and the kind "experience", the same in the words of another system.
//
// # Fields of workflow
//
//	file     required  the other workflow, a path below this workflow's folder
//	outputs            which of its fields fill which of ours: {ours: theirs};
//	                   without it every declared write is filled by the field of
//	                   the same name
//
// The node's args are the inputs of the inner run; apart from them it starts with
// a fresh state and sees nothing of ours. When it ends well, the fields named in
// outputs are written like those of any node; when it fails, the node fails and
// names the inner node that did. Relative paths inside the other file start from
// its own folder. With for_each there is one inner run for each item.
//
// A workflow that includes itself, directly or through others, is an error when it
// is loaded; the message prints the whole way round.
//
// # Fields of experience
//
//	impl         required  the other workflow, a file or a folder with an
//	                       experience.yaml, below this workflow's folder
//	state_scope            isolated, which is the default; shared is an error
//
// It is a node of the kind workflow without outputs: args are the inputs of the nested
// run, which has a state of its own, and a declared write is filled by the field of the
// same name; without such a field it stays as it is, which is a warning. Besides, the
// node sends {status, finalState} to its successors: "success" or "partial", and the
// fields of the nested run.
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
