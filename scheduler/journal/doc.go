// Package journal is the form in which a run is recorded, and its replay. It writes and reads
// what happened in a run as JSON (Codec, and the records Head, Batch, Side, Mark and End), and
// rebuilds the machine of a run from its records (Replay). It decides nothing: the machine does,
// and given the same events in the same batches it decides the same again.
//
// A journal names nodes by their paths, so it can be read without the plan and does not depend on
// the order in which a document declares its nodes. The package stores nothing. A store keeps
// records and blobs, and a driver decides when they are written.
package journal
