package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/wavefold/wavefold/store"
)

// Salvage tests a store that can make damaged journals readable. Damage damages a record that is not the last
// one of a run that no holder has.
func Salvage(t *testing.T, s interface {
	store.Store
	store.Salvager
}, damage func(run string, seq uint64)) {
	for _, seq := range []uint64{2, 3, 4} {
		run := "r" + string(rune('0'+seq))
		begin(t, s, run, Records(2, 4)...)
		acquire(t, s, run, holder("a"), 0)
		damage(run, seq)
		if n, err := countGood(s, run); n != seq-1 || !errors.As(err, new(*store.DamageError)) {
			t.Fatalf("record %d: read %d good ones, %v", seq, n, err)
		}
		lease := acquire(t, s, run, holder("b"), ttl)
		var fenced *store.FencedError
		if _, err := s.Salvage(t.Context(), run, lease.Token+1); !errors.As(err, &fenced) {
			t.Errorf("salvage without the lease: %v", err)
		}
		found, err := s.Salvage(t.Context(), run, lease.Token)
		if err != nil || found == nil || found.Run != run || found.Record != seq || found.Of < 4 {
			t.Fatalf("record %d: salvage: %+v, %v", seq, found, err)
		}
		if got := read(t, s, run, 1); len(got) != int(seq)-1 {
			t.Errorf("record %d: left\n%s", seq, describe(got))
		}
		if found, err := s.Salvage(t.Context(), run, lease.Token); found != nil || err != nil {
			t.Errorf("record %d: salvage of a good journal: %+v, %v", seq, found, err)
		}
		appendTo(t, s, run, lease.Token, Records(seq, 1)...)
		appendTo(t, s, run, lease.Token, store.Record{Seq: seq + 1, Type: store.End, Data: []byte(`{"status":"success"}`)})
		acquire(t, s, run, holder("b"), 0)
		if got := read(t, s, run, 1); len(got) != int(seq)+1 || got[seq-1].Token != lease.Token {
			t.Errorf("record %d: continued\n%s", seq, describe(got))
		}
		for sum, err := range s.List(t.Context(), store.Query{Prefix: run}) {
			if err != nil || sum.Status != "success" || sum.Workflow != "load" || sum.Records != seq+1 {
				t.Errorf("record %d: listed %+v, %v", seq, sum, err)
			}
		}
	}
}

// countGood reads a run up to the first error.
func countGood(s store.Store, run string) (n uint64, err error) {
	for _, err := range s.Read(context.Background(), run, 1) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
