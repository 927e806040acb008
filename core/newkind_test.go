package core

import (
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

type pauseConfig struct {
	Note  source.Text   `wavefold:"note"`
	Times source.Int    `wavefold:"times,required,min=1"`
	Words []source.Text `wavefold:"words"`
}

// pause is a kind with everything that NewKind supports. Lacks says what it was given.
func pause(before func(*Node, Env) (Compiled, bool, source.Diagnostics)) Kind {
	return NewKind(KindOf[pauseConfig]{
		Name: "pause", Doc: "Pauses.", WritesState: true, Before: before,
		Defaults: func() pauseConfig {
			return pauseConfig{Note: source.At("none", source.Position{}), Words: []source.Text{{Value: "a"}, {Value: "b"}}}
		},
		Compile: func(n *Node, env Env, c *pauseConfig) (Compiled, source.Diagnostics) {
			var ds source.Diagnostics
			ds.Warnf(source.CodeUnused, n.Pos, "%s: compiled in %s", n.Subject(), env.Dir)
			made := Compiled{Lacks: c.Note.Value + " " + strings.Join(source.Strings(c.Words), ",")}
			c.Note.Value, c.Words[0] = "changed", source.Text{Value: "changed"} // the next node must not have this
			return made, ds
		},
	})
}

func TestNewKind(t *testing.T) {
	k := pause(nil)
	if got := k.Keys(); k.Name() != "pause" || !slices.Equal(got, []string{"times", "note", "words"}) {
		t.Errorf("name %q, keys %q", k.Name(), got)
	}
	k.Keys()[0] = "changed"
	if k.Keys()[0] != "times" {
		t.Error("a caller can change the keys of the kind")
	}
	if d := k.(DocumentedKind); d.Doc() != "Pauses." {
		t.Errorf("doc %q", d.Doc())
	}
	if w := k.(StateWriter); !w.WritesState() {
		t.Error("the kind does not say that it writes state")
	}
	for _, c := range []struct{ name, config, lacks, findings string }{
		{"defaults", `{"times": 1}`, "none a,b", "node n: compiled in /w"},
		{"again, the defaults are as before", `{"times": 1}`, "none a,b", "node n: compiled in /w"},
		{"all keys", `{"times": 1, "note": "x", "words": ["c"]}`, "x c", "node n: compiled in /w"},
		{"nothing", `{}`, "", `node n: key "times" is missing`},
		{"no mapping", `[]`, "", "node n: want a mapping, found a list"},
		{"several faults", `{"times": 0, "not": 1}`, "", `node n: times: want a whole number of at least 1, found 0; node n: unknown key "not"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, ds := k.Compile(&Node{ID: source.At("n", source.Position{}), Config: config(t, c.config)}, Env{Dir: "/w"})
			if got := messages(ds); made.Lacks != c.lacks || got != c.findings {
				t.Errorf("got %q, %q\nwant %q, %q", made.Lacks, got, c.lacks, c.findings)
			}
		})
	}
}

func messages(ds source.Diagnostics) string {
	list := make([]string, len(ds))
	for i, d := range ds {
		list[i] = d.Message
	}
	return strings.Join(list, "; ")
}

func TestNewKindBefore(t *testing.T) {
	node := &Node{ID: source.At("n", source.Position{}), Config: &source.Value{Kind: source.ObjectValue}}
	var found source.Diagnostics
	found.Errorf(source.CodeBadValue, source.Position{}, "%s: not here", node.Subject())
	for _, c := range []struct {
		done            bool
		found           source.Diagnostics
		lacks, findings string
	}{
		{true, nil, "early", ""},
		{true, found, "early", "node n: not here"},
		{false, nil, "", `node n: key "times" is missing`},
		{false, found, "", `node n: key "times" is missing; node n: not here`},
	} {
		k := pause(func(*Node, Env) (Compiled, bool, source.Diagnostics) {
			return Compiled{Lacks: "early"}, c.done, c.found
		})
		made, ds := k.Compile(node, Env{})
		if got := messages(ds); made.Lacks != c.lacks || got != c.findings {
			t.Errorf("done %v, %v: got %q, %q", c.done, c.found, made.Lacks, got)
		}
	}
}

type partialConfig struct {
	First  source.Text `wavefold:"first,required"`
	Second int         `wavefold:"second,min=1"`
	Third  source.Text `wavefold:"third"`
}

func TestNewKindPartial(t *testing.T) {
	compile := func(partial bool, lost source.Lost, text string) (Compiled, source.Diagnostics) {
		k := NewKind(KindOf[partialConfig]{Name: "k", Defaults: func() partialConfig { return partialConfig{Second: 7} }, Partial: partial,
			Compile: func(n *Node, _ Env, c *partialConfig) (Compiled, source.Diagnostics) {
				var ds source.Diagnostics
				ds.Errorf(source.CodeUnknownField, n.Pos, "%q, %d, %q, lost %v, %d keys", c.First.Value, c.Second, c.Third.Value, []string(n.Lost), len(n.Config.Keys))
				ds.Errorf(source.CodeBadValue, n.Pos, "a combination")
				ds.Warnf(source.CodeUnknownField, n.Pos, "a warning")
				return Compiled{Lacks: "x", Nodes: []source.Text{source.At("y", n.Pos)}}, ds
			}})
		return k.Compile(&Node{ID: source.At("n", source.Position{}), Config: config(t, text), Lost: lost}, Env{})
	}
	const all = "; a combination; a warning"
	for _, c := range []struct {
		name, config, findings string
		off                    bool
		lost                   source.Lost
	}{
		{name: "whole", config: `{"first": "a", "second": 2}`, findings: `"a", 2, "", lost [], 2 keys` + all},
		{name: "not partial", config: `{"first": "a", "second": 0}`, off: true, findings: `node n: second: want a whole number of at least 1, found 0`},
		{name: "invalid", config: `{"first": "a", "second": 0, "third": "c"}`, findings: `node n: second: want a whole number of at least 1, found 0; "a", 7, "c", lost [second], 2 keys`},
		{name: "missing", config: `{"second": 2}`, findings: `node n: key "first" is missing; "", 2, "", lost [first], 1 keys`},
		{name: "misspelt", config: `{"first": "a", "secnd": 2}`, findings: `node n: unknown key "secnd"; "a", 7, "", lost [second], 2 keys`},
		{name: "unknown", config: `{"first": "a", "other": 2}`, findings: `node n: unknown key "other"; "a", 7, "", lost [], 2 keys`},
		{name: "known to be lost", config: `{"second": 2}`, lost: source.Lost{"first", "timeout"}, findings: `"", 2, "", lost [first], 1 keys`},
		{name: "lost for the kind", config: `{"second": 0}`, lost: source.Lost{"first", "reads"}, findings: `node n: second: want a whole number of at least 1, found 0`},
		{name: "lost for others", config: `{"first": "a"}`, lost: source.Lost{"timeout"}, findings: `"a", 7, "", lost [timeout], 1 keys` + all},
	} {
		made, ds := compile(!c.off, c.lost, c.config)
		whole := strings.HasSuffix(c.findings, all)
		if got := messages(ds); got != c.findings {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.findings)
		}
		if (made.Lacks != "") != whole || whole && made.Nodes == nil {
			t.Errorf("%s: got %+v", c.name, made)
		}
	}
}

func TestNewKindPanics(t *testing.T) {
	compile := func(*Node, Env, *struct{}) (Compiled, source.Diagnostics) {
		return Compiled{}, nil
	}
	for _, k := range []KindOf[struct{}]{{Compile: compile}, {Name: "x"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: no panic", k.Name)
				}
			}()
			NewKind(k)
		}()
	}
}

func config(t *testing.T, text string) *source.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return source.Tree(v, source.Position{})
}
