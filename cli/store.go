package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file"
)

const (
	// storeName is the folder of the default store, beside the workflow.
	storeName = ".wavefold"
	// storeVariable is the environment variable that stands for --store.
	storeVariable = "WAVEFOLD_STORE"
	storeNone     = "none"
	storeScheme   = "file:"
)

// storeFlag adds --store.
func (a *app) storeFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "store", "", "where runs are stored: file:`DIR`, or none (default: $"+storeVariable+", or "+storeName+" beside the workflow)")
}

// storeSetting returns the folder that --store or the environment names. none reports that no store is
// wanted; dir is "" if neither names one.
func (a *app) storeSetting(flag string) (dir string, none bool, err error) {
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
	case !ok || dir == "":
		return "", false, fail(exitUsage, "%s is %q, want %sDIR or %s", name, setting, storeScheme, storeNone)
	}
	return dir, false, nil
}

// openStore opens the store in a folder.
func (a *app) openStore(dir string) (*file.Store, error) {
	return file.Open(dir, file.Options{Warn: func(message string) { a.warnf("%s", message) }})
}

// runStore opens the store for a new run of a workflow in a folder. It is nil if the run is not to be
// stored. A default store that cannot be written is left out with a warning: the run goes on without.
func (a *app) runStore(flag, folder string) (s *file.Store, optional bool, err error) {
	dir, none, err := a.storeSetting(flag)
	if err != nil || none {
		return nil, false, err
	}
	optional = dir == ""
	if optional {
		dir = filepath.Join(folder, storeName)
	}
	s, err = a.openStore(dir)
	if err != nil && optional {
		a.warnf("the run is not stored: %v", err)
		return nil, true, nil
	}
	return s, optional, err
}

// maxStoreDepth limits how far below the current folder stores are looked for.
const maxStoreDepth = 4

// findStores returns the folders of the stores that a command without a workflow looks into, in order:
// the one that is set, or else the default store of the current folder, of the nearest parent that
// has one, and those of the folders below.
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
			if !slices.Contains(found, path) {
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
		if at := filepath.Join(dir, storeName); isFolder(at) {
			return at
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// errNeedsStore is the error of a command that needs a store if the settings say that there is none.
var errNeedsStore = fail(exitUsage, "this command needs a store, and --store or %s is %s", storeVariable, storeNone)

// errNoStore is the error of a command that needs a store if there is none.
var errNoStore = fail(exitUsage, "there is no store (%s) here, in a folder above or in one below; --store file:DIR names one", storeName)

// minPrefix is the minimum length of an abbreviated run id.
const minPrefix = 4

// storedRun is a run in a store.
type storedRun struct {
	store *file.Store
	store.Summary
}

// findRun opens the store of a run and returns its summary. id may be a prefix of four or more
// characters; "" means the newest run that fits. The caller closes the store.
func (a *app) findRun(ctx context.Context, flag, id string, fits func(*store.Summary) bool) (*storedRun, error) {
	dirs, err := a.findStores(flag)
	if err != nil {
		return nil, err
	}
	var best *storedRun
	var prefixed []string
	for _, dir := range dirs {
		s, err := a.openStore(dir)
		if err != nil {
			return nil, err
		}
		keep := false
		for sum, err := range s.List(ctx, store.Query{Prefix: id}) {
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
			exact := sum.Run == id
			if id == "" && !fits(&sum) || id != "" && !exact && len(id) < minPrefix {
				continue
			}
			if id != "" {
				prefixed = append(prefixed, sum.Run)
			}
			if best == nil || exact || id == "" && sum.Started.After(best.Started) {
				if best != nil && best.store != s {
					_ = best.store.Close()
				}
				best, keep = &storedRun{s, sum}, true
			}
			if exact {
				return best, nil
			}
			if id == "" {
				break // the list begins with the newest
			}
		}
		if !keep {
			_ = s.Close()
		}
	}
	where := strings.Join(dirs, ", ")
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
