// Package store defines where the journals of runs are kept.
//
// A run with a store writes what happens to it into a journal, so that another process can resume
// it. A Store keeps the journals, the lease that makes one process the only writer of a run, the
// messages that people send to a run (answers and cancellations) and large values (blobs).
// store/file keeps them in a folder, store/postgres in a database and store/memory in the memory of the process. The suite
// store/storetest checks a Store of another kind.
//
// A Store knows the framing of a journal, not its meaning. The payload of a record is a JSON object
// of which a store reads only what a [Summary] needs; see [Summary.Add].
//
//	lease, err := s.Acquire(ctx, run, holder, 15*time.Second)
//	err = s.Append(ctx, run, lease.Token, []store.Record{{Seq: 1, Type: store.Head, Data: head}}, true)
//	for rec, err := range s.Read(ctx, run, 1) { ... }
package store
