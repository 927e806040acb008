// Package command implements the node kind "command", which runs a program with a list of
// arguments and stores its output.
//
// # Fields
//
//	run         required  the program and its arguments, one list element each
//	stdin                 the string for standard input, a template; the word json alone
//	                      passes the document that tools get
//	env                   further environment variables: {NAME: template} or
//	                      {NAME: {secret: VARIABLE}}
//	pass_env              names of the environment variables that the program
//	                      inherits, instead of all; PATH, HOME, LANG and TMPDIR are
//	                      always inherited
//	dir                   working folder, below the workflow's folder (which is
//	                      the default)
//	output      text      the form of standard output, see below
//	into                  the field that gets it; without one, the only declared
//	                      write; else it goes along the outgoing edges
//	max_output  10MB      limit on standard output and standard error, each
//	ok_codes    [0]       exit codes that mean success
//	allow_options  false  whether a value at the beginning of an argument may be an
//	                      option, such as -r
//
// # Arguments
//
// The program is found when the workflow is loaded: a name in PATH, or a file
// below the workflow's folder if it contains a slash (./bin/load). Its name is fixed;
// the elements after it are templates. There is no shell: each element is one
// argument, whatever its values contain, so data cannot add arguments,
// redirections or commands. This has three consequences.
//
// Pipes and globs need a shell as the program. The text after its -c must be fixed, and
// values are arguments after it:
//
//	run: [sh, -c, 'sort "$1" | head -n "$2"', sh, "{{$.file}}", "{{$.n}}"]
//
// A template inside program text is an error when the workflow is loaded: an argument that an
// interpreter runs must not contain a template. The check knows shells (sh, bash, fish, cmd,
// powershell), languages (python -c, node -e, perl -e, awk, sed, jq and others), databases
// (psql -c, mysql -e, sqlite3, duckdb and others) and programs that pass their arguments to a
// shell (ssh, su -c, watch, parallel, env -S), with the forms of their options, such as
// sh -c -- text or awk -v x=y text. It finds an interpreter, its flag and a template in the next
// argument whatever program starts the interpreter. For program text that is an operand or
// standard input, it recognizes interpreters that env, sudo, timeout, flock, xargs, find -exec,
// docker and similar programs start. The error says how to pass the value instead.
//
// For other programs, an option whose name suggests program text (-c, -e, --eval, --exec,
// --command, --code) is a warning if its value is more than a word and contains a template. If
// the program does not run the text, use a template node and pass the text alone: "{{$.text}}".
//
// The check catches mistakes. It cannot know every program.
//
// Most programs take an argument that begins with a dash for an option, and options can write
// files and start programs. If a value at the beginning of an argument begins with a dash, the
// node fails, unless "--" precedes the argument or allow_options is true. Negative numbers, "-"
// alone and a dash before a blank are data, and so are the arguments after the text of sh -c or
// python -c.
//
// # Output
//
//	text    the whole output without the final line end
//	lines   a list of its lines
//	json    one JSON value
//	jsonl   a list: one JSON value from each line
//	result  the result object of tools: {"state_delta": …, "edge_output": …}
//	none    discarded
//
// # Failures
//
// The node fails on an exit code that is not among ok_codes, a signal, an output of another
// form, and an output longer than max_output. The error quotes the last lines of standard
// error, which is logged line by line. A program that exits while one of its child processes
// still has standard output open fails too, because the output may be incomplete. When the run
// is cancelled or the node's timeout expires, the program and its descendants get SIGTERM and
// five seconds later SIGKILL. On Linux this includes processes in a session of their own.
//
// Secrets are read from the engine's environment for each attempt and replaced by
// *** in log lines, errors, events and the output of the command line. A secret that
// the program prints to standard output is stored in the state unmasked, because nodes
// that read it may need it.
//
// WAVEFOLD_RUN, WAVEFOLD_NODE, WAVEFOLD_ATTEMPT and WAVEFOLD_IDEMPOTENCY_KEY in the environment
// of the program identify its work. The key is the same in every attempt.
//
// # Example
//
//	name: count
//	state:
//	  schema:
//	    city: {type: string, default: Bergen}
//	    upper: {type: string}
//	graph:
//	  nodes:
//	    - id: shout
//	      kind: command
//	      run: [tr, a-z, A-Z]
//	      stdin: "hello {{$.city}}"
//	      writes: [upper]
package command
