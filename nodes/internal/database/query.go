package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Conn is a connection to a database.
type Conn interface {
	Backend
	// Query runs a statement that reads, in a separate transaction that cannot change
	// anything. The connection must not be used otherwise until the rows are closed.
	Query(ctx context.Context, s Statement) (Rows, error)
	// Describe returns an error if the database does not accept a statement that reads.
	Describe(ctx context.Context, s Statement) error
	// Exec runs a statement in the open transaction and returns the number of rows that
	// it stored, changed or deleted.
	Exec(ctx context.Context, s Statement) (int64, error)
	// Close closes the connection and aborts anything that is running on it.
	Close() error
}

// Statement is an SQL statement with the values of its parameters, in the order in
// which the database numbers them.
type Statement struct {
	Text string
	Args []any
}

// StatementError is an error about a place in a statement.
type StatementError struct {
	Offset int // of the byte in the statement, from 0
	Err    error
}

// Error returns the message of the cause.
func (e *StatementError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StatementError) Unwrap() error { return e.Err }

// Rows is the result of a query.
type Rows interface {
	// Columns returns the names of the columns.
	Columns() []string
	// Exact reports whether a value of a column, sent as a parameter, is equal to the value
	// in the database.
	Exact(column int) bool
	// Row sets values to the values of the next row. It returns io.EOF after the last
	// row.
	Row(ctx context.Context, values []any) error
	// Close ends the query, also before the last row.
	Close() error
}

// ResultBatch is the number of rows in a batch of a result.
const ResultBatch = 1000

// Result is the result of a query as a stream of rows.
type Result struct {
	rows    Rows
	close   func() error
	builder *table.Builder
	count   int64
	hash    hash.Hash
	scratch []byte
	key     *resultKey // nil if the result has no position
}

// NewResult returns the rows of a query as a stream. Closing the stream closes the rows
// and then calls close.
func NewResult(rows Rows, close func() error) (*Result, error) {
	keys, err := value.NewKeys(rows.Columns())
	if err != nil {
		return nil, core.Permanent(fmt.Errorf("two columns of the result have one name: %w; give one of them another name with AS", err))
	}
	if keys.Len() == 0 {
		return nil, core.Permanent(errors.New("the statement has no result"))
	}
	return &Result{rows: rows, close: close, builder: table.NewBuilder(keys), hash: sha256.New()}, nil
}

var _ core.Headed = (*Result)(nil)

// Header returns the columns of the result.
func (r *Result) Header(context.Context) (columns []string, ok bool, err error) {
	return r.rows.Columns(), true, nil
}

// Next returns the next rows.
func (r *Result) Next(ctx context.Context) ([]any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	batch := make([]any, 0, ResultBatch)
	for len(batch) < ResultBatch {
		row, values := r.builder.Row()
		err := r.rows.Row(ctx, values)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", r.count+1, err)
		}
		if err := r.key.follow(values); err != nil {
			return nil, core.Permanent(fmt.Errorf("row %d: %w", r.count+1, err))
		}
		if err := r.note(values); err != nil {
			return nil, fmt.Errorf("row %d: %w", r.count+1, err)
		}
		batch = append(batch, row)
		r.count++
	}
	if len(batch) == 0 {
		return nil, io.EOF
	}
	return batch, nil
}

// note adds the row to the hash.
func (r *Result) note(values []any) (err error) {
	buf := r.scratch[:0]
	for _, v := range values {
		if buf, err = value.AppendJSON(buf, v); err != nil {
			return err
		}
		buf = append(buf, ',')
	}
	r.scratch = buf
	r.hash.Write(buf)
	return nil
}

// Summary returns the number of rows that were read and the SHA-256 hash of their
// values as JSON.
func (r *Result) Summary() *value.Object {
	return value.ObjectOf(core.RowCount, r.count, "hash", hex.EncodeToString(r.hash.Sum(nil)))
}

// Close ends the query and the connection.
func (r *Result) Close() error {
	err := r.rows.Close()
	return errors.Join(err, r.close())
}
