package expressions

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// corpusCase is one line of testdata/corpus.txt with the settings in effect at that
// line.
type corpusCase struct {
	line  int
	text  string
	want  string
	scope Scope
	env   MapEnv
}

func (c corpusCase) name() string { return fmt.Sprintf("line %d: %s", c.line, c.text) }

// finding parses an expectation of the form "error COL CODE words".
func (c corpusCase) finding() (severity source.Severity, column int, code source.Code, words string, ok bool) {
	kind, rest, _ := strings.Cut(c.want, " ")
	if kind != "error" && kind != "warning" {
		return 0, 0, "", "", false
	}
	if kind == "warning" {
		severity = source.Warning
	}
	f := strings.SplitN(rest, " ", 3)
	column, err := strconv.Atoi(f[0])
	if err != nil || len(f) != 3 {
		panic(c.name() + ": malformed expectation")
	}
	return severity, column, source.Code(f[1]), f[2], true
}

func corpus(tb testing.TB) []corpusCase {
	tb.Helper()
	data, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var out []corpusCase
	now := corpusCase{}
	s := bufio.NewScanner(bytes.NewReader(data))
	for s.Scan() {
		now.line++
		text := s.Text()
		switch {
		case text == "" || strings.HasPrefix(text, "# "), text == "#":
		case strings.HasPrefix(text, "@"):
			word, arg, _ := strings.Cut(text[1:], " ")
			if err := now.set(word, arg); err != nil {
				tb.Fatalf("corpus line %d: %v", now.line, err)
			}
		default:
			i := strings.LastIndex(text, " => ")
			if i < 0 {
				tb.Fatalf("corpus line %d has no =>", now.line)
			}
			c := now
			c.text, c.want = text[:i], text[i+4:]
			if strings.HasPrefix(c.text, "%") {
				if c.text, err = strconv.Unquote(c.text[1:]); err != nil {
					tb.Fatalf("corpus line %d: %v", now.line, err)
				}
			}
			out = append(out, c)
		}
	}
	return out
}

// set applies a line that begins with @.
func (c *corpusCase) set(word, arg string) error {
	if word == "reset" {
		*c = corpusCase{line: c.line}
		return nil
	}
	if word == "roots" {
		for _, r := range strings.Fields(arg) {
			root, ok := rootOf(r)
			if !ok {
				return fmt.Errorf("unknown root %s", r)
			}
			c.scope.Roots |= root
		}
		return nil
	}
	v, err := value.ParseJSON([]byte(arg))
	if err != nil {
		return err
	}
	o, _ := v.(*value.Object)
	switch word {
	case "state":
		c.env.State = o
	case "schema":
		c.scope.Fields = schemaOf(o)
	case "item":
		c.env.Item = v
	case "index":
		c.env.Index = v
	case "input":
		c.env.Inputs = o
	case "nodes":
		c.env.Nodes = nodesOf(o)
	case "extra":
		c.env.Extras = map[Root]any{}
		for k, e := range o.All() {
			root, _ := rootOf(k)
			c.env.Extras[root] = e
		}
	default:
		return fmt.Errorf("unknown word @%s", word)
	}
	return nil
}

func nodesOf(all *value.Object) func(id string) (status, output any, ok bool) {
	return func(id string) (status, output any, ok bool) {
		v, ok := all.Get(id)
		if !ok {
			return nil, nil, false
		}
		node := v.(*value.Object)
		return get(node, "status"), get(node, "output"), true
	}
}

// testSchema is a schema of named types.
type testSchema struct {
	names []string
	types []*value.Type
}

func (s *testSchema) FieldNames() []string { return s.names }

func (s *testSchema) FieldType(name string) (*value.Type, bool) {
	i := slices.Index(s.names, name)
	if i < 0 {
		return nil, false
	}
	return s.types[i], true
}

func schemaOf(o *value.Object) *testSchema {
	s := &testSchema{}
	for k, v := range o.All() {
		s.names = append(s.names, k)
		s.types = append(s.types, typeFrom(v.(*value.Object)))
	}
	return s
}

func typeFrom(o *value.Object) *value.Type {
	t := &value.Type{}
	for k, v := range o.All() {
		switch k {
		case "type":
			t.Kind, _ = value.TypeKindOf(v.(string))
		case "items":
			t.Items = typeFrom(v.(*value.Object))
		case "enum":
			t.Enum = v.([]any)
		case "properties":
			for p, q := range v.(*value.Object).All() {
				t.Properties = append(t.Properties, value.Property{Name: p, Type: typeFrom(q.(*value.Object))})
			}
		}
	}
	return t
}

// show formats a value so that missing and null differ, as do 3 and 3.0.
func show(v any) string {
	if value.IsMissing(v) {
		return "missing"
	}
	return value.JSON(v)
}

func TestCorpus(t *testing.T) {
	for _, c := range corpus(t) {
		p, ds := Compile(source.At(c.text, source.Position{Line: 1, Column: 1}), c.scope, "")
		severity, column, code, words, expectsFinding := c.finding()
		if expectsFinding {
			if len(ds) == 0 {
				t.Errorf("%s\n\tno finding, want %s", c.name(), c.want)
				continue
			}
			d := ds[0]
			at := offsetOf(c.text, d.Pos) + 1
			if d.Severity != severity || at != column || d.Code != code || !strings.Contains(d.Error(), words) {
				t.Errorf("%s\n\tgot  %v\n\twant %s", c.name(), d, c.want)
			}
			if (p == nil) != (severity == source.Error) {
				t.Errorf("%s\n\tprogram is nil: %t", c.name(), p == nil)
			}
			continue
		}
		if p == nil || len(ds) > 0 {
			t.Errorf("%s\n\tgot %v, want %s", c.name(), ds, c.want)
			continue
		}
		env := c.env.Bind(p)
		got := p.Value(env)
		if show(got) != c.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", c.name(), show(got), c.want)
		}
		if p.Test(env) != truthy(got) {
			t.Errorf("%s\n\tTest gives %t for the value %s", c.name(), p.Test(env), show(got))
		}
	}
}

// offsetOf returns the byte offset of a position in text.
func offsetOf(text string, pos source.Position) int {
	offset := 0
	for line := int32(1); line < pos.Line; line++ {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	return offset + int(pos.Column) - 1
}
