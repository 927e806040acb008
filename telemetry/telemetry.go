// Package telemetry reports runs as OpenTelemetry spans and metrics.
//
//	graph.Run(ctx, wavefold.WithTracer(telemetry.New(otel.GetTracerProvider(), otel.GetMeterProvider())))
//
// It depends only on the OpenTelemetry API; the program chooses the exporters.
package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Scope is the name of the instrumentation scope.
const Scope = "github.com/wavefold/wavefold"

// Attributes of spans and metrics. Metrics have only the attributes with few distinct
// values: workflow, node, kind and status.
const (
	Workflow = attribute.Key("wavefold.workflow")
	Run      = attribute.Key("wavefold.run.id")
	Node     = attribute.Key("wavefold.node.id") // the path of the node: "outer[3]/inner"
	Kind     = attribute.Key("wavefold.node.kind")
	Attempt  = attribute.Key("wavefold.attempt") // from 1
	Item     = attribute.Key("wavefold.item")    // of a fan-out or pipeline, from 0
	Loop     = attribute.Key("wavefold.loop.id")
	Round    = attribute.Key("wavefold.loop.round") // from 0
	Status   = attribute.Key("wavefold.status")
	Class    = attribute.Key("wavefold.failure.class")
)

// Names of the metrics.
const (
	RunDuration     = "wavefold.run.duration"     // histogram, seconds
	AttemptDuration = "wavefold.attempt.duration" // histogram, seconds
)

// New returns a tracer for wavefold.WithTracer. It may be used by several runs at once.
//
// A run is a span "run WORKFLOW", a child of the span in the run's context. Each
// attempt of a node, item, stage or round is a child span "NODE", and spans that a
// function starts from its context are children of that span. The status of a failed
// span is the failure; partial success is not an error. The metrics are the durations
// of runs and attempts, by status. Either provider may be nil. Errors that the meter
// returns for the metrics are passed to OpenTelemetry's error handler.
func New(spans trace.TracerProvider, meters metric.MeterProvider) core.Tracer {
	t := &tracer{}
	if spans != nil {
		t.spans = spans.Tracer(Scope)
	}
	if meters != nil {
		m := meters.Meter(Scope)
		t.runs = histogram(m, RunDuration, "Duration of a run.")
		t.attempts = histogram(m, AttemptDuration, "Duration of an attempt of a node.")
	}
	return t
}

func histogram(m metric.Meter, name, description string) metric.Float64Histogram {
	h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description))
	if err != nil {
		otel.Handle(err)
	}
	return h
}

type tracer struct {
	spans          trace.Tracer
	runs, attempts metric.Float64Histogram
}

// workflowKey is the context key of the name of the workflow.
type workflowKey struct{}

// StartRun implements core.Tracer.
func (t *tracer) StartRun(ctx context.Context, run, workflow string) (context.Context, func(*core.Report)) {
	began := time.Now()
	ctx, span := t.start(ctx, "run "+workflow, Workflow.String(workflow), Run.String(run))
	ctx = context.WithValue(ctx, workflowKey{}, workflow)
	return ctx, func(r *core.Report) {
		if span != nil {
			span.SetAttributes(Status.String(string(r.Status)))
			if r.Err != nil {
				span.SetStatus(codes.Error, r.Err.Error())
			}
			span.End()
		}
		if t.runs != nil {
			t.runs.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(Workflow.String(workflow), Status.String(string(r.Status))))
		}
	}
}

// StartAttempt implements core.Tracer.
func (t *tracer) StartAttempt(ctx context.Context, kind string, in core.Input) (context.Context, func(core.Status, *core.Failure)) {
	began := time.Now()
	workflow, _ := ctx.Value(workflowKey{}).(string)
	ctx, span := t.start(ctx, in.Node(), Run.String(in.Run()), Node.String(in.Node()), Kind.String(kind), Attempt.Int(in.Attempt()))
	if span != nil {
		if i := in.Index(); i >= 0 {
			span.SetAttributes(Item.Int(i))
		}
		if in.Loop() != "" {
			span.SetAttributes(Loop.String(in.Loop()), Round.Int(in.Round()))
		}
	}
	return ctx, func(s core.Status, f *core.Failure) {
		if span != nil {
			span.SetAttributes(Status.String(s.String()))
			if f != nil {
				span.SetAttributes(Class.String(string(f.Class)))
				span.SetStatus(codes.Error, f.Message)
			}
			span.End()
		}
		if t.attempts != nil {
			t.attempts.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(
				Workflow.String(workflow), Node.String(index.ReplaceAllString(in.Node(), "")), Kind.String(kind), Status.String(s.String())))
		}
	}
}

// index matches the item in the path of a node of a nested workflow. Metrics omit it,
// because each value would create a separate series.
var index = lazyregexp.New(`\[\d+\]`)

// start begins a span. The span is nil if there is no provider.
func (t *tracer) start(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	if t.spans == nil {
		return ctx, nil
	}
	return t.spans.Start(ctx, name, trace.WithAttributes(attributes...))
}
