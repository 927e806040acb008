package peers

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	flow "github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/internal/postgrestest"
	"github.com/wavefold/wavefold/store/postgres"
)

// steps is the number of steps of a run, one after the other. The result of each is stored before the next begins.
const steps = 50

// BenchmarkDurableSteps compares runs of durable steps with DBOS on one PostgreSQL server that flushes. Both take turns:
// in each, several runs are in progress at once. x-dbos is the median of the ratios.
func BenchmarkDurableSteps(b *testing.B) {
	server, stop, err := postgrestest.Start("fsync=on")
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(stop)
	for _, runs := range []int{1, 64} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			ours, theirs := stepsOfWavefold(b, server.DSN("")), stepsOfDBOS(b, server.DSN(""))
			atOnce(b, runs, ours) // warm up
			atOnce(b, runs, theirs)
			var a, d, ratios []float64
			for b.Loop() {
				x, y := atOnce(b, runs, ours), atOnce(b, runs, theirs)
				a, d, ratios = append(a, x), append(d, y), append(ratios, x/y)
			}
			b.ReportMetric(median(a), "us/step")
			b.ReportMetric(median(d), "dbos-us/step")
			b.ReportMetric(1e6/median(a), "steps/s")
			b.ReportMetric(1e6/median(d), "dbos-steps/s")
			b.ReportMetric(median(ratios), "x-dbos")
		})
	}
}

// atOnce starts n runs at once, and returns the microseconds for a step.
func atOnce(b *testing.B, n int, run func() error) float64 {
	begun := time.Now()
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			if err := run(); err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
	return float64(time.Since(begun).Microseconds()) / float64(n*steps)
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

func increment(_ context.Context, v int) (int, error) { return v + 1, nil }

func stepsOfWavefold(b *testing.B, dsn string) func() error {
	s, err := postgres.Open(b.Context(), dsn, postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
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

func stepsOfDBOS(b *testing.B, dsn string) func() error {
	ctx, err := dbos.NewContext(context.Background(), dbos.Config{AppName: "steps", DatabaseURL: dsn, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	dbos.RegisterWorkflow(ctx, dbosSteps)
	if err := dbos.Launch(ctx); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dbos.Shutdown(ctx, 5*time.Second) })
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
