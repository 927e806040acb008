package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file"
	"github.com/wavefold/wavefold/store/postgres"
)

const (
	// storeName is the folder of the default store, beside the workflow.
	storeName = ".wavefold"
	// storeVariable is the environment variable with the default of --store.
	storeVariable = "WAVEFOLD_STORE"
	storeNone     = "none"
	storeScheme   = "file:"
)

// runStore is a store that a command has opened. Its String is what --store is for it, without passwords.
type runStore interface {
	store.Store
	fmt.Stringer
	io.Closer
	Retain(ctx context.Context, workflow string) (store.Pruned, error)
}

// folderOf returns the folder of a store, "" if it is a database.
func folderOf(s runStore) string {
	if in, ok := s.(interface{ Dir() string }); ok {
		return in.Dir()
	}
	return ""
}

// placeOf returns the place of a store for a message.
func placeOf(s runStore) string { return cmp.Or(folderOf(s), s.String()) }

// isDatabase reports whether a store is in a database, not in a folder.
func isDatabase(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// storeFlag adds --store.
func (a *app) storeFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "store", "", "where runs are stored: file:`DIR`, postgres://HOST/DATABASE, or none (default: $"+storeVariable+", or "+storeName+" beside the workflow)")
}

// storeSetting returns the folder, or the URL of the database, that --store or the environment names.
// none reports that no store is wanted; place is "" if neither names one.
func (a *app) storeSetting(flag string) (place string, none bool, err error) {
	name, setting := "--store", flag
	if setting == "" {
		name, setting = storeVariable, a.Getenv(storeVariable)
	}
	dir, ok := strings.CutPrefix(setting, storeScheme)
	switch {
	case setting == "":
		return "", false, nil
	case setting == storeNone:
		return "", true, nil
	case isDatabase(setting):
		return setting, false, nil
	case !ok || dir == "":
		if scheme, _, url := strings.Cut(setting, "://"); url { // the rest may contain a password
			setting = scheme + "://..."
		}
		return "", false, fail(exitUsage, "%s is %q, want %sDIR, postgres://HOST/DATABASE or %s", name, setting, storeScheme, storeNone)
	}
	return dir, false, nil
}

// openStore opens the store in a folder or in a database, for a command that creates none.
func (a *app) openStore(ctx context.Context, place string) (runStore, error) {
	s, err := a.open(ctx, place, true)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return s, nil
}

// open opens the store in a folder or in a database. existing is false if it may be created.
func (a *app) open(ctx context.Context, place string, existing bool) (runStore, error) {
	warn := func(message string) { a.warnf("%s", message) }
	if isDatabase(place) {
		return opened(postgres.Open(ctx, place, postgres.Options{Existing: existing, Warn: warn}))
	}
	return opened(file.Open(place, file.Options{Existing: existing, Warn: warn}))
}

