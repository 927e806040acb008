package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Tools are written as lines of statements:
//
//	name: statement; statement
//
// The statements are executed in order for each attempt:
//
//	write FIELD VALUE     writes a field
//	append FIELD VALUE    writes an array of one element
//	args                  writes each of its args to the field of that name
//	send VALUE            sends a value along the edges
//	partial               ends as a partial success
//	sleep DURATION        takes longer
//	mutate                changes every list and map in its inputs
//	fail TEXT             ends with an error, but returns its results so far
//	permanent TEXT        fails with an error that another attempt cannot fix
//	flaky K               fails in the first K attempts
//	fail_on VALUE JSON    fails if the value equals the JSON
//	stop_on VALUE JSON    ends if the value equals the JSON
//	cancel_on VALUE JSON  cancels the caller's context if the value equals the JSON
//	panic TEXT            panics
//	hang                  returns when its context ends, with the context's error
//
// A VALUE is JSON, or one of: item, item.NAME, index, round, loop, attempt, arg.NAME,
// state.NAME, next.NAME (one more than the field's value, from 1), len.NAME (of an
// array), edge.ID, args, state, edges, range.N (the numbers from 0 to N-1). A value
// that does not exist is null.
type behaviour []statement

type statement struct {
	verb, field string
	value       toolValue
	json        any
	text        string
	count       int
	wait        time.Duration
}

type toolValue struct {
	ref   string
	plain any
}

// standardTools are available in every case.
func standardTools(t *testing.T) map[string]behaviour {
	tools := map[string]behaviour{}
	parseTools(t, "the standard tools", `
nothing: sleep 0s
set: args
echo: send args
look: send state
relay: send edges
fail: fail no luck
`, tools)
	return tools
}

func parseTools(t *testing.T, at, text string, into map[string]behaviour) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, body, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("%s: %q is not a tool", at, line)
		}
		var b behaviour
		for s := range strings.SplitSeq(body, ";") {
			x, err := parseStatement(strings.TrimSpace(s))
			if err != nil {
				t.Fatalf("%s: tool %s: %q: %v", at, name, s, err)
			}
			b = append(b, x)
		}
		into[name] = b
	}
}

func parseStatement(text string) (statement, error) {
	verb, rest, _ := strings.Cut(text, " ")
	s := statement{verb: verb}
	var err error
	switch verb {
	case "args", "partial", "mutate", "hang":
		if rest != "" {
			err = fmt.Errorf("takes nothing")
		}
	case "write", "append":
		s.field, rest, _ = strings.Cut(rest, " ")
		s.value, err = parseValue(rest)
	case "send":
		s.value, err = parseValue(rest)
	case "fail", "permanent", "panic":
		s.text = rest
	case "flaky":
		_, err = fmt.Sscan(rest, &s.count)
	case "fail_on", "stop_on", "cancel_on":
		var ref string
		ref, rest, _ = strings.Cut(rest, " ")
		if s.value, err = parseValue(ref); err == nil {
			s.json, err = value.ParseJSON([]byte(rest))
		}
	case "sleep":
		s.wait, err = time.ParseDuration(rest)
	default:
		err = fmt.Errorf("unknown statement")
	}
	return s, err
}

var refs = []string{"item", "index", "round", "loop", "attempt", "args", "state", "edges", "arg", "next", "len", "edge", "range"}

func parseValue(text string) (toolValue, error) {
	head, _, _ := strings.Cut(text, ".")
	for _, r := range refs {
		if head == r {
			return toolValue{ref: text}, nil
		}
	}
	v, err := value.ParseJSON([]byte(text))
	return toolValue{plain: v}, err
}

// of returns the value in an execution.
func (v toolValue) of(in core.Input) any {
	head, name, dotted := strings.Cut(v.ref, ".")
	var got any
	switch head {
	case "":
		return value.Clone(v.plain)
	case "item":
		got, _ = in.Item()
		if o, ok := got.(*value.Object); ok && dotted {
			got, _ = o.Get(name)
		}
	case "index":
		got = int64(in.Index())
	case "round":
		got = int64(in.Round())
	case "loop":
		got = in.Loop()
	case "attempt":
		got = int64(in.Attempt())
	case "arg":
		got, _ = in.Arg(name)
	case "edge":
		got, _ = in.EdgeInput(name)
	case "args":
		got = in.Args()
	case "edges":
		got = in.EdgeInputs()
	case "state":
		if got = any(in.State()); dotted {
			got, _ = in.Get(name)
		}
	case "next":
		n, _ := in.Get(name)
		i, _ := n.(int64)
		got = i + 1
	case "range":
		var n int64
		fmt.Sscan(name, &n)
		list := make([]any, n)
		for i := range list {
			list[i] = int64(i)
		}
		got = list
	case "len":
		a, _ := in.Get(name)
		list, _ := a.([]any)
		got = int64(len(list))
	}
	if value.IsMissing(got) {
		return nil
	}
	return got
}

// handler makes a behaviour a registered function. The recorder of the run records its
// inputs.
func (b behaviour) handler() core.Handler {
	return core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		leave := recorderOf(ctx).enter(in)
		defer leave()
		res := core.Result{Delta: map[string]any{}}
		for _, s := range b {
			done, err := s.do(ctx, in, &res)
			if done || err != nil {
				return res, err
			}
		}
		return res, nil
	})
}

func (s statement) do(ctx context.Context, in core.Input, res *core.Result) (done bool, err error) {
	switch s.verb {
	case "write":
		res.Delta[s.field] = s.value.of(in)
	case "append":
		res.Delta[s.field] = []any{s.value.of(in)}
	case "args":
		for k, v := range in.Args() {
			res.Delta[k] = v
		}
	case "send":
		res.EdgeOutput, res.HasEdgeOutput = s.value.of(in), true
	case "partial":
		res.Status = core.PartialSuccess
	case "sleep":
		time.Sleep(s.wait)
	case "mutate":
		mutateAll(in.State())
		mutateAll(in.Args())
		mutateAll(in.EdgeInputs())
		item, _ := in.Item()
		mutateAll(item)
	case "fail":
		return true, errors.New(s.text)
	case "permanent":
		return true, core.Permanent(errors.New(s.text))
	case "flaky":
		if in.Attempt() <= s.count {
			return true, fmt.Errorf("attempt %d failed", in.Attempt())
		}
	case "fail_on":
		if v := s.value.of(in); value.Equal(v, s.json) {
			return true, fmt.Errorf("cannot take %s", value.JSON(v))
		}
	case "stop_on":
		return value.Equal(s.value.of(in), s.json), nil
	case "cancel_on":
		if value.Equal(s.value.of(in), s.json) {
			recorderOf(ctx).cancel()
		}
	case "panic":
		panic(s.text)
	case "hang":
		<-ctx.Done()
		return true, ctx.Err()
	}
	return false, nil
}

// mutateAll changes a value wherever it can be changed.
func mutateAll(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			mutateAll(e)
			v[k] = "mutated"
		}
		v["mutated"] = true
	case *value.Object:
		for _, k := range append([]string(nil), v.Keys()...) {
			e, _ := v.Get(k)
			mutateAll(e)
			v.Set(k, "mutated")
		}
	case []any:
		for i := range v {
			mutateAll(v[i])
			v[i] = "mutated"
		}
	}
}
