// Package script is the node kind "script": a program whose text stands in the document,
// for the shell or for Python.
//
// # Fields
//
//	script      required  the text
//	script_from           in place of script: the name of the input, else of the key in
//	                      the context of the walk, that holds the text
//	language    shell     shell (sh) or python (python3)
//	stdin                 the word json hands over the document that tools get; without
//	                      it standard input is empty
//	output      text      what becomes of standard output: text, lines, json, jsonl,
//	                      result or none, as for the kind command
//	into                  the field that gets it; without one, the only declared
//	                      write; else, in a dag, it goes along the outgoing edges
//	pass_env              names of the variables that the program gets of the
//	                      environment, in place of all; PATH, HOME, LANG and
//	                      TMPDIR in any case
//	max_output  10MB      limit on standard output and standard error, each
//
// The interpreter is looked up when the workflow is loaded. It runs in the workflow's
// folder, with the text as an argument (sh -c, python3 -c).
//
// The text is run as it stands: nothing is put into it, so that data never becomes code.
// Values reach it otherwise. WAVEFOLD_GOAL in its environment is the run's input "goal",
// if there is one; stdin: json hands over {…args, "_state": {…reads}, …}, and in a walk
// _state.context is what the nodes before left. WAVEFOLD_RUN, WAVEFOLD_NODE,
// WAVEFOLD_ATTEMPT and WAVEFOLD_IDEMPOTENCY_KEY tell which piece of work it does.
//
// # How it ends
//
// The exit code 0 is a success. Any other one, and a signal, is the status fail, which is
// final: the script has spoken, and no retry policy asks it again. What keeps it from
// speaking is an error, which may be tried again: a timeout, more output than max_output,
// an output that is not of its form.
//
// In a walk both outputs go to the context: command.output and command.stderr, without
// the line ends after them, as $(…) gives them, and of a long one the last 64 KB behind a
// line that says so. A script that fails leaves them, too. Fields are written after a
// success only.
//
// When the run is cancelled or the node's timeout is over, the interpreter and all it
// started get SIGTERM and five seconds later SIGKILL. Standard error goes to the log line
// by line.
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
