package peers

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	flow "github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/benchmarks"
	"github.com/wavefold/wavefold/internal/postgrestest"
	"github.com/wavefold/wavefold/store/postgres"
)

// steps is the number of steps of a run, one after the other. The result of each is stored before the next begins.
const steps = 50

// durableTable compares runs of durable steps with DBOS on one PostgreSQL server that flushes.
func durableTable(tb testing.TB) (benchmarks.Table, error) {
	server, stop, err := postgrestest.Start("fsync=on")
	if err != nil {
		return benchmarks.Table{}, err
	}
	tb.Cleanup(stop)
	t := benchmarks.Table{ID: "durable", Unit: "step"}
	for _, runs := range []int{1, 64} {
		name := fmt.Sprintf("%d runs at once, 50 steps each", runs)
		if runs == 1 {
			name = "1 run of 50 steps"
		}
		atOnce := func(title string, start func(tb testing.TB, dsn string) func() error) benchmarks.Case {
			return benchmarks.Case{Name: title, Units: runs * steps, Start: func(tb testing.TB) func() { return atOnce(tb, runs, start(tb, server.DSN(""))) }}
		}
		t.Figures = append(t.Figures, benchmarks.Figure{Name: name, Subject: atOnce("wavefold", stepsOfWavefold), Reference: atOnce("DBOS", stepsOfDBOS)})
	}
	return t, nil
}

// atOnce returns a function that makes n runs at once.
func atOnce(tb testing.TB, n int, run func() error) func() {
	return func() {
		var group sync.WaitGroup
		for range n {
			group.Go(func() {
				if err := run(); err != nil {
					tb.Error(err)
				}
			})
		}
		group.Wait()
	}
}

func increment(_ context.Context, v int) (int, error) { return v + 1, nil }

func stepsOfWavefold(tb testing.TB, dsn string) func() error {
	s, err := postgres.Open(tb.Context(), dsn, postgres.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	var fields []flow.Field[int]
	var parts []flow.Part
	for i := range steps + 1 {
		fields = append(fields, flow.NewField[int](fmt.Sprintf("f%d", i)))
		if i > 0 {
			parts = append(parts, flow.Map(fmt.Sprintf("n%d", i), fields[i-1], fields[i], increment))
		}
	}
	g := flow.New("steps", parts...)
	return func() error {
		r, err := g.Run(context.Background(), fields[0].Is(1), flow.WithStore(s), flow.WithDurability(flow.Full))
		if err == nil && fields[steps].Get(r) != steps+1 {
			err = fmt.Errorf("the result is %d", fields[steps].Get(r))
		}
		return err
	}
}

func dbosSteps(ctx dbos.Context, v int) (int, error) {
	for range steps {
		next, err := dbos.RunAsStep(ctx, func(ctx context.Context) (int, error) { return increment(ctx, v) })
		if err != nil {
			return 0, err
		}
		v = next
	}
	return v, nil
}

func stepsOfDBOS(tb testing.TB, dsn string) func() error {
	ctx, err := dbos.NewContext(context.Background(), dbos.Config{AppName: "steps", DatabaseURL: dsn, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		tb.Fatal(err)
	}
	dbos.RegisterWorkflow(ctx, dbosSteps)
	if err := dbos.Launch(ctx); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { dbos.Shutdown(ctx, 5*time.Second) })
	return func() error {
		h, err := dbos.RunWorkflow(ctx, dbosSteps, 1)
		if err != nil {
			return err
		}
		v, err := h.GetResult()
		if err == nil && v != steps+1 {
			err = fmt.Errorf("the result is %d", v)
		}
		return err
	}
}
