// Package program runs one program for a node and makes the node's result of what the
// program printed. It protects the engine from a child that misbehaves:
//
//   - The child leads a process group of its own. When the context ends, the
//     whole group gets SIGTERM and, after a grace period or when the context is
//     aborted, SIGKILL. On Linux so do processes that left the group (setsid, as
//     daemons do).
//   - Run returns only when the group is gone and nobody reads its pipes any
//     more: no goroutine and no process outlives the call. After a child that
//     ended well, only a process that left the group on purpose can, if it let go
//     of standard output; elsewhere than on Linux it always can, without its pipes.
//   - When this process is killed, the child is killed, and so is its group: on Linux
//     by the kernel, on Unix by a small process that watches over each child.
//   - Output has a limit. A child that prints more is ended and Run fails.
//   - Standard error goes line by line to a logger; its last lines are kept for
//     the error text. Secrets are masked in both.
//
// The package never uses a shell: a program gets the argument list it was given,
// element by element.
//
// On Windows, where process groups do not exist, only the child itself is ended.
//
// # Protocol
//
// A program that does the work of a node gets one JSON document and prints one JSON result.
// The document has the node's args at its top level, in addition to
//
//	_state        the declared reads that have a value
//	_edge_inputs  what direct predecessors sent, by their ids
//	$item $index  in a fan-out or pipeline
//	$iter $loop   in the body of a loop
//
// Each part of the result is optional:
//
//	{"state_delta": {"field": value}, "edge_output": value, "metrics": {...}}
package program
