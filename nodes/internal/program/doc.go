// Package program runs one program for a node and converts its output to the node's result. It
// protects the engine from a child process that misbehaves:
//
//   - The child leads a process group of its own. When the context ends, the
//     whole group gets SIGTERM and, after a grace period or when the context is
//     aborted, SIGKILL. On Linux so do processes that left the group (with setsid, as
//     daemons do).
//   - Run returns only after the group is gone and its pipes are closed: no goroutine and no
//     process outlives the call. The exception is a process that left the group on purpose,
//     after a child that succeeded. On Linux it may live on if it closed standard output;
//     on other systems it always may, but its pipes are closed.
//   - When this process is killed, the child and its group are killed too: on Linux by the
//     kernel, on Unix by a small process that watches each child.
//   - Output is limited. A child that prints more is terminated, and Run fails.
//   - Standard error is logged line by line, and its last lines are kept for the error
//     message. Secrets are masked in both.
//
// The package never uses a shell: a program gets its list of arguments unchanged.
//
// On Windows, which has no process groups, only the child itself is terminated.
//
// # Protocol
//
// A program that follows the protocol reads one JSON document and prints one JSON result. The
// document has the node's args at its top level, in addition to
//
//	_state        the declared reads that have a value
//	_edge_inputs  the outputs of the direct predecessors, by id
//	$item $index  in a fan-out or pipeline
//	$iter $loop   in the body of a loop
//
// Each member of the result is optional:
//
//	{"state_delta": {"field": value}, "edge_output": value, "metrics": {...}}
package program
