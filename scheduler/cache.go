package scheduler

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// caching connects a run with the results that its store keeps of earlier runs.
type caching struct {
	run     *run
	store   store.Cacher
	codec   *journal.Codec // without blobs, because no journal names the blobs of an entry
	model   string
	keeping sync.WaitGroup // goroutines that store entries

	mu    sync.Mutex
	files map[string]fileSum
}

// fileSum is the SHA-256 of a file that had the given size and time.
type fileSum struct {
	size int64
	at   time.Time
	sum  string
}

// keptResult is an entry that is stored once a record of the journal is flushed.
type keptResult struct {
	after uint64
	entry store.CacheEntry
}

// startCache prepares the use of earlier results. model is the model that nodes ask if they name none. If
// the run cannot use earlier results, it warns for each node that has a cache. A dry run does not use
// them.
func (r *run) startCache(p *plan.Plan, model string) {
	nodes := p.CachedNodes()
	if dry, _ := r.m.Inputs().Get(core.InputDryRun); len(nodes) == 0 || dry == true || r.opts.NoCache {
		return
	}
	why := "the run is not stored"
	if r.rec != nil {
		if s, ok := r.rec.store.(store.Cacher); ok {
			r.cache = &caching{run: r, store: s, codec: &journal.Codec{Plan: p, Secrets: secret.SealerOf(p.Secrets)}, model: model, files: map[string]fileSum{}}
			return
		}
		why = "the store keeps no results of nodes"
	}
	for _, name := range nodes {
		r.warned.add(name, "cache has no effect: "+why)
	}
}

// unrefreshable returns an error if a node that is to be refreshed has no cache.
func unrefreshable(p *plan.Plan, o *Options) error {
	if len(o.Refresh) == 0 {
		return nil
	}
	nodes := p.CachedNodes()
	for _, name := range o.Refresh {
		if !slices.Contains(nodes, name) {
			return fmt.Errorf("refresh: node %q has no cache (nodes with a cache: %s)", name, cmp.Or(strings.Join(nodes, ", "), "none"))
		}
	}
	return nil
}

// cached runs an attempt unless the store has its result. It keeps the result of an attempt that succeeds.
func (x *executor) cached(place int, o *machine.Outcome) {
	c := x.run.cache
	key, err := c.key(x, place)
	if err != nil {
		c.warn(x, "has no cache key", err)
		x.attempt(place, o)
		return
	}
	if x.c.ID.Attempt == 1 && !c.refreshes(x) && c.load(x, key, o) {
		x.final = o
		return
	}
	x.attempt(place, o)
	if o.Failure == nil && o.Status <= core.Success && o.Claim == nil {
		c.keep(x, key, place, o)
	}
}

func (c *caching) warn(x *executor, text string, err error) {
	c.run.warned.add(x.c.Call.Name(x.c.Node), fmt.Sprintf("%s: %v", text, err))
}

// refreshes reports whether the node runs although the store may have its result.
func (c *caching) refreshes(x *executor) bool {
	name := plan.PartPath(x.c.Call.Name(x.c.Node))
	return slices.Contains(c.run.opts.Refresh, name) || c.run.generations[name] > 1
}

// key returns the key of an execution. place is the item of a fan-out, or -1 if there is none.
func (c *caching) key(x *executor, place int) (string, error) {
	n, call, cache := x.c.Node, x.c.Call, x.c.Node.Cache()
	seen := value.NewObject(12)
	if cache.Key != nil {
		v := cache.Key.Value(machine.Captured{For: n, Call: call, Place: place})
		if value.IsMissing(v) {
			return "", fmt.Errorf("%s has no value", cache.Key.Source())
		}
		seen.Set("key", v)
	} else if err := addSeen(seen, x, place); err != nil {
		return "", err
	}
	if len(cache.Files) > 0 {
		sums := value.NewObject(len(cache.Files))
		for _, name := range cache.Files {
			sum, err := c.fileSum(x.p.Workflow.Dir, name)
			if err != nil {
				return "", err
			}
			sums.Set(name, sum)
		}
		seen.Set("read", sums)
	}
	if n.Models && c.model != "" {
		seen.Set("model", c.model)
	}
	canonical, err := value.Canonical(seen)
	if err != nil {
		return "", err
	}
	o, _ := c.sealed(canonical).(*value.Object)
	return cache.Of(o), nil
}

// addSeen adds what the handler of an execution is given.
func addSeen(seen *value.Object, x *executor, place int) error {
	n, call, cache := x.c.Node, x.c.Call, x.c.Node.Cache()
	s, err := machine.Shared(x.p, n, call, place, func() bool { return x.ctx.Err() != nil })
	if err != nil {
		return err
	}
	view := s.View.Object()
	for name, v := range s.Extra.All() {
		view.Set(name, v)
	}
	seen.Set("args", s.Args)
	seen.Set("view", view)
	seen.Set("edges", s.Edges)
	if s.Index > 0 {
		seen.Set("item", s.Item)
	}
	if nodes := referred(x.p, n, s.Nodes); nodes.Len() > 0 {
		seen.Set("nodes", nodes)
	}
	if cache.Inputs {
		seen.Set("inputs", s.Inputs)
	}
	if cache.Index {
		seen.Set("index", int64(s.Index))
	}
	if cache.Round {
		seen.Set("round", value.ObjectOf("loop", s.Loop, "round", int64(s.Round)))
	}
	if cache.Visit {
		seen.Set("visit", int64(s.Visit))
	}
	if s.Briefing != nil {
		seen.Set("briefing", s.Briefing)
	}
	return nil
}

