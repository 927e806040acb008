package program

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestForms(t *testing.T) {
	tests := []struct {
		form Form
		in   string
		want string
		err  string
	}{
		{Text, "", `{"f":""}`, ""},
		{Text, "a\nb\n", `{"f":"a\nb"}`, ""},
		{Text, "a\r\n", `{"f":"a"}`, ""},
		{Text, "a\n\n", `{"f":"a\n"}`, ""},
		{Text, " a ", `{"f":" a "}`, ""},
		{Text, "\xff", "", "not valid UTF-8"},
		{Lines, "", `{"f":[]}`, ""},
		{Lines, "a\r\n\nb", `{"f":["a","","b"]}`, ""},
		{Lines, "a\n", `{"f":["a"]}`, ""},
		{Lines, "a\xff", "", "not valid UTF-8"},
		{JSON, `{"b": 1, "a": 9007199254740993}` + "\n", `{"f":{"b":1,"a":9007199254740993}}`, ""},
		{JSON, "null", `{"f":null}`, ""},
		{JSON, " \n", "", "nothing was printed"},
		{JSON, "{} {}", "", `the output is not JSON: unexpected text after the JSON value at byte 4; printed: "{} {}"`},
		{JSON, strings.Repeat("x", 1000), "", `... (1000 bytes)`},
		{JSONL, "", `{"f":[]}`, ""},
		{JSONL, "{\"a\": 1}\n\n[2]\n3", `{"f":[{"a":1},[2],3]}`, ""},
		{JSONL, "1\noops", "", `line 2 of the output is not JSON: unexpected 'o' at byte 1, want a value; the line: "oops"`},
		{JSONL, "{\"a\":", "", "line 1 of the output is not JSON"},
		{ResultObject, "", `{}`, ""},
		{ResultObject, `{"state_delta": {"x": 1}, "edge_output": null}`, `{"x":1} -> null`, ""},
		{ResultObject, `{"state_delta": null}`, `{}`, ""},
		{ResultObject, `{"state_delta": [1]}`, "", "state_delta must be an object of fields, got array"},
		{ResultObject, `{"x": 1}`, "", "fields of the state belong into state_delta"},
		{ResultObject, `"x"`, "", "must be a JSON object, got string"},
		{None, "anything", `{}`, ""},
	}
	for _, tt := range tests {
		r, err := tt.form.Result([]byte(tt.in), setting.Target{Field: "f"}, slog.New(slog.DiscardHandler))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s of %q: got error %v, want %q in it", tt.form, tt.in, err, tt.err)
			}
			continue
		}
		if got := nodestest.Text(r); err != nil || got != tt.want {
			t.Errorf("%s of %q: got %s, %v, want %s", tt.form, tt.in, got, err, tt.want)
		}
	}
}
