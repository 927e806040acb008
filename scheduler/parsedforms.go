package scheduler

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/store"
)

// The parsed forms of large documents are entries of the cache of a store, next to the results of nodes. They belong to
// no run: an archive has none, so a form is always that of a document that this store has seen.
const (
	parsedPath = "(parsed form)" // of the entries, which no node has
	// parsedAge is the time for which a form is kept after the last day on which a run used it.
	parsedAge = 90 * 24 * time.Hour
	// maxParsed limits the size of a form. Documents are smaller.
	maxParsed = 1 << 30
)

// putParsed keeps the parsed form of a file of a run, if it has one. Nobody needs it, so errors are ignored.
func putParsed(ctx context.Context, s store.Store, run string, f *core.SourceFile) {
	c, ok := s.(store.Cacher)
	if !ok || len(f.Parsed) == 0 {
		return
	}
	now := time.Now()
	if e, err := c.GetCached(ctx, f.ParsedKey); err == nil && now.Sub(e.Stored) < 24*time.Hour {
		return
	}
	var form bytes.Buffer
	w, err := flate.NewWriter(&form, flate.BestSpeed)
	if err != nil {
		return
	}
	if _, err := w.Write(f.Parsed); err != nil || w.Close() != nil {
		return
	}
	result, err := json.Marshal(form.Bytes())
	if err != nil {
		return
	}
	_ = c.PutCached(ctx, store.CacheEntry{Key: f.ParsedKey, Run: run, Path: parsedPath, Stored: now, Expires: now.Add(parsedAge), Result: result})
}

// ParsedForm returns the parsed form with a key (core.SourceFile.ParsedKey), or nil if the store does not have it.
func ParsedForm(ctx context.Context, s store.Store, key string) []byte {
	c, ok := s.(store.Cacher)
	if !ok {
		return nil
	}
	e, err := c.GetCached(ctx, key)
	if err != nil || e.Path != parsedPath {
		return nil
	}
	var form []byte
	if json.Unmarshal(e.Result, &form) != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(form)), maxParsed))
	if err != nil {
		return nil
	}
	return data
}
