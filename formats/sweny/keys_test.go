package sweny

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

const minimal = "id: a\nname: A\nentry: a\nnodes: {a: {name: A, instruction: Work.}}\nedges: []\n"

// TestOtherKeys checks that each key of the table is kept and written back, that a key
// without effect gets a warning at its position, and that the page lists it.
func TestOtherKeys(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range otherKeys {
		w, ds := Parse("a.yml", []byte(minimal+k.name+": x\n"), Options{})
		if v, ok := w.Walk.Attributes.Get(k.name); !ok || v != "x" {
			t.Errorf("%s is not kept", k.name)
		}
		switch warned := len(ds) == 1 && ds[0].Severity == source.Warning && ds[0].Code == source.CodeIgnored && ds[0].Pos.Line == 6; {
		case k.effect == keptOnly && len(ds) > 0, k.effect == noEffect && (!warned || ds[0].Hint == ""):
			t.Errorf("%s: findings %v", k.name, ds)
		}
		if out, err := Write(w); err != nil || !strings.Contains(string(out), k.name+": x\n") && !strings.Contains(string(out), `"`+k.name+`": x`) {
			t.Errorf("%s is written as\n%s%v", k.name, out, err)
		}
		if !strings.Contains(string(text), "`"+k.name+"`") {
			t.Errorf("the page does not tell of %s", k.name)
		}
	}
}

// TestNodeKeysAtTheTop checks that a node key at the top level of a document is
// reported.
func TestNodeKeysAtTheTop(t *testing.T) {
	for _, key := range source.KeyNames(nodeShape{}) {
		if slices.Contains(source.KeyNames(documentShape{}), key) {
			continue
		}
		_, ds := Parse("a.yml", []byte(minimal+key+": x\n"), Options{})
		if len(ds) != 1 || ds[0].Severity != source.Warning || ds[0].Hint != "it is a key of nodes" {
			t.Errorf("%s: findings %v", key, ds)
		}
	}
}
