// Package cli implements the wavefold command. A program with custom node kinds gets the
// same command in a few lines:
//
//	func main() {
//		cli.Main(wavefold.NewEngine(append(std.Kinds(), mine.Kind)...))
//	}
//
// # Output
//
// Standard output receives only the result of a command: the summary of a run or its JSON
// report, the plan, the graph, the word "valid", the schema, or the events of `--events -`.
// It can be piped into another program.
//
// Standard error receives everything else: progress, findings (as file:line:column:
// severity: message), hints, and errors that begin with the program's name. Colours and the
// live tree are used only on a terminal, and never if NO_COLOR is set or TERM is dumb.
//
// The exit code is 0 for success (also partial success, unless --strict is set), 1 for a
// run or test that failed, 2 for bad usage or an invalid file, 3 for a paused run, 4 for
// violations that verify found, 130 after an interrupt, 143 after SIGTERM, and 141 if the
// reader of the output has closed it.
package cli
