package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

// List implements store.Store. It does not read journals: the status of a journal whose records
// were removed from the table is not damaged until it is read.
func (s *Store) List(ctx context.Context, q store.Query) iter.Seq2[store.Summary, error] {
	return func(yield func(store.Summary, error) bool) {
		var all []store.Summary
		err := s.do(ctx, func(ctx context.Context, _ bool) error {
			dead, err := s.deadHolders(ctx)
			if err != nil {
				return err
			}
			query := newSelection(q, dead)
			statement := query.statement(listed, q)
			rows, err := s.pool.Query(ctx, statement, query.args...)
			if err != nil {
				return err
			}
			all, err = pgx.CollectRows(rows, summaryOf)
			return err
		})
		if err != nil {
			yield(store.Summary{}, err)
			return
		}
		for _, sum := range all {
			if !yield(sum, nil) {
				return
			}
		}
	}
}

// deadHolders returns the processes with leases that are known to have ended.
func (s *Store) deadHolders(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, `SELECT DISTINCT process FROM wavefold_runs WHERE expires > now()`)
	if err != nil {
		return nil, err
	}
	processes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	dead := slices.DeleteFunc(processes, func(p string) bool { return !s.hasEnded(p) })
	return append([]string{}, dead...), err // not nil, which would be null in SQL
}

// listed are the columns of a list.
const listed = "run, records, bytes, updated, summary, held, token, holder, host, pid, username, since, expires"

func summaryOf(row pgx.CollectableRow) (sum store.Summary, err error) {
	var data []byte
	var held bool
	var updated time.Time
	var run string
	var records uint64
	var bytes int64
	var lease store.Lease
	var expires *time.Time
	err = row.Scan(&run, &records, &bytes, &updated, &data, &held, &lease.Token, &lease.ID, &lease.Host, &lease.PID, &lease.User, &lease.Since, &expires)
	if err == nil {
		err = json.Unmarshal(data, &sum)
	}
	if err != nil {
		return sum, err
	}
	sum.Run, sum.Records, sum.Bytes, sum.Updated = run, records, bytes, updated
	if held {
		lease.Run, lease.Expires = run, *expires
		sum.SetHolder(lease)
	}
	return sum, nil
}

// selection is a query for runs.
type selection struct {
	where []string
	args  []any
}

// add adds a condition, in which %s is the parameter with the value.
func (s *selection) add(condition string, value any) {
	s.where = append(s.where, fmt.Sprintf(condition, s.parameter(value)))
}

func (s *selection) parameter(value any) string {
	s.args = append(s.args, value)
	return fmt.Sprintf("$%d", len(s.args))
}

// newSelection returns the conditions of q, except Keep, Before and Limit. Its first parameter are the processes
// whose leases do not count.
func newSelection(q store.Query, dead []string) *selection {
	s := &selection{where: []string{"records > 0"}, args: []any{dead}}
	if q.Prefix != "" {
		s.add("starts_with(run, %s)", q.Prefix)
	}
	if q.Workflow != "" {
		s.add("workflow = %s", plain(q.Workflow))
	}
	if len(q.Status) > 0 {
		s.add("shown = ANY(%s)", q.Status)
	}
	if !q.Since.IsZero() {
		s.add("started >= %s", q.Since)
	}
	return s
}

// runs has the columns held and shown in addition to the columns of the table: whether the lease is held, and
// the status that a list shows.
const runs = `(SELECT *, CASE WHEN held AND status IN ('` + store.StatusInterrupted + `', '` + store.StatusPaused + `') THEN '` + store.StatusRunning + `' ELSE status END AS shown
	FROM (SELECT *, coalesce(expires > now() AND process <> ALL($1), false) AS held FROM wavefold_runs) AS leased) AS runs`

// newestFirst is the order of a list.
const newestFirst = " ORDER BY started DESC, run DESC"

// statement returns a statement that selects columns of the runs that q selects.
func (s *selection) statement(columns string, q store.Query) string {
	conditions := " WHERE " + strings.Join(s.where, " AND ")
	from := runs
	if q.Keep > 0 { // runs are counted before the runs that are too new are left out
		from = "(SELECT *, row_number() OVER (PARTITION BY workflow" + newestFirst + ") AS newer FROM " + runs + conditions + ") AS counted"
		conditions = " WHERE newer > " + s.parameter(q.Keep)
	}
	if !q.Before.IsZero() {
		conditions += " AND updated < " + s.parameter(q.Before)
	}
	text := "SELECT " + columns + " FROM " + from + conditions + newestFirst
	if q.Limit > 0 {
		text += " LIMIT " + s.parameter(q.Limit)
	}
	return text
}
