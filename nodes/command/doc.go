// Package command is the node kind "command": it runs a program with a list of
// arguments and stores what it prints.
//
// # Fields
//
//	run         required  the program and its arguments, one list element each
//	stdin                 text for standard input, a template; the word json alone
//	                      hands over the document that tools get
//	env                   further environment variables: {NAME: template} or
//	                      {NAME: {secret: VARIABLE}}
//	pass_env              names of the variables that the program gets of the
//	                      environment, in place of all; PATH, HOME, LANG and
//	                      TMPDIR in any case
//	dir                   working folder, below the workflow's folder (which is
//	                      the default)
//	output      text      what becomes of standard output, see below
//	into                  the field that gets it; without one, the only declared
//	                      write; else it goes along the outgoing edges
//	max_output  10MB      limit on standard output and standard error, each
//	ok_codes    [0]       exit codes that are no failure
//	allow_options  false  whether a value at the beginning of an argument may be an
//	                      option, such as -r
//
// # Arguments
//
// The program is found when the workflow is loaded: a name in PATH, or a file
// below the workflow's folder when it has a slash in it (./bin/load). It is fixed;
// the elements after it are templates. There is no shell: each element is one
// argument, whatever the values in it contain, so data cannot add arguments,
// redirections or commands. Three things follow.
//
// Pipes and globs need a shell that you name yourself, and the text after its -c
// must be fixed; values go behind it:
//
//	run: [sh, -c, 'sort "$1" | head -n "$2"', sh, "{{$.file}}", "{{$.n}}"]
//
// A template inside the text itself is an error when the workflow is loaded. The
// rule: what an interpreter takes for program text must not hold a template, alone or
// among other text. Known are shells (sh, bash, fish, cmd, powershell), languages
// (python -c, node -e, perl -e, awk, sed, jq and others), databases (psql -c, mysql -e,
// sqlite3, duckdb and others) and programs that hand their arguments to a shell (ssh,
// su -c, watch, parallel, env -S); each with the ways it has of taking the text, such
// as sh -c -- text or awk -v x=y text. An interpreter, its flag and a template
// in the argument after it are found whatever program starts it. Where the text is an
// operand or standard input, env, sudo, timeout, flock, xargs, find -exec, docker and the
// like are looked through. The error says how else a value gets there.
//
// Of other programs an option that is called like one for program text (-c, -e,
// --eval, --exec, --command, --code) is a warning when a template stands among other
// text behind it, and that text is more than a word. If the program does not run the
// text, use a template node and pass it alone: "{{$.text}}".
//
// The check catches slips. It cannot know every program that there is.
//
// A value at the beginning of an argument that begins with a dash looks like an option
// to most programs, and options write files and start programs. The node fails then,
// unless "--" comes before the argument or allow_options is true. Negative numbers, "-"
// alone and a dash before a blank are data, and so are the arguments after the text of
// sh -c or python -c.
//
// # Output
//
//	text    the whole output without the line end after it
//	lines   a list of its lines
//	json    one JSON value
//	jsonl   a list: one JSON value from each line
//	result  the result object of tools: {"state_delta": …, "edge_output": …}
//	none    thrown away
//
// # Failures
//
// An exit code that is not among ok_codes, a signal, an output that does not have
// the form, or more of it than max_output fail the node; the error quotes the last
// lines of standard error, which goes to the log line by line. A program that ends
// while something it started still holds standard output fails too, since the
// output may be incomplete. When the run is cancelled or the node's timeout is
// over, the program and all it started get SIGTERM and five seconds later SIGKILL.
// On Linux this includes what has moved to a session of its own.
//
// Secrets are read from the engine's environment for each attempt and replaced by
// *** in log lines, errors, events and what the command line prints. A secret that
// the program prints on standard output becomes part of the state like any other
// output, as it is: nodes that read it may need it.
//
// The program finds the identity of its work in WAVEFOLD_RUN, WAVEFOLD_NODE,
// WAVEFOLD_ATTEMPT and WAVEFOLD_IDEMPOTENCY_KEY, which is the same in every
// attempt.
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
