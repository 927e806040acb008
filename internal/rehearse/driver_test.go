package rehearse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler"
)

// answering is a kind whose handlers actually give the answers of a mock file, sleep and
// panic, which a rehearsal only simulates.
type answering struct {
	noop
	*answerer
}

type answerer struct {
	mu    sync.Mutex
	calls *script[mock.Answer]
}

func (k answering) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	made, ds := k.noop.Compile(n, env)
	if made.Handler != nil {
		made.Handler = core.HandlerFunc(k.handle)
	}
	return made, ds
}

func (k *answerer) handle(ctx context.Context, in core.Input) (core.Result, error) {
	index := in.Shared().Index
	if in.Loop() != "" {
		index = core.Nth(in.Round())
	}
	k.mu.Lock()
	a := k.calls.next(call{node: withoutIndexes(in.Node()), item: index})
	k.mu.Unlock()
	select {
	case <-time.After(a.Sleep.Value):
	case <-ctx.Done():
		return core.Result{}, ctx.Err()
	}
	switch {
	case a.Panic != nil:
		panic(a.Panic.Value)
	case a.Error != nil && !a.Error.Retryable:
		return core.Result{}, core.Permanent(errors.New(a.Error.Message.Value))
	case a.Error != nil:
		return core.Result{}, errors.New(a.Error.Message.Value)
	case a.Status.Value == "fail":
		return core.Result{}, errors.New("the mock answers with status fail")
	}
	r := core.Result{Delta: map[string]any{}}
	for _, w := range a.Delta {
		r.Delta[w.Key.Value] = w.Value.Plain()
	}
	if a.EdgeOutput != nil {
		r.EdgeOutput, r.HasEdgeOutput = a.EdgeOutput.Plain(), true
	}
	if a.Status.Value == "partial_success" {
		r.Status = core.PartialSuccess
	}
	return r, nil
}

// TestAgreesWithTheDriver checks that a rehearsal has the same result as the local driver
// with handlers that give the same answers, including the simulated times, which are exact
// inside a synctest bubble.
func TestAgreesWithTheDriver(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	agreed := 0
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var file *mock.File
		for _, f := range a.Files {
			if f.Name == "mock.yaml" {
				file, _ = mock.Parse(f.Name, f.Data)
			}
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pretended, ok := compileWith(t, dir, file, false)
		if !ok {
			continue // the archive tests findings
		}
		real, _ := compileWith(t, dir, file, true)
		agreed++
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want, got := real(t), pretended(t)
				if want != got {
					t.Errorf("the rehearsal comes to\n%s\nthe driver to\n%s", got, want)
				}
			})
		})
	}
	if agreed < 5 {
		t.Errorf("only %d archives were compared", agreed)
	}
}

// compileWith compiles an archive's workflow, with handlers or without, and returns a
// function that runs it and summarizes the result.
func compileWith(t *testing.T, dir string, file *mock.File, handlers bool) (run func(*testing.T) string, ok bool) {
	kinds := wavefold.NewEngine().Registry()
	reg := Registry(kinds, file)
	if handlers {
		shared := &answerer{calls: newCalls(file)}
		for _, name := range kinds.KindNames() {
			k, _ := kinds.Kind(name)
			reg.AddKind(answering{noop{Kind: k, file: file}, shared})
		}
	}
	e := wavefold.EngineOf(reg)
	w, ds := e.Read(filepath.Join(dir, "flow.yaml"))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	w, inputs, ds := Prepare(w, file)
	if ds.Failed(false) {
		return nil, false
	}
	p, ds := e.Compile(w, false)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	return func(t *testing.T) string {
		if !handlers {
			rec, err := Run(p, inputs, file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return sum(rec.Report)
		}
		values := map[string]any{}
		for k, v := range inputs.All() {
			values[k] = v
		}
		r, _ := scheduler.Run(t.Context(), p, values, scheduler.Options{Run: "test"})
		return sum(r)
	}, true
}

func sum(r *core.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s: %v\n%s\n", r.Status, r.Duration, r.Err, value.JSON(r.State))
	for _, n := range r.Nodes() {
		class := ""
		if n.Failure != nil {
			class = n.Failure.Class
		}
		fmt.Fprintf(&b, "%s %s %s %s %s %d attempts, %d items, %d failed, from %s for %s\n",
			n.ID, n.Status, class, n.Reason, n.Cause, n.Attempts, n.Items, n.Failed, n.Started, n.Duration)
	}
	for _, u := range r.Units() {
		fmt.Fprintf(&b, "%+v\n", u)
	}
	return b.String()
}
