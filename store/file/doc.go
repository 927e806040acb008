// Package file is a store.Store in a folder, for any number of processes on any number of hosts.
//
//	DIR/.gitignore               keeps the folder out of repositories
//	DIR/index.json               summaries of the journals; made again when it is missing or wrong
//	DIR/retention.json           when the next run is old enough to be removed; never needed
//	DIR/blobs/AB/ABCD...         large values, compressed, by their SHA-256
//	DIR/runs/RUN/journal         the records of a run; package internal/record has their form
//	DIR/runs/RUN/journal-TOKEN   their continuation by a holder on another host
//	DIR/runs/RUN/lease-TOKEN     who holds the run; the time of the file is the time at which the lease expires
//	DIR/runs/RUN/lock-HOST       locked by the holder, if it is on that host
//	DIR/runs/RUN/inbox/NAME      a message
//	DIR/runs/RUN/log.ndjson      an attachment: the log and progress events
//	DIR/runs/RUN/output/...      attachments: what programs have printed
//
// Folders have mode 0700 and files 0600. Names of runs, messages and attachments are escaped as in URLs.
//
// # Writing
//
// The goroutine that calls Append writes the records with one call, and flushes them if flush is set. A run
// has one writer, which collects records while a flush is in progress, and each run has its own files. A
// goroutine for all runs could therefore not combine any writes. After some flushes a file is allocated in
// advance, so that a flush need not write its size. Zeros then follow its records until it is closed.
//
// # Leases
//
// The token of a lease is in the name of its file. To take a lease, a holder creates the file of the next
// token, which only one process can do, and then removes the earlier files. A holder whose file was removed
// stops writing. On one host, the lock decides whether a holder is alive, so a run can be resumed as soon as
// its process has died. On another host the lease must expire first, and then the new holder begins a new
// file, because the old process may be suspended and continue to write where it stopped. The lease names the
// file to which its holder appends. Records of an earlier file from the first number of a later file are
// ignored.
package file
