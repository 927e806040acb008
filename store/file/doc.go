// Package file is a store.Store in a folder, for any number of processes on any number of hosts.
//
//	DIR/.gitignore               keeps the folder out of repositories
//	DIR/index.json               summaries of the journals; made again when it is missing or wrong
//	DIR/blobs/AB/ABCD...         large values, compressed, by their SHA-256
//	DIR/runs/RUN/journal         the records of a run; package internal/record has their form
//	DIR/runs/RUN/journal-TOKEN   their continuation by a holder on another host
//	DIR/runs/RUN/lease-TOKEN     who holds the run; the time of the file is the time at which the lease expires
//	DIR/runs/RUN/lock-HOST       locked by the holder, if it is on that host
//	DIR/runs/RUN/inbox/NAME      a message
//
// Folders have mode 0700 and files 0600. Names of runs and messages are escaped as in URLs.
//
// # Writing
//
// One goroutine of a Store writes for all runs (writer.go). It takes all records that wait, writes those of each
// run with one call, and flushes the files for which a caller waits; other files at the latest
// 10 ms after a write to them, or when 1 MiB was written.
//
// # Leases
//
// The token of a lease is in the name of its file. To take a lease, a holder creates the file of the next
// token, which only one process can do, and then removes the earlier ones. A holder whose file has gone
// writes nothing more. On one host, the lock decides whether a holder is alive, so a run can be resumed as soon
// as its process has died. On another host the lease must expire first, and then the new
// holder begins a new file: the old process may be suspended, and continue to write where it left off. Records of an
// earlier file from the first number of a later file are ignored.
package file
