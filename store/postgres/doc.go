// Package postgres is a store.Store in a PostgreSQL database, for services whose disks do not outlive their
// runs and for several processes on several hosts.
//
//	s, err := postgres.Open(ctx, "postgres://app:secret@db.example.com/app?schema=wavefold", postgres.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//
// It creates its tables, whose names begin with wavefold_, on first use:
//
//	wavefold_runs             one row for each run: its lease, and what a list shows of it
//	wavefold_records          the journals: (run, seq, token, type, version, data)
//	wavefold_messages         answers and cancellations; (run, name) is unique
//	wavefold_blobs            large values by their SHA-256
//	wavefold_blob_names       the blobs that the journal of a run names
//	wavefold_cache            results of nodes for later runs
//	wavefold_queue            runs that wait for a concurrency key, in order
//	wavefold_attachments      what programs have printed, and log records
//	wavefold_damaged_records  what Salvage has cut off
//	wavefold_migrations       the version of the tables
//
// # Writing
//
// Append is one statement: it locks the row of the run, compares the token of the lease and the number of the
// last record there, and inserts the records. A holder that has lost its lease therefore writes nothing.
// Every append is committed durably, even without flush. A server that crashes therefore loses nothing that
// was appended, unless its administrator has set fsync to off.
//
// # Leases
//
// Leases expire by the clock of the database, so the clocks of hosts need not agree. On Linux, the lease of a process
// that has died can be taken at once by a process on the same host.
//
// # An unreachable server
//
// Calls are repeated until the server has been unreachable for Options.Patience. Then the calls and the
// run fail. While the server is unreachable, runs continue to execute what they have begun. An append
// whose result was lost is not applied twice.
//
// # Messages
//
// A posted message notifies the processes that watch the run. They also query messages twice a
// second, because notifications do not pass all connection poolers.
package postgres
