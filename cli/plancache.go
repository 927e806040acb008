package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// planFlags are the flags of plan about results of earlier runs.
type planFlags struct {
	store, model  string
	inputs, files []string
}

// forecastCache adds to a description what the store has of the results of nodes with a cache. A store that
// does not exist has none.
func (a *app) forecastCache(ctx context.Context, p *plan.Plan, d *plan.Description, args []string, f *planFlags) error {
	if len(p.CachedNodes()) == 0 {
		return nil
	}
	values, err := inputsOf(p, f.files, f.inputs)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	cacher, done, err := a.cacheOf(ctx, p, f)
	if err != nil {
		return err
	}
	defer done()
	found, err := scheduler.ForecastCache(ctx, p, values, cacher, f.model)
	for _, n := range graphNodes(d) {
		switch {
		case n.Cache == nil:
		case err != nil: // a required input is missing
			n.Cache.Now = &plan.CacheForecast{Status: plan.CacheUnknown, Why: fmt.Sprintf("the inputs are not complete: %v", err)}
		default:
			n.Cache.Now = found[n.ID]
		}
	}
	return nil
}

// noResults is a store without results.
type noResults struct{}

func (noResults) PutCached(context.Context, store.CacheEntry) error { return nil }

func (noResults) GetCached(context.Context, string) (store.CacheEntry, error) {
	return store.CacheEntry{}, store.ErrNotFound
}

// forecastText says what the store has of the results of a node.
func forecastText(c *plan.CacheForecast) string {
	if c == nil {
		return ""
	}
	switch c.Status {
	case plan.CacheHit:
		if c.Executions > 1 {
			return fmt.Sprintf("%d results: run %s, %s ago", c.Hits, c.Run, c.Age)
		}
		return fmt.Sprintf("result: run %s, %s ago", c.Run, c.Age)
	case plan.CachePartial:
		return fmt.Sprintf("%d of %d results: run %s, %s ago", c.Hits, c.Executions, c.Run, c.Age)
	case plan.CacheMiss:
		return "no result"
	}
	return "not known: " + c.Why
}

// cacheOf returns the results that a run of the workflow could use, and the function that closes the store. A
// store that does not exist is not created: it has no results.
func (a *app) cacheOf(ctx context.Context, p *plan.Plan, f *planFlags) (c store.Cacher, closed func(), err error) {
	place, none, err := a.storeSetting(f.store)
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	if place == "" {
		place = filepath.Join(p.Workflow.Dir, storeName)
	}
	if none {
		return noResults{}, func() {}, nil
	}
	s, err := a.openStore(ctx, place)
	if _, missing := errors.AsType[*store.MissingError](err); missing {
		return noResults{}, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	c, ok := s.(store.Cacher)
	if !ok {
		c = noResults{}
	}
	return c, func() { s.Close() }, nil
}
