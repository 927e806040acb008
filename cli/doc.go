// Package cli is the wavefold command. A program with node kinds of its own gets
// the same command in a few lines:
//
//	func main() {
//		cli.Main(wavefold.NewEngine(append(std.Kinds(), mine.Kind)...))
//	}
//
// # What goes where
//
// Standard output gets what a command was asked for and nothing else: the summary
// of a run or its JSON report, the plan, the graph, the word "valid", the schema,
// the events of `--events -`. It can be piped into another program.
//
// Standard error gets everything about it: progress, findings (as
// file:line:column: severity: message), hints, and errors that begin with the
// program's name. Colours and the live tree appear on terminals only, and never
// when NO_COLOR is set or TERM is dumb.
//
// The exit code is 0 for success (also partial, unless --strict), 1 for a run or
// test that failed, 2 for bad usage or an invalid file, 3 for a paused run, 4
// for violations that verify found, 130 after an interrupt, 143 after
// SIGTERM, and 141 when the reader of the output has gone.
package cli
