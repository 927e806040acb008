// Package storetest checks that an implementation of store.Store keeps what the interface promises.
//
//	func TestStore(t *testing.T) {
//		storetest.Test(t, func(t *testing.T) store.Store { return memory.New(nil) })
//	}
package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
)

// Test runs the suite. Open returns an empty store for each subtest and closes it with t.Cleanup. The
// subtests run in parallel; none of them waits longer than the store makes it.
func Test(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s store.Store)
	}{
		{"append and read", testAppend},
		{"records are copied", testCopies},
		{"large records", testLarge},
		{"wrong numbers", testNumbers},
		{"a run that exists", testExists},
		{"unknown run", testUnknown},
		{"odd names of runs", testNames},
		{"fencing", testFencing},
		{"leases", testLeases},
		{"one of many gets the lease", testOneLease},
		{"expired lease", testExpiry},
		{"queue", testQueue},
		{"leaving a queue on request", testWithdraw},
		{"a queue of many", testQueueOfMany},
		{"messages", testMessages},
		{"the first message wins", testFirstMessage},
		{"watch", testWatch},
		{"blobs", testBlobs},
		{"attachments", testAttachments},
		{"cache", testCache},
		{"list", testList},
		{"prune", testPrune},
		{"prune keeps blobs", testPruneBlobs},
		{"concurrent runs", testConcurrent},
		{"a reader next to a writer", testReader},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

// ttl is longer than a test.
const ttl = time.Hour

func holder(id string) store.Holder {
	return store.Holder{ID: id, Host: "host-" + id, PID: 1, User: "ann"}
}

// Head returns the head of a run as records of the type store.Head have it, for tests of stores.
func Head(workflow string, started time.Time) store.Record {
	data := fmt.Sprintf(`{"workflow":%q,"file":"%s.yaml","started":%q}`, workflow, workflow, started.Format(time.RFC3339Nano))
	return store.Record{Seq: 1, Type: store.Head, Data: []byte(data)}
}

// Records returns n batches with the numbers from and up.
func Records(from uint64, n int) []store.Record {
	recs := make([]store.Record, n)
	for i := range recs {
		seq := from + uint64(i)
		recs[i] = store.Record{Seq: seq, Type: store.Batch, Data: fmt.Appendf(nil, `{"n":%d}`, seq)}
	}
	return recs
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// begin acquires a run and appends its head.
func begin(t *testing.T, s store.Store, run string, recs ...store.Record) store.Lease {
	t.Helper()
	lease := acquire(t, s, run, holder("a"), ttl)
	appendTo(t, s, run, lease.Token, append([]store.Record{Head("load", epoch)}, recs...)...)
	return lease
}

func acquire(t *testing.T, s store.Store, run string, h store.Holder, ttl time.Duration) store.Lease {
	t.Helper()
	lease, err := s.Acquire(t.Context(), run, h, ttl)
	if err != nil {
		t.Fatalf("acquire %s for %s: %v", run, h.ID, err)
	}
	return lease
}

func appendTo(t *testing.T, s store.Store, run string, token uint32, recs ...store.Record) {
	t.Helper()
	if err := s.Append(t.Context(), run, token, recs, true); err != nil {
		t.Fatalf("append to %s: %v", run, err)
	}
}

func read(t *testing.T, s store.Store, run string, from uint64) (recs []store.Record) {
	t.Helper()
	for rec, err := range s.Read(t.Context(), run, from) {
		if err != nil {
			t.Fatalf("read %s: %v", run, err)
		}
		recs = append(recs, rec)
	}
	return recs
}

// describe returns the numbers, tokens, types and payloads of records.
func describe(recs []store.Record) string {
	var b strings.Builder
	for _, r := range recs {
		fmt.Fprintf(&b, "%d/%d %s v%d %s\n", r.Seq, r.Token, r.Type, r.Version, r.Data)
	}
	return b.String()
}