// referred returns the values of $nodes to which an item or execution of a node refers.
func referred(p *plan.Plan, n *plan.Node, look core.NodeLookup) *value.Object {
	refs := n.NodeRefs()
	out := value.NewObject(len(refs))
	var alone []int32
	if n.Source != nil {
		_, alone = n.Source.Alone()
	}
	for at, ref := range refs {
		if slices.Contains(alone, int32(at)) {
			continue
		}
		if status, output, ok := look(p.Nodes[ref].ID); ok {
			o := value.ObjectOf("status", status.String())
			if !value.IsMissing(output) {
				o.Set("output", output)
			}
			out.Set(p.Nodes[ref].ID, o)
		}
	}
	return out
}

// sealed returns a canonical value without the values of secrets.
func (c *caching) sealed(v any) any {
	if c.codec.Secrets.None() {
		return v
	}
	switch v := v.(type) {
	case string:
		return c.codec.Secrets.Seal(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = c.sealed(v[i])
		}
		return out
	case *value.Object:
		if v == nil {
			return v
		}
		out := value.NewObject(v.Len())
		for name, e := range v.All() {
			out.Set(c.codec.Secrets.Seal(name), c.sealed(e))
		}
		return out
	}
	return v
}

// fileSum returns the SHA-256 of a file. It reads a file again if its size or time has changed.
func (c *caching) fileSum(dir, name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	known, ok := c.files[path]
	c.mu.Unlock()
	if ok && known.size == info.Size() && known.at.Equal(info.ModTime()) {
		return known.sum, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", errors.Join(err, f.Close())
	}
	known = fileSum{info.Size(), info.ModTime(), hex.EncodeToString(hash.Sum(nil))}
	c.mu.Lock()
	c.files[path] = known
	c.mu.Unlock()
	return known.sum, f.Close()
}

// load sets o to the result that the store has under a key. ok is false if there is none that can be used.
func (c *caching) load(x *executor, key string, o *machine.Outcome) (ok bool) {
	e, err := c.store.GetCached(x.ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return false
	}
	if err != nil {
		c.warn(x, "an earlier result is not used", err)
		return false
	}
	age := max(0, time.Since(e.Stored))
	if ttl := x.c.Node.Cache().TTL; ttl > 0 && age >= ttl {
		return false
	}
	v, err := guarded(func() (any, error) { return c.codec.DecodeOutcome(x.p, e.Result) }) // the Go types of fields have code
	if err != nil {
		c.warn(x, "an earlier result is not used", err)
		return false
	}
	*o = v.(machine.Outcome)
	o.Status, o.Why = core.Success, fmt.Sprintf("%srun %s, %s ago", core.CachedReason, e.Run, age.Truncate(time.Second))
	return true
}

// keep keeps the result of an attempt, once the journal contains it.
func (c *caching) keep(x *executor, key string, place int, o *machine.Outcome) {
	kept := *o
	kept.Usage, kept.Why = nil, ""
	result, err := c.codec.AppendOutcome(nil, x.p, &kept)
	if err != nil {
		c.warn(x, "its result is not kept", err)
		return
	}
	now := time.Now()
	e := store.CacheEntry{Key: key, Run: c.run.opts.Run, Path: x.c.Call.Name(x.c.Node), Stored: now.UTC().Round(0), Result: result}
	if place >= 0 {
		e.Path = fmt.Sprintf("%s[%d]", e.Path, place)
	}
	if ttl := x.c.Node.Cache().TTL; ttl > 0 {
		e.Expires = e.Stored.Add(ttl)
	}
	if c.run.rec.mode == core.DurabilityOff {
		c.put([]store.CacheEntry{e})
		return
	}
	x.w.kept = append(x.w.kept, e)
}

// put stores entries. Without them the results are computed again, so an error is a warning.
func (c *caching) put(list []store.CacheEntry) {
	for _, e := range list {
		if err := c.store.PutCached(context.WithoutCancel(c.run.parent), e); err != nil {
			c.run.warned.add(plan.PartPath(e.Path), fmt.Sprintf("its result is not kept: %v", err))
		}
	}
}

// keep takes over the results of a worker, whose answer is recorded next.
func (rec *recording) keep(w *worker) {
	if rec != nil && rec.failure == nil {
		rec.results = append(rec.results, w.kept...)
	}
	w.kept = nil
}

// keepAfter stores the results of the current batch once a record is flushed.
func (rec *recording) keepAfter(seq uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, e := range rec.results {
		rec.kept = append(rec.kept, keptResult{seq, e})
	}
	rec.results = nil
}

// putKept stores the results whose records are flushed.
func (rec *recording) putKept(flushed uint64) {
	rec.mu.Lock()
	n := 0
	for n < len(rec.kept) && rec.kept[n].after <= flushed {
		n++
	}
	list := make([]store.CacheEntry, n)
	for i := range list {
		list[i] = rec.kept[i].entry
	}
	rec.kept = slices.Delete(rec.kept, 0, n)
	rec.mu.Unlock()
	if n > 0 {
		rec.run.cache.keeping.Go(func() { rec.run.cache.put(list) })
	}
}
