package secret

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

func TestValue(t *testing.T) {
	pos := source.Position{Line: 2, Column: 5}
	tests := []struct {
		in     any
		text   string
		secret string
		code   source.Code // of the finding, "" if there is none
	}{
		{"plain", "plain", "", ""},
		{"", "", "", ""},
		{value.ObjectOf("secret", "TOKEN"), "", "TOKEN", ""},
		{value.ObjectOf("secret", " "), "", "", source.CodeMissingKey},
		{value.ObjectOf(), "", "", source.CodeMissingKey},
		{value.ObjectOf("secret", "A", "other", "B"), "", "A", source.CodeUnknownKey},
		{int64(3), "", "", source.CodeWrongType},
		{nil, "", "", source.CodeWrongType},
	}
	for _, tt := range tests {
		var v Value
		ds := v.DecodeValue(source.Tree(tt.in, pos))
		if v.Text.Value != tt.text || v.Env.Value != tt.secret || v.IsSecret() != (tt.secret != "") {
			t.Errorf("%v: got %+v", tt.in, v)
		}
		if (tt.code == "") != (len(ds) == 0) || tt.code != "" && !ds.Has(tt.code) {
			t.Errorf("%v: got findings %v, want %s", tt.in, ds, tt.code)
		}
	}
}

func TestRead(t *testing.T) {
	env := map[string]string{"TOKEN": "s3cret", "EMPTY": ""}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	for name, want := range env {
		if got, err := (Value{Env: source.At(name, source.Position{})}).Read(lookup); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	ref := Value{Env: source.At("TOKEN", source.Position{Line: 3})}.Ref(lookup)
	if v, ok := ref.Read(); v != "s3cret" || !ok || ref.Name.Pos.Line != 3 {
		t.Errorf("got %q, %t, %+v", v, ok, ref)
	}
	_, err := Value{Env: source.At("NOPE", source.Position{})}.Read(lookup)
	if f := core.FailureOf(err); !f.Permanent || f.Message != "the environment variable NOPE is not set" {
		t.Errorf("got %+v", f)
	}
}
