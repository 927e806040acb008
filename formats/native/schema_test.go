package native

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/formats/formatstest"
)

// validator checks values against the part of JSON Schema that Schema uses. A keyword
// it does not know fails the test.
type validator struct {
	t    *testing.T
	defs *core.Object
}

func newValidator(t *testing.T, schema []byte) (*validator, *core.Object) {
	t.Helper()
	v, err := core.ParseJSON(schema)
	if err != nil {
		t.Fatal(err)
	}
	root := v.(*core.Object)
	defs, _ := root.Get("$defs")
	root = root.Copy(0)
	root.Delete("$schema")
	root.Delete("title")
	root.Delete("$defs")
	return &validator{t, defs.(*core.Object)}, root
}

// check returns what is wrong with v, and which keys of an object were looked at.
func (c *validator) check(schema, v any, path string) (faults []string, seen map[string]bool) {
	seen = map[string]bool{}
	if b, ok := schema.(bool); ok {
		if !b {
			faults = append(faults, path+": not allowed")
		}
		return faults, seen
	}
	s := schema.(*core.Object)
	o, isObject := v.(*core.Object)
	fail := func(format string, args ...any) { faults = append(faults, path+": "+fmt.Sprintf(format, args...)) }
	sub := func(schema, v any, path string) {
		f, more := c.check(schema, v, path)
		faults = append(faults, f...)
		if path != "" {
			maps.Copy(seen, more)
		}
	}
	for key, want := range s.All() {
		switch key {
		case "description", "if", "then", "unevaluatedProperties", "additionalProperties":
		case "$ref":
			def, ok := c.defs.Get(strings.TrimPrefix(want.(string), "#/$defs/"))
			if !ok {
				c.t.Fatalf("no definition %v", want)
			}
			sub(def, v, path)
		case "type":
			if !hasType(want, v) {
				fail("want type %s", core.JSON(want))
			}
		case "enum":
			if !slices.ContainsFunc(want.([]any), func(e any) bool { return core.Equal(e, v) }) {
				fail("not in the enum")
			}
		case "const":
			if !core.Equal(want, v) {
				fail("not %v", want)
			}
		case "pattern":
			if t, ok := v.(string); ok && !regexp.MustCompile(want.(string)).MatchString(t) {
				fail("does not match %s", want)
			}
		case "minimum", "maximum":
			if n, ok := v.(int64); ok && (key == "minimum" && n < want.(int64) || key == "maximum" && n > want.(int64)) {
				fail("%d is beyond %s %v", n, key, want)
			}
		case "minItems":
			if l, ok := v.([]any); ok && len(l) < int(want.(int64)) {
				fail("too short")
			}
		case "required":
			for _, k := range want.([]any) {
				if _, ok := o.Get(k.(string)); isObject && !ok {
					fail("%s is missing", k)
				}
			}
		case "items":
			list, _ := v.([]any)
			for i, e := range list {
				f, _ := c.check(want, e, fmt.Sprintf("%s[%d]", path, i))
				faults = append(faults, f...)
			}
		case "properties":
			for name, schema := range want.(*core.Object).All() {
				if e, ok := o.Get(name); isObject && ok {
					seen[name] = true
					f, _ := c.check(schema, e, path+"."+name)
					faults = append(faults, f...)
				}
			}
		case "anyOf":
			if !slices.ContainsFunc(want.([]any), func(s any) bool { f, _ := c.check(s, v, path); return len(f) == 0 }) {
				fail("none of anyOf")
			}
		case "allOf":
			for _, s := range want.([]any) {
				sub(s, v, path)
			}
		default:
			c.t.Fatalf("the validator does not know %q", key)
		}
	}
	if cond, ok := s.Get("if"); ok {
		if f, _ := c.check(cond, v, path); len(f) == 0 {
			then, _ := s.Get("then")
			sub(then, v, path)
		}
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		rest, ok := s.Get(key)
		if !ok || !isObject {
			continue
		}
		for name, e := range o.All() {
			if !seen[name] {
				f, _ := c.check(rest, e, path+"."+name)
				faults = append(faults, f...)
			}
		}
	}
	return faults, seen
}

func hasType(want, v any) bool {
	list, ok := want.([]any)
	if !ok {
		list = []any{want}
	}
	return slices.ContainsFunc(list, func(w any) bool {
		kind, _ := core.TypeKindOf(w.(string))
		if v == nil || kind == core.NullType { // core lets null pass for every type
			return v == nil && kind == core.NullType
		}
		return (&core.Type{Kind: kind}).Check(v) == nil
	})
}

// shapeCodes are the findings that a schema can see too.
var shapeCodes = []core.Code{core.CodeUnknownKey, core.CodeMissingKey, core.CodeWrongType, core.CodeBadValue, core.CodeUnknownKind}

