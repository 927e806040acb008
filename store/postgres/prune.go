package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

// remove removes the runs of a query that are neither held nor written at this moment. The row of a run is removed first: its lock excludes
// a process that takes the lease.
const remove = `WITH old AS (%s),
	gone AS (DELETE FROM wavefold_runs r USING old WHERE r.run = old.run AND r.records = old.records AND (r.expires IS NULL OR r.expires <= clock_timestamp() OR r.process = ANY($1))
		RETURNING r.run, r.bytes, r.started),
	records AS (DELETE FROM wavefold_records d USING gone WHERE d.run = gone.run),
	names AS (DELETE FROM wavefold_blob_names d USING gone WHERE d.run = gone.run)
	SELECT run, bytes + coalesce((SELECT sum(octet_length(a.data)) FROM wavefold_attachments a WHERE a.run = gone.run), 0)::bigint FROM gone` + newestFirst

// sweep removes the blobs that no journal names. A blob that is stored again at this moment is young, and stays.
const sweep = `WITH gone AS (DELETE FROM wavefold_blobs b WHERE stored < clock_timestamp() - interval '1 hour'
		AND NOT EXISTS (SELECT FROM wavefold_blob_names n WHERE n.sum = b.sum) RETURNING octet_length(data) AS bytes)
	SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone`

// sweepLeases removes leases of runs that have no journal.
const sweepLeases = `DELETE FROM wavefold_runs WHERE records = 0 AND coalesce(expires, since) < clock_timestamp() - interval '1 hour'`

// sweepCache removes the entries of the cache that have expired.
const sweepCache = `WITH gone AS (DELETE FROM wavefold_cache WHERE expires <= clock_timestamp() RETURNING octet_length(data) AS bytes)
	SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone`

// Prune implements store.Store. The runs are removed in one transaction. It is not repeated if the server is
// away.
func (s *Store) Prune(ctx context.Context, q store.Query) (store.Pruned, error) {
	pruned, err := s.prune(ctx, q)
	return pruned, s.failed(err)
}

func (s *Store) prune(ctx context.Context, q store.Query) (pruned store.Pruned, err error) {
	if s.closing.Err() != nil {
		return pruned, store.ErrClosed
	}
	dead, err := s.deadHolders(ctx)
	if err != nil {
		return pruned, err
	}
	sel := newSelection(q, dead)
	sel.where = append(sel.where, "NOT held")
	if len(q.Status) == 0 {
		sel.add("status <> ALL(%s)", []string{store.StatusPaused, store.StatusInterrupted, store.StatusDamaged})
	}
	statement := sel.statement("run, records, bytes", q)
	if q.DryRun {
		statement = "WITH old AS (" + statement + ") SELECT run, bytes FROM old"
	} else {
		statement = fmt.Sprintf(remove, statement)
	}
	rows, err := s.pool.Query(ctx, statement, sel.args...)
	if err != nil {
		return pruned, err
	}
	var run string
	var bytes int64
	_, err = pgx.ForEachRow(rows, []any{&run, &bytes}, func() error {
		pruned.Runs = append(pruned.Runs, run)
		pruned.Bytes += bytes
		return nil
	})
	if err != nil || q.DryRun {
		return pruned, err
	}
	if err := s.pool.QueryRow(ctx, sweepCache).Scan(&pruned.Cached, &bytes); err != nil {
		return pruned, err
	}
	pruned.Bytes += bytes
	if len(pruned.Runs) == 0 {
		return pruned, nil
	}
	if err := s.pool.QueryRow(ctx, sweep).Scan(&pruned.Blobs, &bytes); err != nil {
		return pruned, err
	}
	pruned.Bytes += bytes
	_, err = s.pool.Exec(ctx, sweepLeases)
	return pruned, err
}

// Retain removes the runs of a workflow that are not worth keeping, as store.Retention says. An empty workflow
// means all.
func (s *Store) Retain(ctx context.Context, workflow string) (all store.Pruned, err error) {
	for _, q := range store.Retention(workflow, time.Now()) {
		pruned, err := s.Prune(ctx, q)
		all.Add(pruned)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}
