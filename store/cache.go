package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Cacher is implemented by stores that keep results of nodes for later runs. Entries do not belong to
// runs: an entry remains when the run that made it is removed. All methods are safe for concurrent
// use, by several processes too.
type Cacher interface {
	// PutCached stores an entry and replaces an earlier entry with the same key. The replacement is atomic
	// for readers.
	PutCached(ctx context.Context, e CacheEntry) error

	// GetCached returns the entry with that key, even if it has expired. The error is ErrNotFound if there is
	// none, and a *DamageError if the stored data has changed.
	GetCached(ctx context.Context, key string) (CacheEntry, error)
}

// CacheEntry is the result of an execution of a node.
type CacheEntry struct {
	Key    string    `json:"key"`  // a SHA-256 in hexadecimal
	Run    string    `json:"run"`  // the run that made it
	Path   string    `json:"path"` // the execution in that run
	Stored time.Time `json:"stored"`
	// Expires is the time after which Prune removes the entry. If it is zero, Prune never removes
	// it.
	Expires time.Time       `json:"expires,omitzero"`
	Result  json.RawMessage `json:"result"` // any JSON value
}

// Expired reports whether Prune removes the entry at a time.
func (e *CacheEntry) Expired(now time.Time) bool {
	return !e.Expires.IsZero() && !now.Before(e.Expires)
}

// Encode returns the form in which stores keep an entry: the SHA-256 of its JSON, a line feed and the
// JSON.
func (e *CacheEntry) Encode() ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	form := append(hex.AppendEncode(make([]byte, 0, 2*len(sum)+1+len(data)), sum[:]), '\n')
	return append(form, data...), nil
}

// DecodeCacheEntry is the inverse of CacheEntry.Encode. The error is a *DamageError if the data is not
// what Encode returned for an entry with that key.
func DecodeCacheEntry(key string, form []byte) (e CacheEntry, err error) {
	sum, data, ok := bytes.Cut(form, []byte{'\n'})
	want := sha256.Sum256(data)
	switch {
	case !ok || string(sum) != hex.EncodeToString(want[:]):
		err = errors.New("its content has another SHA-256")
	default:
		if err = json.Unmarshal(data, &e); err == nil && e.Key != key {
			err = fmt.Errorf("it has the key %s", e.Key)
		}
	}
	if err != nil {
		return CacheEntry{}, &DamageError{Cached: key, Err: err}
	}
	return e, nil
}

// IsCacheKey reports whether s has the form of the key of an entry.
func IsCacheKey(s string) bool { return IsBlobName(blobPrefix + s) }
