package program

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestDocument(t *testing.T) {
	type order struct {
		ID    int64  `json:"id"`
		Notes string `json:"notes,omitempty"`
	}
	tests := []struct {
		name  string
		in    core.Shared
		loop  string
		round int
		want  string
	}{
		{"empty", core.Shared{}, "", 0, `{"_state":{},"_edge_inputs":{}}`},
		{"args first, exact integers", core.Shared{Args: value.ObjectOf("id", int64(9007199254740993))}, "", 0,
			`{"id":9007199254740993,"_state":{},"_edge_inputs":{}}`},
		{"typed and missing fields", core.Shared{View: core.NewView([]string{"order", "unset"}, []any{order{ID: 7}, value.Missing})}, "", 0,
			`{"_state":{"order":{"id":7}},"_edge_inputs":{}}`},
		{"null item", core.Shared{Item: nil, Index: core.Nth(0)}, "", 0, `{"_state":{},"_edge_inputs":{},"$item":null,"$index":0}`},
		{"first round", core.Shared{}, "refine", 0, `{"_state":{},"_edge_inputs":{},"$iter":0,"$loop":"refine"}`},
		{"edge inputs", core.Shared{Edges: value.ObjectOf("a", false, "b", int64(0))}, "", 0, `{"_state":{},"_edge_inputs":{"a":false,"b":0}}`},
	}
	for _, tt := range tests {
		before := value.JSON(tt.in.Args)
		tt.in.Loop, tt.in.Round = tt.loop, tt.round
		got, err := Document(core.NewInput("r", "n", 1, tt.in))
		if err != nil || strings.TrimSpace(string(got)) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, err, tt.want)
		}
		if after := value.JSON(tt.in.Args); after != before {
			t.Errorf("%s: the args became %s", tt.name, after)
		}
	}
	if _, err := Document(core.NewInput("r", "n", 1, core.Shared{Args: value.ObjectOf("f", func() {})})); err == nil {
		t.Error("a function has no JSON form")
	}
}

func TestResultLogsMetrics(t *testing.T) {
	log := &nodestest.Log{}
	r, err := ParseResult([]byte(`{"metrics": {"rows": 3}, "edge_output": false}`), slog.New(log))
	if err != nil || nodestest.Text(r) != `{} -> false` || log.Text() != "metrics {\"rows\":3}\n" {
		t.Errorf("got %s, %v, log %q", nodestest.Text(r), err, log.Text())
	}
}

// FuzzResult searches for outputs for which ParseResult panics or accepts an invalid result.
func FuzzResult(f *testing.F) {
	for _, s := range []string{"", "{}", `{"state_delta": {"a": 1}}`, `{"edge_output": [1, null]}`, `{"state_delta": 3}`, "[", `{"a": {}} x`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseResult(data, slog.New(slog.DiscardHandler))
		if err != nil && (len(r.Writes()) > 0 || r.HasEdgeOutput) {
			t.Errorf("an error and a result: %v, %s", err, nodestest.Text(r))
		}
		for field, v := range r.Writes() {
			if _, err := value.AppendJSON(nil, v); err != nil {
				t.Errorf("field %q: %v", field, err)
			}
		}
	})
}
