package database

import (
	"encoding"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Members of a position of a Result.
const (
	posKey  = "key"  // the key of the last row
	posRows = "rows" // number of rows
	posHash = "hash" // the state of their hash
)

// resultKey is the column by which a result is ordered. A nil *resultKey checks nothing.
type resultKey struct {
	name   string
	column int
	last   any // the key of the last row, nil before the first
}

var _ core.Positioned = (*Result)(nil)

// OrderedBy gives the result a position: its rows are ordered by a column whose values are
// unique. at is nil, or the position of a result whose remaining rows this result has. It is
// called before the first row is read.
func (r *Result) OrderedBy(column string, at *value.Object) error {
	i := slices.Index(r.rows.Columns(), column)
	if i < 0 {
		return core.Permanent(fmt.Errorf("the result has no column %q (key)", column))
	}
	if !r.rows.Exact(i) {
		return core.Permanent(fmt.Errorf("key: dates and times of the column %q may be stored in another form than they are read; select CAST(%[1]s AS TEXT) under another name and make that the key", column))
	}
	r.key = &resultKey{name: column, column: i}
	if at == nil {
		return nil
	}
	r.key.last = LastKey(at)
	rows, _ := at.Get(posRows)
	r.count, _ = rows.(int64)
	text, _ := at.Get(posHash)
	encoded, _ := text.(string)
	state, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil {
		err = r.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
	}
	if err != nil || r.key.last == nil {
		return core.Permanent(errors.New("the recorded position of the query cannot be read"))
	}
	return nil
}

// LastKey returns the key of the last row before a position.
func LastKey(at *value.Object) any {
	key, _ := at.Get(posKey)
	return key
}

// Position returns the key of the last row. It returns nil if the result has no key, and
// before the first row.
func (r *Result) Position() (*value.Object, error) {
	if r.key == nil || r.key.last == nil {
		return nil, nil
	}
	state, err := r.hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return nil, err
	}
	return value.ObjectOf(posKey, r.key.last, posRows, r.count, posHash, base64.StdEncoding.EncodeToString(state)), nil
}

// follow checks the key of the next row. How the database orders strings is not known here,
// so for them it checks only that adjacent keys differ.
func (k *resultKey) follow(row []any) error {
	if k == nil {
		return nil
	}
	key := row[k.column]
	switch v := key.(type) {
	case int64:
		last, isInteger := k.last.(int64)
		if _, isString := k.last.(string); isString || isInteger && v < last {
			return fmt.Errorf("the rows are not in the order of the key: %s is %d after %s", k.name, v, value.JSON(k.last))
		}
	case string:
	default:
		return fmt.Errorf("key: %s is %s, want an integer or a string", k.name, value.TypeName(key))
	}
	if key == k.last {
		return fmt.Errorf("two rows have the key %s %s; a key is unique", k.name, value.JSON(key))
	}
	k.last = key
	return nil
}
