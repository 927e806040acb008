// Package script implements the node kind "script", which runs a shell or Python program whose
// text is in the document.
//
// # Fields
//
//	script      required  the text
//	script_from           instead of script: the name of the input that contains the
//	                      text, or of a key in the context of the walk
//	language    shell     shell (sh) or python (python3)
//	stdin                 the word json passes the document that tools get; without it
//	                      standard input is empty
//	output      text      the form of standard output: text, lines, json, jsonl,
//	                      result or none, as for the kind command
//	into                  the field that gets it; by default the only declared write;
//	                      without one, in a dag, it is sent along the outgoing edges
//	pass_env              names of the environment variables that the program inherits,
//	                      instead of all; PATH, HOME, LANG and TMPDIR are always
//	                      inherited
//	max_output  10MB      limit on standard output and standard error, each
//
// The interpreter is looked up when the workflow is loaded. It runs in the workflow's
// folder, with the text as an argument (sh -c, python3 -c).
//
// The text is run unchanged: no values are inserted, so that data never becomes code. Values
// are passed in other ways. WAVEFOLD_GOAL in the environment is the run's input "goal", if there
// is one. stdin: json passes {…args, "_state": {…reads}, …}; in a walk _state.context is the
// context. WAVEFOLD_RUN, WAVEFOLD_NODE, WAVEFOLD_ATTEMPT and WAVEFOLD_IDEMPOTENCY_KEY identify
// the work.
//
// # Exit codes and errors
//
// The exit code 0 is a success. Any other exit code and a signal give the status fail, which is
// final: no retry policy applies. A timeout, more output than max_output and an output of another
// form are errors, which may be retried.
//
// In a walk both outputs are stored in the context, as command.output and command.stderr, without
// the line ends at their ends, as $(…) returns them. Of a long output the context gets the last
// 64 KB after a line that says so. A script that fails stores them too. Fields are written only
// after a success.
//
// When the run is cancelled or the node's timeout expires, the interpreter and its descendants
// get SIGTERM and five seconds later SIGKILL. Standard error is logged line by line.
//
// # Example
//
//	name: count
//	state:
//	  schema:
//	    words: {type: integer}
//	graph:
//	  nodes:
//	    - id: count
//	      kind: script
//	      script: |
//	        set -e
//	        printf 'to be or not to be' | wc -w
//	      output: json
//	      writes: [words]
package script
