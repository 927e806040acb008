package file

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/wavefold/wavefold/store"
)

// List implements store.Store. It reads the journals that have changed since the last list, and keeps the
// summaries in index.json.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.Summary, error] {
	return func(yield func(store.Summary, error) bool) {
		all, _, err := s.summaries(ctx)
		if err != nil {
			yield(store.Summary{}, err)
			return
		}
		for _, sum := range q.Select(all) {
			if !yield(sum, nil) {
				return
			}
		}
	}
}

// runNames returns the names of the runs that have a folder.
func (s *Store) runNames() (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		name, err := url.PathUnescape(e.Name())
		if err == nil && escape(name) == e.Name() { // anything else is not a run
			names = append(names, name)
		}
	}
	return names, nil
}

// summaries returns the summaries of all runs that have a journal, and the stamps that their journals had.
func (s *Store) summaries(ctx context.Context) (all []store.Summary, stamps index, err error) {
	names, err := s.runNames()
	if err != nil {
		return nil, nil, err
	}
	old, changed := s.loadIndex(), false
	current := make(index, len(old))
	for _, run := range names {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		files, now, err := stampOf(s.RunDir(run))
		if err != nil {
			return nil, nil, err
		}
		e, ok := old[run]
		if !ok || !e.Stamp.equal(now) || e.Young {
			changed = true
			if e, err = s.summarize(run, now); err != nil {
				return nil, nil, err
			}
		}
		current[run] = e
		if e.Summary.Records == 0 && e.Summary.Status != store.StatusDamaged {
			continue
		}
		sum := e.Summary
		if lease, live, err := s.live(run, files); err != nil {
			return nil, nil, err
		} else if live {
			sum.SetHolder(lease)
		}
		all = append(all, sum)
	}
	if changed || len(current) != len(old) {
		s.saveIndex(current)
	}
	return all, current, nil
}

// stamp changes whenever a journal is written, except within youngStamp after the previous write: a file that
// was allocated in advance keeps its size, and its time has the precision of the file system.
type stamp struct {
	Parts int       `json:"parts"`
	Size  int64     `json:"size"`
	Time  time.Time `json:"time"` // at which the last of its files was written
}

// youngStamp is more than the precision of the times of files.
const youngStamp = 2 * time.Second

func (s stamp) equal(o stamp) bool {
	return s.Parts == o.Parts && s.Size == o.Size && s.Time.Equal(o.Time)
}

// stampOf returns the files of a run and the stamp of its journal.
func stampOf(dir string) (files []fs.DirEntry, st stamp, err error) {
	files, err = os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // pruned since
		return nil, st, nil
	}
	for _, e := range files {
		if !isJournal(e) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, st, err
		}
		if info.Size() == 0 {
			continue // no record is written yet, or none will be; see seal
		}
		st.Parts++
		st.Size += info.Size()
		if info.ModTime().After(st.Time) {
			st.Time = info.ModTime()
		}
	}
	return files, st, err
}

// summarize reads a journal. If the journal is damaged, or has an unexpected payload, the summary describes
// the records before it.
func (s *Store) summarize(run string, st stamp) (entry, error) {
	e := entry{Stamp: st, Young: s.now().Sub(st.Time) < youngStamp, Summary: store.Summary{Run: run, Updated: st.Time}}
	var bad error
	end, err := walk(run, s.RunDir(run), func(rec store.Record) bool {
		bad = e.Summary.Add(rec)
		return bad == nil
	})
	e.Summary.Bytes = st.Size - end.zeros
	var damage *store.DamageError
	var format *store.FormatError
	switch {
	case bad != nil:
		e.Summary.Status, e.Summary.Reason = store.StatusDamaged, bad.Error()
	case errors.As(err, &damage), errors.As(err, &format):
		e.Summary.Status, e.Summary.Reason = store.StatusDamaged, err.Error()
	case err != nil:
		return e, err
	}
	return e, nil
}
