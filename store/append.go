package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// CheckAppend checks that recs continue a journal whose last record has the number last, as Append
// promises. Implementations of Store call it.
func CheckAppend(run string, last uint64, recs []Record) error {
	if len(recs) > 0 && recs[0].Type == Head && recs[0].Seq == 1 && last > 0 {
		return fmt.Errorf("run %s: %w", run, ErrExists)
	}
	for i, rec := range recs {
		if want := last + 1 + uint64(i); rec.Seq != want {
			return fmt.Errorf("run %s: a record with number %d was appended where %d must follow", run, rec.Seq, want)
		}
		if rec.Seq == 1 && rec.Type != Head {
			return fmt.Errorf("run %s: the first record is a %s, want a head", run, rec.Type)
		}
		if len(rec.Data) == 0 {
			return fmt.Errorf("run %s: record %d has no payload", run, rec.Seq)
		}
	}
	return nil
}

// Held reports whether the lease is neither released nor expired.
func (l Lease) Held(now time.Time) bool { return now.Before(l.Expires) }

// SetHolder makes s the summary of a run whose lease is held: it is running, unless it has ended or is
// damaged.
func (s *Summary) SetHolder(lease Lease) {
	s.Holder = &lease
	if !s.Ended() && s.Status != StatusDamaged {
		s.Status = StatusRunning
	}
}

// CheckMessage checks a message that is to be posted.
func CheckMessage(m Message) error {
	if m.Name == "" {
		return errors.New("a message needs a name")
	}
	if !json.Valid(m.Data) {
		return fmt.Errorf("message %s has data that is not JSON", m.Name)
	}
	return nil
}

// SortMessages sorts messages in the order of an inbox.
func SortMessages(list []Message) {
	slices.SortFunc(list, func(a, b Message) int {
		return cmp.Or(a.Posted.Compare(b.Posted), cmp.Compare(a.Name, b.Name))
	})
}
