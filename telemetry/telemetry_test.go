package telemetry_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/telemetry"
)

// recorder records the spans and metrics of a run.
type recorder struct {
	noop.TracerProvider
	metricnoop.MeterProvider
	mu      sync.Mutex
	spans   []*span
	metrics []string
}

func (r *recorder) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{recorder: r} }
func (r *recorder) Meter(string, ...metric.MeterOption) metric.Meter  { return meter{recorder: r} }

type tracer struct {
	noop.Tracer
	recorder *recorder
}

func (t tracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := &span{name: name, attributes: map[attribute.Key]string{}}
	if parent, ok := trace.SpanFromContext(ctx).(*span); ok {
		s.parent = parent.name
	}
	config := trace.NewSpanStartConfig(options...)
	s.SetAttributes(config.Attributes()...)
	t.recorder.mu.Lock()
	defer t.recorder.mu.Unlock()
	t.recorder.spans = append(t.recorder.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

type span struct {
	noop.Span
	name, parent string
	attributes   map[attribute.Key]string
	failed       string
	ended        int
}

func (s *span) SetAttributes(kv ...attribute.KeyValue) {
	for _, a := range kv {
		s.attributes[a.Key] = a.Value.String()
	}
}

func (s *span) SetStatus(c codes.Code, text string) { s.failed = c.String() + ": " + text }
func (s *span) End(...trace.SpanEndOption)          { s.ended++ }

type meter struct {
	metricnoop.Meter
	recorder *recorder
}

func (m meter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return histogram{recorder: m.recorder, name: name}, nil
}

type histogram struct {
	metricnoop.Float64Histogram
	recorder *recorder
	name     string
}

func (h histogram) Record(_ context.Context, _ float64, options ...metric.RecordOption) {
	set := metric.NewRecordConfig(options).Attributes()
	h.recorder.mu.Lock()
	defer h.recorder.mu.Unlock()
	h.recorder.metrics = append(h.recorder.metrics, h.name+" "+set.Encoded(attribute.DefaultEncoder()))
}

// lines describes the spans in sorted order, each with its parent, attributes and
// status.
func (r *recorder) lines() string {
	slices.SortStableFunc(r.spans, func(a, b *span) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.attributes[telemetry.Item], b.attributes[telemetry.Item]),
			cmp.Compare(a.attributes[telemetry.Attempt], b.attributes[telemetry.Attempt]))
	})
	var b strings.Builder
	for _, s := range r.spans {
		fmt.Fprintf(&b, "%s < %s:", s.name, s.parent)
		for _, k := range []attribute.Key{telemetry.Workflow, telemetry.Run, telemetry.Attempt, telemetry.Item, telemetry.Loop, telemetry.Round, telemetry.Status, telemetry.Class} {
			if v, ok := s.attributes[k]; ok {
				fmt.Fprintf(&b, " %s=%s", strings.TrimPrefix(string(k), "wavefold."), v)
			}
		}
		if s.failed != "" {
			fmt.Fprintf(&b, " (%s)", s.failed)
		}
		if s.ended != 1 {
			fmt.Fprintf(&b, " ended %d times", s.ended)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestSpans checks that each attempt is a child span of the run, and that a function's
// own spans are children of the attempt.
func TestSpans(t *testing.T) {
	r := &recorder{}
	numbers, doubled := wavefold.NewField[[]int]("numbers"), wavefold.NewField[[]int]("doubled", wavefold.Append)
	broken := errors.New("no route to host")
	g := wavefold.New("daily",
		wavefold.Source("load", numbers, func(ctx context.Context) ([]int, error) {
			_, own := tracer{recorder: r}.Start(ctx, "query")
			own.End()
			return []int{1, 2}, nil
		}),
		wavefold.Each("double", numbers, doubled, func(_ context.Context, n int) (int, error) { return 2 * n, nil }),
		wavefold.Do("send", func(context.Context) error { return broken }, wavefold.After("load"), wavefold.Retry(2)),
		wavefold.Do("later", func(context.Context) error { return nil }, wavefold.After("send")),
	)
	_, err := g.Run(t.Context(), wavefold.WithRunID("r1"), wavefold.WithTracer(telemetry.New(r, r)))
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	want := `double < run daily: run.id=r1 attempt=1 item=0 status=success
double < run daily: run.id=r1 attempt=1 item=1 status=success
load < run daily: run.id=r1 attempt=1 status=success
query < load:
run daily < : workflow=daily run.id=r1 status=failed (Error: node send: no route to host)
send < run daily: run.id=r1 attempt=1 status=fail failure.class=error (Error: no route to host)
send < run daily: run.id=r1 attempt=2 status=fail failure.class=error (Error: no route to host)
`
	if got := r.lines(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	slices.Sort(r.metrics)
	for _, m := range r.metrics {
		t.Log(m)
	}
	if len(r.metrics) != 6 || !slices.Contains(r.metrics, "wavefold.run.duration wavefold.status=failed,wavefold.workflow=daily") {
		t.Errorf("metrics: %q", r.metrics)
	}
}

// TestProvidersMayBeMissing checks that either provider may be nil.
func TestProvidersMayBeMissing(t *testing.T) {
	g := wavefold.New("g", wavefold.Do("a", func(context.Context) error { return nil }))
	for name, tr := range map[string]core.Tracer{"none": telemetry.New(nil, nil), "spans": telemetry.New(&recorder{}, nil), "metrics": telemetry.New(nil, &recorder{})} {
		if r, err := g.Run(t.Context(), wavefold.WithTracer(tr)); err != nil || r.Status != core.RunSuccess {
			t.Errorf("%s: %v, %v", name, r.Status, err)
		}
	}
}
