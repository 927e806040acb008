package native

import (
	"regexp"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// ineffective are the keys without effect, by section, and a document that contains all
// of them.
var ineffective = map[string][]string{"state": {"store"}, "field": {"$ref"}, "type": {"$ref"}, "loop": {"budget"}}

const ineffectiveKeys = `name: a
state:
  store: x
  schema:
    f: {$ref: x}
    g: {type: array, items: {properties: {m: {$ref: y}}}}
graph:
  nodes: [{id: a, kind: tool, impl: x, writes: []}]
  loops: [{id: l, body: a, max_iters: 2, budget: 3}]
`

// TestKeysWithoutEffect checks that a key without effect is reported at its position,
// and that no other key is documented as having none.
func TestKeysWithoutEffect(t *testing.T) {
	_, ds := Parse("a.yaml", []byte(ineffectiveKeys), Options{})
	got := map[string]bool{}
	for _, d := range ds {
		if d.Severity != source.Warning || d.Code != source.CodeIgnored {
			t.Errorf("%v", d)
		}
		got[d.Pos.String()] = true
	}
	for _, at := range []string{"a.yaml:3:10", "a.yaml:5:15", "a.yaml:6:53", "a.yaml:9:50"} {
		if !got[at] {
			t.Errorf("nothing is said at %s: %v", at, ds)
		}
	}
	if len(got) != 4 {
		t.Errorf("findings %v", ds)
	}
	says := regexp.MustCompile(`no effect|never|not checked|ignored|not supported`)
	for _, s := range sections {
		for _, k := range Keys(s.name) {
			known := false
			for _, name := range ineffective[s.name] {
				known = known || name == k.Name
			}
			if says.MatchString(k.Doc) != known {
				t.Errorf("%s.%s: %q", s.name, k.Name, k.Doc)
			}
		}
	}
}
