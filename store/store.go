package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Store keeps the journals of runs. All methods are safe for concurrent use, by several processes
// too. A method that waits returns the error of ctx when ctx ends.
type Store interface {
	// Append adds records to the journal of a run. token is the token of the lease that the caller
	// holds. The stored records have this token, whatever their Token says. Seq continues the journal
	// without a gap. Append does not keep recs or their data. The calls for one run must not overlap.
	//
	// With flush, Append returns when the records, and all records of the run before them, survive a loss of
	// power. Without flush, it may return as soon as the records are queued: the store then writes them soon,
	// in order, and the next call returns the error of a failed write. Nothing is flushed until a call sets
	// flush. recs may be empty: Append then only checks the lease, and flushes if flush is set. After an
	// error of the storage, all later calls for the run fail until the lease has been released and acquired
	// again.
	//
	// It returns a *FencedError if the caller does not hold the lease, a *DamageError if the journal is
	// damaged, and ErrExists for a head with Seq 1 if the run has a journal.
	Append(ctx context.Context, run string, token uint32, recs []Record, flush bool) error

	// Read yields the records of a run whose Seq is at least from, in order of Seq, up to the last one
	// that is complete. It needs no lease. The last element is an error if reading failed: ErrNotFound
	// if the run has no journal, a *DamageError if records are missing or not as they were written,
	// a *FormatError if they are of a later format.
	Read(ctx context.Context, run string, from uint64) iter.Seq2[Record, error]

	// List yields the summaries of the runs that match q, newest first: in descending order of Started,
	// then of Run. A run whose journal is damaged is in the list, with StatusDamaged.
	List(ctx context.Context, q Query) iter.Seq2[Summary, error]

	// Acquire takes the lease of a run, which need not have a journal yet, until ttl from now. If h has
	// the lease already, as its Holder.ID says, Acquire renews it, and the token stays the same. Else
	// the token is larger than all earlier ones of the run. A ttl of 0 releases the lease if h has it, and
	// does nothing otherwise. Acquire does not wait: if another holder has the lease, it returns a *HeldError.
	Acquire(ctx context.Context, run string, h Holder, ttl time.Duration) (Lease, error)

	// Post sends a message to a run. The first message with a name stays; for another one with that name
	// Post returns a *TakenError. The message is durable when Post returns. The error is ErrNotFound if
	// the run has no journal.
	Post(ctx context.Context, run string, m Message) error

	// Inbox returns the messages that were posted to a run, in order of Posted, then of Name. They stay
	// in the inbox as long as the run is in the store.
	Inbox(ctx context.Context, run string) ([]Message, error)

	// Watch yields the messages of a run: first those in its inbox, then each new one within a second.
	// It yields each message once, waits for more, and ends without an error when ctx ends.
	Watch(ctx context.Context, run string) iter.Seq2[Message, error]

	// Put stores a blob durably and returns its name, "sha256:" and the SHA-256 of data in hexadecimal.
	// Storing the same data again is cheap.
	Put(ctx context.Context, data []byte) (sum string, err error)

	// Get returns the blob with that name. It returns a *DamageError with the name if the blob is missing
	// or is not what was stored.
	Get(ctx context.Context, sum string) ([]byte, error)

	// Prune removes the runs that match q, the blobs that no journal names any more, except blobs that
	// were stored in the last hour, and the entries of the cache that have expired. It never removes a run that is held, and removes runs that
	// are paused, interrupted or damaged only if q.Status names that status.
	Prune(ctx context.Context, q Query) (Pruned, error)
}

// Type is the type of a record.
type Type uint8

// The types of records.
const (
	Head     Type = iota + 1 // what a run, or a resumed part of it, was started with
	Batch                    // the events that were applied together
	Side                     // events that are made outside of the state machine
	Mark                     // what happened to the run as a whole, such as a pause
	Snapshot                 // the state that replaces earlier batches
	End                      // how the run, or a part of it, ended
)

// String returns the name of the type in lower case.
func (t Type) String() string {
	switch t {
	case Head:
		return "head"
	case Batch:
		return "batch"
	case Side:
		return "side"
	case Mark:
		return "mark"
	case Snapshot:
		return "snapshot"
	case End:
		return "end"
	default:
		return fmt.Sprintf("type %d", uint8(t))
	}
}

// Format is the current format of records. Readers accept it and every earlier one.
const Format = 1

// Record is one entry of a journal.
type Record struct {
	Seq     uint64 // its number in the journal, from 1 without gaps
	Token   uint32 // of the lease under which it was written
	Type    Type
	Version uint8  // its format; Append takes 0 for Format
	Data    []byte // a JSON object; a store may compress it
}

// Holder identifies who has, or wants, the lease of a run.
type Holder struct {
	ID   string `json:"id"` // unique: two calls with one ID come from one holder
	Host string `json:"host"`
	PID  int    `json:"pid"`
	User string `json:"user"`
}

// Lease is the right to write the journal of a run.
type Lease struct {
	Run     string    `json:"run"`
	Token   uint32    `json:"token"` // grows with each new holder
	Holder            // who has it
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires"` // zero if it was released
}

// Message is an answer or another request that was posted to a run.
type Message struct {
	Name   string          `json:"name"` // unique in the run
	Posted time.Time       `json:"posted"`
	Data   json.RawMessage `json:"data"` // any JSON value
}

// Query selects runs. The zero value selects all runs for List, and for Prune all that have ended.
type Query struct {
	Prefix   string    // of the name of the run
	Workflow string    // the name of the workflow; "" for all
	Status   []string  // the statuses to include; none for all
	Since    time.Time // started at this time or later; zero for all
	Before   time.Time // last updated before this time; zero for all

	// Keep excludes the newest runs of each workflow, as many as it says. They are counted among
	// the runs that the other fields select, Before excepted.
	Keep   int
	Limit  int  // the maximum number of runs, the newest ones; 0 for all
	DryRun bool // Prune reports what it would remove and removes nothing
}

// Pruned reports what Prune removed.
type Pruned struct {
	Runs  []string // newest first
	Blobs int      // the number of blobs; 0 in a dry run
	// Cached is the number of entries of the cache; 0 in a dry run.
	Cached int
	Bytes  int64 // that were freed
}

// Add adds what another call removed.
func (p *Pruned) Add(more Pruned) {
	p.Runs = append(p.Runs, more.Runs...)
	p.Blobs, p.Cached, p.Bytes = p.Blobs+more.Blobs, p.Cached+more.Cached, p.Bytes+more.Bytes
}
