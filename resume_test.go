package wavefold_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store/memory"
)

// TestResumeOfAChangedGraph: the plan with which the run was started is not known any more.
func TestResumeOfAChangedGraph(t *testing.T) {
	type change struct {
		version, sendVersion  string
		dropsLoad, text, more bool
	}
	var calls string
	up := false
	graph := func(c change) *wavefold.Graph {
		call := func(name string, r core.Result) func(context.Context, core.Input) (core.Result, error) {
			return func(context.Context, core.Input) (core.Result, error) {
				calls += name + " "
				if name == "send" && !up {
					return core.Result{}, errors.New("the service is down")
				}
				return r, nil
			}
		}
		n, m, rest := wavefold.NewField[int]("n"), wavefold.NewField[int]("m"), wavefold.NewField[int]("rest")
		price := wavefold.Func("price", wavefold.Fields(n), wavefold.Fields(m), call("price", core.Write("m", 2)), wavefold.Version(c.version))
		if c.text {
			text := wavefold.NewField[string]("m")
			price = wavefold.Func("price", wavefold.Fields(n), wavefold.Fields(text), call("price", core.Write("m", "two")))
		}
		parts := []wavefold.Part{price, wavefold.Func("send", nil, nil, call("send", core.Result{}), wavefold.After("price"), wavefold.Version(c.sendVersion))}
		if c.dropsLoad {
			parts = append(parts, wavefold.Func("fetch", nil, wavefold.Fields(n), call("fetch", core.Write("n", 1))))
		} else {
			parts = append(parts, wavefold.Func("load", nil, wavefold.Fields(n), call("load", core.Write("n", 1))))
		}
		if c.more {
			parts = append(parts, wavefold.Func("more", wavefold.Fields(n), wavefold.Fields(rest), call("more", core.Write("rest", 3))))
		}
		return wavefold.New("changing", parts...)
	}
	for _, tt := range []struct {
		name    string
		to      change
		options []wavefold.RunOption
		want    string // the functions that are called
		err     string
	}{
		{"not at all", change{}, nil, "send ", ""},
		{"what has failed", change{sendVersion: "2"}, nil, "send ", ""},
		{"a new node", change{more: true}, nil, "more send ", ""},
		{"what has run", change{version: "2"}, nil, "", "node price has run and has changed"},
		{"what has run, kept", change{version: "2"}, []wavefold.RunOption{wavefold.Keep("price")}, "send ", ""},
		{"what has run, from there", change{version: "2"}, []wavefold.RunOption{wavefold.RerunFrom("price")}, "price send ", ""},
		{"what has run, from a node before it", change{version: "2"}, []wavefold.RunOption{wavefold.RerunFrom("load")}, "load price send ", ""},
		{"another type", change{text: true}, nil, "", `result of node price does not fit the workflow: it writes "m": want string`},
		{"another type, kept", change{text: true}, []wavefold.RunOption{wavefold.Keep("price")}, "", `result of node price does not fit the workflow: it writes "m": want string`},
		{"another type, from there", change{text: true}, []wavefold.RunOption{wavefold.RerunFrom("price")}, "price send ", ""},
		{"a removed node", change{dropsLoad: true}, nil, "", "node load has run and is no longer in the workflow"},
		{"an unknown node", change{version: "2"}, []wavefold.RunOption{wavefold.Keep("pric")}, "", `no node "pric"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := memory.New(nil)
			up = false
			if _, err := graph(change{}).Run(t.Context(), wavefold.WithStore(s), wavefold.WithRunID("r"), wavefold.WithConcurrency(1)); err == nil {
				t.Fatal("the run has succeeded")
			}
			calls, up = "", true
			g := graph(tt.to)
			r, err := g.Resume(t.Context(), "r", append(tt.options, wavefold.WithStore(s), wavefold.WithConcurrency(1))...)
			text := ""
			if err == nil {
				var result *wavefold.Result
				if result, err = r.Wait(); result.Status != core.RunSuccess {
					t.Errorf("status %s", result.Status)
				}
			}
			if err != nil {
				text = err.Error()
				if changed, ok := errors.AsType[*scheduler.ChangedError](err); ok {
					text += changed.Findings.Error()
				}
			}
			if calls != tt.want || tt.err == "" && err != nil || !strings.Contains(text, tt.err) {
				t.Errorf("called %q, want %q; error %s, want %s", calls, tt.want, text, tt.err)
			}
			if err != nil {
				return
			}
			if _, err := g.History(t.Context(), s, "r", ""); err != nil {
				t.Error(err)
			}
		})
	}
}
