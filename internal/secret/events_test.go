package secret

import (
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

func parse(t *testing.T, text string) any {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMaskerValue(t *testing.T) {
	m := NewMasker("hunter2", "8675309", "12.5", "line one\nline two")
	for in, want := range map[string]string{
		`null`: `null`, `true`: `true`, `"a hunter2"`: `"a ***"`, `8675309`: `"***"`, `86753090`: `86753090`, `12.5`: `"***"`,
		`[1, "x", ["hunter2"], {"a": 1}]`:        `[1,"x",["***"],{"a":1}]`,
		`{"a": {"hunter2": [8675309, "ok"]}}`:    `{"a":{"***":["***","ok"]}}`,
		`["line one", "line two", "line three"]`: `["***","***","line three"]`,
		`[]`:                                     `[]`, `{}`: `{}`,
	} {
		v := parse(t, in)
		if got := value.JSON(m.Value(v)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if value.JSON(v) != value.JSON(parse(t, in)) {
			t.Errorf("%s: the value itself became %s", in, value.JSON(v))
		}
	}
	type login struct {
		Token string `json:"token"`
	}
	if got := value.JSON(m.Value(login{"hunter2"})); got != `{"token":"***"}` {
		t.Errorf("a Go value: %s", got)
	}
}

// Values without secrets are not copied.
func TestMaskerValueShares(t *testing.T) {
	m := NewMasker("hunter2")
	o := parse(t, `{"list": [1, 2, {"a": "b"}], "secret": "hunter2"}`).(*value.Object)
	masked := m.Object(o)
	before, _ := o.Get("list")
	after, _ := masked.Get("list")
	if masked == o || &before.([]any)[0] != &after.([]any)[0] {
		t.Errorf("%p %p, %s", o, masked, value.JSON(masked))
	}
	if plain := value.ObjectOf("a", "b"); m.Object(plain) != plain || m.Object(nil) != nil {
		t.Error("an object without secrets was copied")
	}
}

func TestMaskerEventAndReport(t *testing.T) {
	m := NewMasker("hunter2")
	s := "x hunter2"
	o := value.ObjectOf("k", s)
	f := &core.Failure{Class: core.ClassError, Message: s, Stack: s, Cause: errors.New(s)}
	e := core.Event{Type: core.NodeFailed, Node: "n", Reason: s, When: s, Log: s, Error: f, Values: o, State: o, Inputs: o}
	got := m.Event(e)
	if text := value.JSON(got); strings.Contains(text, "hunter2") || strings.Count(text, "***") != 8 || got.Error.Cause != nil {
		t.Errorf("got %s", text)
	}
	r := &core.Report{State: o, Err: &core.NodeError{Node: "n", Failure: f},
		Nodes: func() []core.NodeReport {
			return []core.NodeReport{{ID: "n", Reason: s, Note: s, Failure: f, Output: []any{s}}, {ID: "m", Output: value.Missing}}
		},
		Units: func() []core.UnitReport { return []core.UnitReport{{Reason: s}} },
	}
	masked := m.Report(r)
	n := masked.Nodes()
	text := value.JSON(masked.State) + masked.Err.Error() + n[0].Reason + n[0].Note + n[0].Failure.Error() + value.JSON(n[0].Output) + masked.Units()[0].Reason
	if strings.Contains(text, "hunter2") || strings.Count(text, "***") != 7 || !value.IsMissing(n[1].Output) {
		t.Errorf("got %s", text)
	}
	if f.Message != s || value.JSON(r.State) != value.JSON(o) || value.JSON(o) != `{"k":"x hunter2"}` {
		t.Error("masking changed what it was given")
	}
}

// After masking, encoded data contains no usable part of a secret.
func TestEncodedSecrets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "abcXYZ0189+/=&? %ä\"\\<"
	for range 2000 {
		random := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteRune([]rune(letters)[r.IntN(len([]rune(letters)))])
			}
			return b.String()
		}
		v, before, after := "S"+random(8+r.IntN(20))+"E", random(r.IntN(9)), random(r.IntN(9))
		m := NewMasker(v)
		for name, encode := range map[string]func(string) string{
			"base64":               func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
			"base64 for addresses": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
			"query":                url.QueryEscape, "path": url.PathEscape,
		} {
			got := m.Text("x " + encode(before+v+after) + " y")
			if !strings.Contains(got, Mask) || strings.Contains(got, encode(v)) {
				t.Fatalf("%s of %q with %q before and %q after: %s", name, v, before, after, got)
			}
		}
		if got := m.Text(jsonOf(before+v+after, r.IntN(2) == 0)); !strings.Contains(got, Mask) {
			t.Fatalf("JSON of %q with %q before and %q after: %s", v, before, after, got)
		}
	}
}

func TestCheck(t *testing.T) {
	ref := func(name, value string, ok bool) core.Secret {
		return core.Secret{Name: source.At(name, source.Position{Line: 7}), Read: func() (string, bool) { return value, ok }}
	}
	ds := Check([]core.Secret{ref("GOOD", "long enough", true), ref("PIN", "123", true), ref("BLANK", " a b ", true), ref("SPACES", "      1", true), ref("UNSET", "", false), ref("EMPTY", "", true)})
	if len(ds) != 3 || ds[0].Message != "the secret PIN has fewer than 4 characters and cannot be hidden in what is printed" || ds[0].Pos.Line != 7 ||
		ds[0].Severity != source.Warning || !strings.Contains(ds[2].Message, "SPACES") {
		t.Errorf("got %v", ds)
	}
	if !MaskerOf([]core.Secret{ref("PIN", "123", true), ref("UNSET", "", false)}).None() {
		t.Error("what is too short is masked")
	}
}
