package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

func TestEnviron(t *testing.T) {
	all := []string{"PATH=/bin", "HOME=/root", "LANG=C", "TMPDIR=/tmp", "CI=1", "KEY=sekret", "KEYS=2", "=odd", "ODD"}
	for _, c := range []struct {
		in   Inherit
		want string
	}{
		{Inherit{}, "PATH=/bin HOME=/root LANG=C TMPDIR=/tmp CI=1 KEY=sekret KEYS=2 =odd ODD"},
		{Inherit{Private: []string{"KEY"}}, "PATH=/bin HOME=/root LANG=C TMPDIR=/tmp CI=1 KEYS=2 =odd ODD"},
		{Inherit{Private: []string{"KEY", "PATH"}, Listed: true}, "PATH=/bin HOME=/root LANG=C TMPDIR=/tmp"},
		{Inherit{Listed: true, Names: []string{"CI", "NOT_SET"}}, "PATH=/bin HOME=/root LANG=C TMPDIR=/tmp CI=1"},
		{Inherit{Private: []string{"KEY"}, Listed: true, Names: []string{"KEY"}}, "PATH=/bin HOME=/root LANG=C TMPDIR=/tmp KEY=sekret"},
	} {
		if got := strings.Join(c.in.environ(all), " "); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestPassed(t *testing.T) {
	t.Setenv("WAVEFOLD_TEST_SET", "x")
	env := core.Env{Private: []string{"KEY"}}
	pos := source.Position{Line: 3}
	for _, c := range []struct {
		value   any
		inherit string
		found   string
	}{
		{[]any{"WAVEFOLD_TEST_SET"}, "true [WAVEFOLD_TEST_SET]", ""},
		{[]any{}, "true []", ""},
		{[]any{"WAVEFOLD_TEST_UNSET"}, "true [WAVEFOLD_TEST_UNSET]", "warning: n: pass_env: the environment variable WAVEFOLD_TEST_UNSET is not set"},
		{[]any{"WAVEFOLD_TEST_SET", "WAVEFOLD_TEST_SET"}, "true [WAVEFOLD_TEST_SET]", `warning: n: pass_env: "WAVEFOLD_TEST_SET" appears twice`},
		{[]any{"KEY"}, "true [KEY]", "warning: n: pass_env: KEY holds a key of the model, and what the program shows of it is not hidden"},
		{[]any{"A=b"}, "true []", `error: n: pass_env: "A=b" cannot be the name of a variable`},
		{[]any{"$HOME"}, "true []", `error: n: pass_env: "$HOME" cannot be the name of a variable`},
		{"CI", "true []", "error: "},
		{value.ObjectOf("CI", "1"), "true []", "error: "},
	} {
		var p Passed
		ds := p.DecodeValue(source.Tree(c.value, pos))
		i, more := p.Inherit("n", env, Owner{})
		ds = append(ds, more...)
		if got := fmt.Sprint(i.Listed, " ", i.Names); got != c.inherit {
			t.Errorf("%v: got %s, want %s", c.value, got, c.inherit)
		}
		switch {
		case c.found == "" && len(ds) > 0, c.found != "" && (len(ds) == 0 || !strings.Contains(ds[0].Error(), c.found)):
			t.Errorf("%v: found %v, want %s", c.value, ds, c.found)
		case len(ds) > 0 && ds[0].Pos.Line != 3:
			t.Errorf("%v: found at %s", c.value, ds[0].Pos)
		}
	}
	if i, ds := (Passed{}).Inherit("n", env, Owner{}); i.Listed || len(ds) > 0 || i.Described("x") != nil {
		t.Errorf("without the key: %+v, %v", i, ds)
	}
	i, _ := (Passed{Names: []source.Text{source.At("PATH", pos), source.At("CI", pos)}}).Inherit("n", env, Owner{ByModel: true})
	if got := fmt.Sprint(i.Described("search", "TOKEN")); got != "[{search [PATH HOME LANG TMPDIR CI] [TOKEN]}]" {
		t.Errorf("got %s", got)
	}
}
