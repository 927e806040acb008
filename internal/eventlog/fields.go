package eventlog

import (
	"fmt"
	"math"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// set stores one field of an event. It ignores unknown fields, since new ones may be added
// at any time.
func set(e *core.Event, key string, v any) (err error) {
	switch key {
	case "v":
		e.V = core.EventVersion
	case "seq":
		err = to(&e.Seq, v)
	case "ts":
		e.Time, err = timeOf(v)
	case "type":
		err = to((*string)(&e.Type), v)
	case "run":
		err = to(&e.Run, v)
	case "node":
		err = to(&e.Node, v)
	case "unit":
		err = to(&e.Unit, v)
	case "kind":
		err = to(&e.Kind, v)
	case "phase":
		err = to(&e.Phase, v)
	case "level":
		err = ordinal(&e.Level, v)
	case "item":
		err = ordinal(&e.Item, v)
	case "round":
		err = ordinal(&e.Round, v)
	case "visit":
		err = whole(&e.Visit, v)
	case "attempt":
		err = whole(&e.Attempt, v)
	case "total":
		err = ordinal(&e.Total, v)
	case "status":
		err = to(&e.Status, v)
	default:
		err = setRest(e, key, v)
	}
	return err
}

func setRest(e *core.Event, key string, v any) (err error) {
	switch key {
	case "duration_ns":
		err = to((*int64)(&e.Duration), v)
	case "delay_ns":
		err = to((*int64)(&e.Delay), v)
	case "reason":
		err = to(&e.Reason, v)
	case "cause":
		err = to(&e.Cause, v)
	case "error":
		e.Error, err = failure(v)
	case "from":
		err = to(&e.From, v)
	case "to":
		err = to(&e.To, v)
	case "when":
		err = to(&e.When, v)
	case "result":
		e.Result = new(bool)
		err = to(e.Result, v)
	case "values":
		err = to(&e.Values, v)
	case "step":
		err = to(&e.Step, v)
	case "label":
		err = to(&e.Label, v)
	case "purpose":
		err = to(&e.Purpose, v)
	case "model":
		err = to(&e.Model, v)
	case "tool":
		err = to(&e.Tool, v)
	case "turn":
		err = whole(&e.Turn, v)
	case "usage":
		e.Usage, err = usage(v)
	case "nodes":
		err = texts(&e.Nodes, v)
	case "field":
		err = to(&e.Field, v)
	case "null":
		err = to(&e.Null, v)
	case "state":
		err = to(&e.State, v)
	case "inputs":
		err = to(&e.Inputs, v)
	case "limits":
		e.Limits, err = limits(v)
	case "log":
		err = to(&e.Log, v)
	case "severity":
		err = to(&e.Severity, v)
	case "done":
		err = to(&e.Done, v)
	case "read":
		err = to(&e.Read, v)
	case "size":
		err = to(&e.Size, v)
	case "of":
		err = to(&e.Of, v)
	}
	return err
}

// to stores a value of the type of the field.
func to[T string | int64 | float64 | bool | *value.Object](field *T, v any) error {
	x, ok := v.(T)
	if !ok {
		return fmt.Errorf("want %s, got %s", value.TypeName(*field), value.TypeName(v))
	}
	*field = x
	return nil
}

func texts(field *[]string, v any) error {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("want array, got %s", value.TypeName(v))
	}
	for _, e := range list {
		var s string
		if err := to(&s, e); err != nil {
			return err
		}
		*field = append(*field, s)
	}
	return nil
}

func whole(field *int, v any) error {
	var n int64
	if err := to(&n, v); err != nil {
		return err
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		return fmt.Errorf("%d is out of range", n)
	}
	*field = int(n)
	return nil
}

func ordinal(field *core.Ordinal, v any) error {
	var n int64
	if err := to(&n, v); err != nil {
		return err
	}
	if n < 0 || n >= math.MaxInt32 {
		return fmt.Errorf("%d is out of range", n)
	}
	*field = core.Nth(int(n))
	return nil
}

func timeOf(v any) (time.Time, error) {
	var s string
	if err := to(&s, v); err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, fmt.Errorf("want a time such as 2024-01-31T08:00:00Z, got %q", s)
	}
	return t, nil
}

func failure(v any) (*core.Failure, error) {
	f := &core.Failure{}
	return f, each(v, func(key string, v any) error {
		switch key {
		case "class":
			return to(&f.Class, v)
		case "message":
			return to(&f.Message, v)
		case "permanent":
			return to(&f.Permanent, v)
		case "category":
			return to((*string)(&f.Category), v)
		case "signature":
			return to(&f.Signature, v)
		case "retry_after":
			return to((*int64)(&f.RetryAfter), v)
		case "fails_run":
			return to(&f.FailsRun, v)
		case "node":
			return to(&f.Node, v)
		case "stack":
			return to(&f.Stack, v)
		}
		return nil
	})
}

func usage(v any) (*core.Usage, error) {
	u := &core.Usage{}
	return u, each(v, func(key string, v any) error {
		switch key {
		case "calls":
			return to(&u.Calls, v)
		case "input_tokens":
			return to(&u.Input, v)
		case "cached_input_tokens":
			return to(&u.CachedInput, v)
		case "estimated":
			return to(&u.Estimated, v)
		case "output_tokens":
			return to(&u.Output, v)
		case "reasoning_tokens":
			return to(&u.Reasoning, v)
		case "cost":
			if n, ok := v.(int64); ok {
				u.Cost = float64(n)
				return nil
			}
			return to(&u.Cost, v)
		}
		return nil
	})
}

func limits(v any) (*core.Limits, error) {
	l := &core.Limits{}
	return l, each(v, func(key string, v any) error {
		switch key {
		case "concurrency":
			return whole(&l.Concurrency, v)
		case "max_in_flight":
			return whole(&l.MaxInFlight, v)
		case "max_visits":
			return whole(&l.MaxVisits, v)
		case "barrier":
			return to(&l.Barrier, v)
		case "added_kinds":
			return texts(&l.AddedKinds, v)
		}
		return nil
	})
}

// each calls set for every member of an object, and adds the key to an error.
func each(v any, set func(key string, v any) error) error {
	var o *value.Object
	if err := to(&o, v); err != nil {
		return err
	}
	for key, v := range o.All() {
		if err := set(key, v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
