package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The statuses of a run that has not ended. A run that has ended has the status in its end record:
// success, partial_success, failed or cancelled.
const (
	StatusRunning     = "running"     // a process holds its lease
	StatusPaused      = "paused"      // it waits for an answer, without a process
	StatusInterrupted = "interrupted" // it has no end and no process
	StatusDamaged     = "damaged"     // its journal cannot be read to the end
)

// Kinds of marks: the member kind of a record of type Mark.
const (
	MarkLease     = "lease"
	MarkResumed   = "resumed"
	MarkPaused    = "paused"
	MarkAsked     = "asked"
	MarkQueued    = "queued" // questions that are asked later, one at a time
	MarkAnswered  = "answered"
	MarkWithdrawn = "withdrawn" // the attempt that had asked has ended without an answer
	MarkCancelled = "cancelled"
	MarkRerun     = "rerun" // what had asked is not kept: neither the question nor an answer to it counts
	MarkAdopted   = "adopted"
	MarkForked    = "forked"
	MarkSalvaged  = "salvaged"
	MarkUpgraded  = "upgraded"
)

// Summary describes a run in a list.
type Summary struct {
	Run      string          `json:"run"`
	Workflow string          `json:"workflow"`
	File     string          `json:"file"`
	Status   string          `json:"status"`
	Reason   string          `json:"reason,omitempty"`  // of the last end
	Started  time.Time       `json:"started"`           // when the run was started for the first time
	Updated  time.Time       `json:"updated"`           // when its journal was last written
	Finished time.Time       `json:"finished,omitzero"` // zero if the run has not ended
	Counts   json.RawMessage `json:"counts,omitempty"`  // of nodes by status, from the last end or mark that has counts
	Waiting  int             `json:"waiting,omitempty"` // the number of questions without an answer
	Parent   json.RawMessage `json:"parent,omitempty"`  // the run from which it was forked
	Holder   *Lease          `json:"holder,omitempty"`  // of the lease; nil if the run is not held
	Records  uint64          `json:"records"`           // the number of records in its journal
	Bytes    int64           `json:"bytes"`             // the size of what the store keeps for it, without blobs
}

// Add updates s with the next record of the journal. It sets what follows from the records alone: a
// run that has no end is interrupted unless it is paused; a store changes that to StatusRunning
// if the lease is held. Add reads these members of the payloads:
//
//	head (of the run): workflow, file, started (RFC 3339), parent
//	mark: kind; counts; questions (of a pause)
//	end: status, reason, at (nanoseconds since started), counts
//
// Of the kinds of marks, paused and resumed change the status; asked and answered are counted.
func (s *Summary) Add(rec Record) error {
	s.Records++
	var err error
	switch rec.Type {
	case Head:
		err = s.addHead(rec)
	case Mark:
		err = s.addMark(rec)
	case End:
		err = s.addEnd(rec)
	}
	if err != nil {
		return fmt.Errorf("record %d (%s) of run %s: %w", rec.Seq, rec.Type, s.Run, err)
	}
	return nil
}

func (s *Summary) addHead(rec Record) error {
	if rec.Seq != 1 { // of a part: the run keeps the description that it was started with
		return nil
	}
	var head struct {
		Workflow string          `json:"workflow"`
		File     string          `json:"file"`
		Started  time.Time       `json:"started"`
		Parent   json.RawMessage `json:"parent"`
	}
	if err := json.Unmarshal(rec.Data, &head); err != nil {
		return err
	}
	s.Workflow, s.File, s.Started = head.Workflow, head.File, head.Started
	if string(head.Parent) != "null" {
		s.Parent = head.Parent
	}
	s.Status = StatusInterrupted
	return nil
}

func (s *Summary) addMark(rec Record) error {
	var mark struct {
		Kind      string          `json:"kind"`
		Counts    json.RawMessage `json:"counts"`
		Questions int             `json:"questions"`
	}
	if err := json.Unmarshal(rec.Data, &mark); err != nil {
		return err
	}
	switch mark.Kind {
	case MarkPaused:
		s.Status = StatusPaused
		if mark.Questions > 0 { // questions that were asked before the last end are not counted otherwise
			s.Waiting = mark.Questions
		}
	case MarkResumed:
		s.Status, s.Reason, s.Finished = StatusInterrupted, "", time.Time{}
	case MarkAsked:
		s.Waiting++
	case MarkAnswered, MarkWithdrawn:
		s.Waiting = max(0, s.Waiting-1)
	}
	if mark.Counts != nil {
		s.Counts = mark.Counts
	}
	return nil
}

func (s *Summary) addEnd(rec Record) error {
	var end struct {
		Status string          `json:"status"`
		Reason string          `json:"reason"`
		At     time.Duration   `json:"at"`
		Counts json.RawMessage `json:"counts"`
	}
	if err := json.Unmarshal(rec.Data, &end); err != nil {
		return err
	}
	s.Status, s.Reason, s.Finished, s.Waiting = end.Status, end.Reason, s.Started.Add(end.At), 0
	if end.Counts != nil {
		s.Counts = end.Counts
	}
	return nil
}

// Ended reports whether the run has ended.
func (s *Summary) Ended() bool {
	switch s.Status {
	case "", StatusRunning, StatusPaused, StatusInterrupted, StatusDamaged:
		return false
	default:
		return true
	}
}

// Select returns the summaries that q selects, newest first. It sorts all in place.
func (q Query) Select(all []Summary) []Summary {
	slices.SortFunc(all, func(a, b Summary) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.Run, a.Run))
	})
	var list []Summary
	newer := map[string]int{} // by workflow
	for _, s := range all {
		if !q.matches(s) {
			continue
		}
		newer[s.Workflow]++
		if newer[s.Workflow] <= q.Keep || !q.Before.IsZero() && !s.Updated.Before(q.Before) {
			continue
		}
		if list = append(list, s); len(list) == q.Limit {
			break
		}
	}
	return list
}

func (q Query) matches(s Summary) bool {
	return strings.HasPrefix(s.Run, q.Prefix) &&
		(q.Workflow == "" || s.Workflow == q.Workflow) &&
		(len(q.Status) == 0 || slices.Contains(q.Status, s.Status)) &&
		!s.Started.Before(q.Since)
}

// Retention returns the queries by which Prune removes what is not worth keeping at the time now: runs with
// status success or partial_success that are older than 30 days and not among the 20 newest of their workflow, and
// failed and cancelled ones older than 90 days. An empty workflow means all.
func Retention(workflow string, now time.Time) []Query {
	return []Query{
		{Workflow: workflow, Status: []string{"success", "partial_success"}, Keep: 20, Before: now.AddDate(0, 0, -30)},
		{Workflow: workflow, Status: []string{"failed", "cancelled"}, Before: now.AddDate(0, 0, -90)},
	}
}

// SelectPrune returns the summaries of the runs that Prune removes for q, newest first. It changes all.
func (q Query) SelectPrune(all []Summary) []Summary {
	all = slices.DeleteFunc(all, func(s Summary) bool {
		return s.Holder != nil || s.Status == StatusRunning || len(q.Status) == 0 && !s.Ended()
	})
	return q.Select(all)
}