// TestSchemaAgreesWithParser checks every test document, right and wrong, against
// the schema: both must say the same.
func TestSchemaAgreesWithParser(t *testing.T) {
	c, root := newValidator(t, SchemaFor(registry()))
	docs := documents(t)
	archives, _ := filepath.Glob("testdata/findings/*.txtar")
	for _, a := range archives {
		text, err := os.ReadFile(a)
		if err != nil {
			t.Fatal(err)
		}
		_, files := formatstest.Split(string(text))
		for _, f := range files {
			docs[filepath.Base(a)+"/"+f.Name] = []byte(f.Data)
		}
	}
	// What a schema cannot say, or says without this package.
	except := []string{
		"on-error.yaml", // attempts goes with policy: retry
		"timeouts.yaml", // more than nothing
	}
	right, wrong := 0, 0
	for file, data := range docs {
		if strings.HasSuffix(file, ".want") || slices.Contains(except, filepath.Base(file)) {
			continue
		}
		tree, ds := document.Parse(file, data)
		if tree == nil || ds.Failed(false) {
			continue
		}
		_, ds = Parse(file, data, options())
		bad := slices.ContainsFunc(ds, func(d core.Diagnostic) bool { return slices.Contains(shapeCodes, d.Code) })
		faults, _ := c.check(root, tree.Plain(), "$")
		if bad != (len(faults) > 0) {
			t.Errorf("%s: the parser says %v\nthe schema says %q", file, ds, faults)
		}
		if bad {
			wrong++
		} else {
			right++
		}
	}
	if right < 20 || wrong < 20 {
		t.Errorf("only %d right and %d wrong documents were compared", right, wrong)
	}
}

// TestSchemaFindsEach turns the documents of findings into one value each where a
// document holds many faults: every node, edge and unit that the parser refuses must be
// refused by the schema, and no other.
func TestSchemaFindsEach(t *testing.T) {
	c, _ := newValidator(t, SchemaFor(registry()))
	tests := []struct {
		section, in string
		ok          bool
	}{
		{"node", "{id: a, kind: tool, impl: f, timeout: 1m30s}", true},
		{"node", "{id: a, kind: tool, impl: f, timeout: 1.5h}", true},
		{"node", "{id: a, kind: tool, impl: f, timeout: 30}", false},
		{"node", "{id: a, kind: tool, impl: f, timeout: soon}", false},
		{"node", "{id: a, kind: tool, impl: f, timeout: -5s}", false},
		{"node", "{id: a, kind: tool, impl: f, args: }", true},
		{"node", "{id: a, kind: tool, impl: f, args: [1]}", false},
		{"node", "{id: a, kind: tool, prompt: f}", false},
		{"node", "{id: a, kind: agent, prompt: f}", true},
		{"node", "{id: a, kind: tol}", false},
		{"on_error", "{policy: retry, attempts: 20, base_ms: 100, max_ms: 1s}", true},
		{"on_error", "{policy: retry, attempts: 21}", false},
		{"on_error", "{policy: retry, attempts: 3, base_ms: 1.5}", false},
		{"on_error", "{policy: retry, attempts: 3, base_ms: -1}", false},
		{"on_error", "{policy: ignore}", false},
		{"unit_on_error", "{policy: retry}", false},
		{"edge", "{from: a, to: b, when: 1}", true},
		{"edge", "{from: a, to: b, when: [x]}", false},
		{"loop", "{id: l, body: a}", true},
		{"loop", "{id: l, body: [a, b]}", true},
		{"loop", "{id: l, body: []}", false},
		{"loop", "{id: l, body: ' '}", false},
		{"pipeline", "{id: p, items: $.x, stages: []}", false},
	}
	for _, tt := range tests {
		tree, ds := document.Parse("", []byte(tt.in))
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		faults, _ := c.check(core.ObjectOf("$ref", "#/$defs/"+tt.section), tree.Plain(), "$")
		if (len(faults) == 0) != tt.ok {
			t.Errorf("%s %s: faults %q", tt.section, tt.in, faults)
		}
	}
}

// TestSchemaHasTheParsersKeys holds that the schema's sections have exactly the keys
// that the parser knows, each with a description.
func TestSchemaHasTheParsersKeys(t *testing.T) {
	c, _ := newValidator(t, Schema())
	if c.defs.Len() != len(sections) {
		t.Errorf("%d definitions for %d sections", c.defs.Len(), len(sections))
	}
	for _, s := range sections {
		def, _ := c.defs.Get(s.name)
		props, _ := def.(*core.Object).Get("properties")
		var want []string
		for _, k := range core.KeysOf(s.shape) {
			want = append(want, k.Name)
			p, _ := props.(*core.Object).Get(k.Name)
			if d, _ := p.(*core.Object).Get("description"); d == "" || d != k.Doc || !utf8.ValidString(k.Doc) {
				t.Errorf("%s.%s has the description %q", s.name, k.Name, d)
			}
		}
		if got := props.(*core.Object).Keys(); !slices.Equal(got, want) {
			t.Errorf("%s: schema has %q, parser %q", s.name, got, want)
		}
	}
}

// TestSchemaOpenNodes: without a registry nobody knows the keys of the kinds.
func TestSchemaOpenNodes(t *testing.T) {
	c, root := newValidator(t, Schema())
	for file, data := range documents(t) {
		tree, _ := document.Parse(file, data)
		if faults, _ := c.check(root, tree.Plain(), "$"); len(faults) > 0 {
			t.Errorf("%s: %q", file, faults)
		}
	}
}
