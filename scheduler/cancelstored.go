package scheduler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/store"
)

// CancelStored ends a stored run that no process executes, with status cancelled. by is who wants it,
// "" if that is not known. The run can be resumed. The error is a store.HeldError if a process
// executes the run; inbox.PostCancel asks it to end.
func CancelStored(ctx context.Context, s store.Store, run, by string) (err error) {
	st, err := OpenStored(ctx, s, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if st.Head == nil || st.End != nil {
		return fmt.Errorf("run %s has ended already", run)
	}
	return st.cancel(ctx, by)
}

// cancel ends the run with status cancelled.
func (st *Stored) cancel(ctx context.Context, by string) error {
	now := time.Now()
	at := int64(max(0, now.Sub(st.Head.Started)))
	mark, err := json.Marshal(journal.Mark{Kind: store.MarkCancelled, At: at, Wall: now, Host: st.lease.Host, PID: st.lease.PID, By: by})
	if err != nil {
		return err
	}
	end, err := json.Marshal(journal.End{Status: string(core.RunCancelled), Reason: "cancelled by " + cmp.Or(by, "somebody"), At: at})
	if err != nil {
		return err
	}
	return st.store.Append(ctx, st.run, st.lease.Token, []store.Record{{Seq: st.last + 1, Type: store.Mark, Data: mark}, {Seq: st.last + 2, Type: store.End, Data: end}}, true)
}
