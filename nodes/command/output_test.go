package command

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/nodes/internal/target"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestForms(t *testing.T) {
	tests := []struct {
		form form
		in   string
		want string
		err  string
	}{
		{formText, "", `{"f":""}`, ""},
		{formText, "a\nb\n", `{"f":"a\nb"}`, ""},
		{formText, "a\r\n", `{"f":"a"}`, ""},
		{formText, "a\n\n", `{"f":"a\n"}`, ""},
		{formText, " a ", `{"f":" a "}`, ""},
		{formText, "\xff", "", "not valid UTF-8"},
		{formLines, "", `{"f":[]}`, ""},
		{formLines, "a\r\n\nb", `{"f":["a","","b"]}`, ""},
		{formLines, "a\n", `{"f":["a"]}`, ""},
		{formLines, "a\xff", "", "not valid UTF-8"},
		{formJSON, `{"b": 1, "a": 9007199254740993}` + "\n", `{"f":{"b":1,"a":9007199254740993}}`, ""},
		{formJSON, "null", `{"f":null}`, ""},
		{formJSON, " \n", "", "nothing was printed"},
		{formJSON, "{} {}", "", `the output is not JSON: unexpected text after the JSON value at byte 4; printed: "{} {}"`},
		{formJSON, strings.Repeat("x", 1000), "", `... (1000 bytes)`},
		{formJSONL, "", `{"f":[]}`, ""},
		{formJSONL, "{\"a\": 1}\n\n[2]\n3", `{"f":[{"a":1},[2],3]}`, ""},
		{formJSONL, "1\noops", "", `line 2 of the output is not JSON: unexpected 'o' at byte 1, want a value; the line: "oops"`},
		{formJSONL, "{\"a\":", "", "line 1 of the output is not JSON"},
		{formResult, "", `{}`, ""},
		{formResult, `{"state_delta": {"x": 1}, "edge_output": null}`, `{"x":1} -> null`, ""},
		{formResult, `{"state_delta": null}`, `{}`, ""},
		{formResult, `{"state_delta": [1]}`, "", "state_delta must be an object of fields, got array"},
		{formResult, `{"x": 1}`, "", "fields of the state belong into state_delta"},
		{formResult, `"x"`, "", "must be a JSON object, got string"},
		{formNone, "anything", `{}`, ""},
	}
	for _, tt := range tests {
		r, err := tt.form.result([]byte(tt.in), target.Target{Field: "f"}, slog.New(slog.DiscardHandler))
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