// opened returns a store as an interface, which is nil if there is an error.
func opened[S runStore](s S, err error) (runStore, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newRunStore opens the store for a new run of a workflow in a folder. It is nil if the run is not to be
// stored. A default store that cannot be written is left out with a warning: the run continues without it.
func (a *app) newRunStore(ctx context.Context, flag, folder string) (s runStore, optional bool, err error) {
	dir, none, err := a.storeSetting(flag)
	if err != nil || none {
		return nil, false, err
	}
	optional = dir == ""
	if optional {
		dir = filepath.Join(folder, storeName)
	}
	s, err = a.open(ctx, dir, false)
	if err != nil && optional {
		a.warnf("the run is not stored: %v", err)
		return nil, true, nil
	}
	return s, optional, err
}

// maxStoreDepth limits how far below the current folder stores are looked for.
const maxStoreDepth = 4

// findStores returns where a command without a workflow looks for runs: the store that
// is set, or else the default stores of the current folder, of the nearest parent that has one, and of
// the folders below, in this order.
func (a *app) findStores(flag string) ([]string, error) {
	dir, none, err := a.storeSetting(flag)
	switch {
	case err != nil:
		return nil, err
	case none:
		return nil, errNeedsStore
	case dir != "":
		return []string{dir}, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var found []string
	if above := storeAbove(here); above != "" {
		found = append(found, above)
	}
	err = filepath.WalkDir(here, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // what cannot be read has no stores
		}
		if d.Name() == storeName {
			if file.IsStore(path) && !slices.Contains(found, path) {
				found = append(found, path)
			}
			return fs.SkipDir
		}
		rel, _ := filepath.Rel(here, path)
		if rel != "." && (strings.HasPrefix(d.Name(), ".") || strings.Count(rel, string(filepath.Separator)) >= maxStoreDepth) {
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// storeAbove returns the default store in a folder, or in the nearest one above that has it; "" if none
// has it.
func storeAbove(dir string) string {
	for {
		if at := filepath.Join(dir, storeName); file.IsStore(at) {
			return at
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// errNeedsStore is the error of a command that needs a store if the settings say that there is none.
var errNeedsStore = fail(exitUsage, "this command needs a store, and --store or %s is %s", storeVariable, storeNone)

// errNoStore is the error of a command that needs a store if there is none.
var errNoStore = fail(exitUsage, "there is no store (%s) here, in a folder above or in one below; --store file:DIR names one", storeName)

// minPrefix is the minimum length of an abbreviated run id.
const minPrefix = 4

// storedRun is a run in a store.
type storedRun struct {
	store runStore
	store.Summary
	wait *scheduler.QueuedRun // the wait for its concurrency key; nil if it does not wait, and if it is not known
}

// files returns the store of a run as one that keeps files with it.
func (r *storedRun) files() (store.Attacher, error) {
	if files, ok := r.store.(store.Attacher); ok {
		return files, nil
	}
	return nil, fail(exitUsage, "%s keeps neither log records nor what programs print", r.store)
}

// findRun opens the store of a run and returns its summary. id may be a prefix of four or more
// characters; "" means the newest run that fits; if fits is nil, all runs do. The caller closes the store.
// The error of a run that waits for its concurrency key, and so is not stored yet, says so.
func (a *app) findRun(ctx context.Context, flag, id string, fits func(*store.Summary) bool) (*storedRun, error) {
	found, err := a.findAny(ctx, flag, id, fits)
	if err == nil && !found.isStored() {
		return nil, errors.Join(found.unstored(), found.store.Close())
	}
	return found, err
}

// findAny is findRun for stored runs and runs that wait for their concurrency key. Without an id it finds
// stored runs only.
func (a *app) findAny(ctx context.Context, flag, id string, fits func(*store.Summary) bool) (*storedRun, error) {
	dirs, err := a.findStores(flag)
	if err != nil {
		return nil, err
	}
	var places []string
	var best *storedRun
	var prefixed []string
	for _, dir := range dirs {
		s, err := a.openStore(ctx, dir)
		if err != nil {
			return nil, err
		}
		places = append(places, placeOf(s))
		list, err := candidates(ctx, s, id, fits)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		keep := false
		for _, r := range list {
			if id != "" {
				prefixed = append(prefixed, r.Run)
			}
			if exact := r.Run == id; best == nil || exact || id == "" && r.Started.After(best.Started) {
				if best != nil && best.store != s {
					_ = best.store.Close()
				}
				if best, keep = r, true; exact {
					return best, nil
				}
			}
		}
		if !keep {
			_ = s.Close()
		}
	}
	where := strings.Join(places, ", ")
	switch {
	case len(prefixed) > 1:
		_ = best.store.Close()
		return nil, fail(exitUsage, "%d runs begin with %q: %s", len(prefixed), id, strings.Join(prefixed[:min(len(prefixed), 5)], ", "))
	case best != nil:
		return best, nil
	case len(dirs) == 0:
		return nil, errNoStore
	case id == "":
		return nil, fail(exitUsage, "no such run in %s", where)
	}
	return nil, fail(exitUsage, "no run %q in %s", id, where)
}

// candidates returns the runs in a store that an id may mean: the run with that id alone if there is one. For "", it is the
// newest run that fits.
func candidates(ctx context.Context, s runStore, id string, fits func(*store.Summary) bool) (list []*storedRun, err error) {
	for sum, err := range s.List(ctx, store.Query{Prefix: id}) {
		r := &storedRun{store: s, Summary: sum}
		switch {
		case err != nil:
			return nil, err
		case id == "" && (fits == nil || fits(&sum)): // the list begins with the newest
			return []*storedRun{r}, nil
		case id == "":
		case sum.Run == id:
			return []*storedRun{r}, nil
		case len(id) >= minPrefix:
			list = append(list, r)
		}
	}
	if id == "" {
		return nil, nil
	}
	waiting, err := findQueued(ctx, s, id)
	if len(waiting) == 1 && waiting[0].Run == id {
		return waiting, err
	}
	return append(list, waiting...), err
}
