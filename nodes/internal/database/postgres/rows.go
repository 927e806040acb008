package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
)

// Query runs a statement in a read-only transaction.
func (d *DB) Query(ctx context.Context, s database.Statement) (database.Rows, error) {
	if err := d.simple(ctx, "BEGIN READ ONLY; "+session); err != nil {
		return nil, err
	}
	reader, fields, err := d.start(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &result{reader: reader, statement: s.Text}
	for _, f := range fields {
		r.names = append(r.names, f.Name)
		r.decoders = append(r.decoders, decoder{convert: conversion(d.conn.TypeMap(), f.DataTypeOID)})
	}
	if r.next = reader.NextRow(); !r.next {
		if err := r.end(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// start prepares a statement and sends it with its arguments in text format.
func (d *DB) start(ctx context.Context, s database.Statement) (*pgconn.ResultReader, []pgconn.FieldDescription, error) {
	conn := d.conn.PgConn()
	prepared, err := conn.Prepare(ctx, "", s.Text, nil)
	if err != nil {
		return nil, nil, place(err, s.Text)
	}
	if len(prepared.ParamOIDs) != len(s.Args) { // the statement contains a $2 that is not one of ours
		return nil, nil, core.Permanent(fmt.Errorf("the statement has %d parameters, %d are given", len(prepared.ParamOIDs), len(s.Args)))
	}
	values := make([][]byte, len(s.Args))
	for i, v := range s.Args {
		if values[i], err = d.argument(v, prepared.ParamOIDs[i]); err != nil {
			return nil, nil, core.Permanent(fmt.Errorf("parameter %d: %w", i+1, err))
		}
	}
	return conn.ExecPrepared(ctx, "", values, nil, nil), prepared.Fields, nil
}

// argument returns a value in the text format of a parameter type, nil for null.
func (d *DB) argument(v any, oid uint32) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.IndexByte(v, 0) >= 0 {
			return nil, errNUL
		}
		return append([]byte{}, v...), nil // an empty string is not null
	case float64:
		if n := int64(v); float64(n) == v && (oid == pgtype.Int8OID || oid == pgtype.Int4OID || oid == pgtype.Int2OID) {
			return strconv.AppendInt(nil, n, 10), nil
		}
	case []any:
		if t, ok := d.conn.TypeMap().TypeForOID(oid); ok {
			if _, ok := t.Codec.(*pgtype.ArrayCodec); ok {
				return appendArray(nil, v)
			}
		}
	}
	return value.AppendJSON(nil, v)
}

// Describe asks the server to prepare a statement.
func (d *DB) Describe(ctx context.Context, s database.Statement) error {
	prepared, err := d.conn.PgConn().Prepare(ctx, "", s.Text, nil)
	if err != nil {
		return place(err, s.Text)
	}
	if len(prepared.Fields) == 0 {
		return core.Permanent(errors.New("the statement has no result"))
	}
	return nil
}

// Exec runs a statement in the open transaction.
func (d *DB) Exec(ctx context.Context, s database.Statement) (int64, error) {
	reader, _, err := d.start(ctx, s)
	if err != nil {
		return 0, err
	}
	tag, err := reader.Close()
	if err != nil {
		return 0, place(err, s.Text)
	}
	if tag.Select() {
		return 0, nil
	}
	return tag.RowsAffected(), nil
}

// place adds the place in the statement that the server reports.
func place(err error, statement string) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	err = explain(err)
	if !ok {
		return err
	}
	if e.Position <= 0 {
		return err
	}
	offset := 0 // the server counts characters
	for range e.Position - 1 {
		_, n := utf8.DecodeRuneInString(statement[offset:])
		offset += n
	}
	return &database.StatementError{Offset: offset, Err: err}
}

// result is a result that is being read. The first row is read in advance, so that
// Query returns the errors of the statement.
type result struct {
	reader    *pgconn.ResultReader
	statement string
	names     []string
	decoders  []decoder
	next      bool // there is a row that has not been returned
	begun     bool
	ended     bool
}

func (r *result) Columns() []string { return r.names }

func (r *result) Exact(int) bool { return true }

func (r *result) Row(ctx context.Context, values []any) error {
	if r.begun && !r.ended {
		r.next = r.reader.NextRow()
	}
	r.begun = true
	if !r.next {
		if err := r.end(ctx); err != nil {
			return err
		}
		return io.EOF
	}
	for i, raw := range r.reader.Values() {
		if raw == nil {
			values[i] = nil
			continue
		}
		var err error
		if values[i], err = r.decoders[i].decode(raw); err != nil {
			return core.Permanent(fmt.Errorf("column %s: %w", r.names[i], err))
		}
	}
	return nil
}

// end closes the reader and returns the error with which the result ended.
func (r *result) end(ctx context.Context) error {
	if r.ended {
		return nil
	}
	r.ended = true
	_, err := r.reader.Close()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return place(err, r.statement)
}

// Close does not read the rest of the result: that could take long, and the connection
// is closed next.
func (r *result) Close() error { return nil }

// remembered is the number of recent values that a column caches. It is a power of two.
const remembered = 256

// decoder converts the text of a column to values. It caches recent values, so that a
// repeated value is neither parsed nor stored again.
type decoder struct {
	convert func(text []byte) (any, error)
	seed    maphash.Seed
	recent  []struct {
		text  []byte
		value any // not nil if text is set
	}
}

func (d *decoder) decode(raw []byte) (any, error) {
	if d.recent == nil {
		d.seed = maphash.MakeSeed()
		d.recent = make([]struct {
			text  []byte
			value any
		}, remembered)
	}
	slot := &d.recent[maphash.Bytes(d.seed, raw)&(remembered-1)]
	if slot.value != nil && bytes.Equal(slot.text, raw) {
		return slot.value, nil
	}
	v, err := d.convert(raw)
	if err == nil && len(raw) <= 64 {
		slot.text, slot.value = append(slot.text[:0], raw...), v
	}
	return v, err
}

// conversion returns the function that converts the text of a type. Values of types not
// listed here are strings in the server's text format.
func conversion(types *pgtype.Map, oid uint32) func([]byte) (any, error) {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID:
		return func(b []byte) (any, error) { return strconv.ParseInt(string(b), 10, 64) }
	case pgtype.Float4OID, pgtype.Float8OID:
		return func(b []byte) (any, error) { return float(string(b)) }
	case pgtype.NumericOID:
		return numeric
	case pgtype.BoolOID:
		return func(b []byte) (any, error) { return string(b) == "t", nil }
	case pgtype.JSONOID, pgtype.JSONBOID:
		return func(b []byte) (any, error) { return value.ParseJSON(b) }
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		return func(b []byte) (any, error) { return timestamp(string(b)), nil }
	}
	if t, ok := types.TypeForOID(oid); ok {
		if array, ok := t.Codec.(*pgtype.ArrayCodec); ok {
			element := conversion(types, array.ElementType.OID)
			return func(b []byte) (any, error) { return parseArray(string(b), element) }
		}
	}
	return func(b []byte) (any, error) { return string(b), nil }
}

// float parses a float. NaN and infinities are errors because a state cannot hold them.
func float(s string) (any, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f-f != 0 {
		return nil, fmt.Errorf("%s is not a number that a state can hold; turn it into null or text in the query", s)
	}
	return f, nil
}

// numeric parses a decimal. Integers are exact; a number with a point becomes the
// nearest float.
func numeric(b []byte) (any, error) {
	s := string(b)
	if strings.Contains(s, ".") || s == "NaN" || strings.Contains(s, "Infinity") {
		return float(s)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s does not fit 64 bits; turn it into text in the query", s)
	}
	return n, nil
}

// timestamp formats a timestamp according to RFC 3339. The session uses UTC. Timestamps
// of another form (infinity, years BC) are unchanged.
func timestamp(s string) string {
	if len(s) < len("2006-01-02 15:04:05") || s[10] != ' ' || strings.HasSuffix(s, "BC") {
		return s
	}
	if day, ok := strings.CutSuffix(s, "+00"); ok {
		s = day + "Z"
	}
	return s[:10] + "T" + s[11:]
}
