package native

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/formats/mock"
)

const docsFile = "../../docs/format.md"

// docsKeys returns the keys of a section of the documentation.
func docsKeys(section string) []source.Key {
	switch section {
	case "mock":
		return source.KeysOf(mock.File{})
	case "mock answer":
		return source.KeysOf(mock.Answer{})
	case "mock error":
		return source.KeysOf(mock.Error{})
	case "mock expect":
		return source.KeysOf(mock.Expect{})
	}
	keys := Keys(section)
	if strings.HasSuffix(section, "_node") { // the page lists the keys of all nodes once
		keys = slices.DeleteFunc(keys, func(k source.Key) bool { return nodeKeys[k.Name] })
	}
	return keys
}

var tables = regexp.MustCompile(`(?s)<!-- keys: ([a-z_ ]+) -->\n.*?<!-- end -->\n`)

// TestDocsTables checks that the tables of keys in the documentation match the parser's
// keys. The flag -golden updates them.
func TestDocsTables(t *testing.T) {
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	got := tables.ReplaceAllStringFunc(string(text), func(old string) string {
		section := tables.FindStringSubmatch(old)[1]
		seen[section] = true
		keys := docsKeys(section)
		if keys == nil {
			t.Errorf("no section %q", section)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "<!-- keys: %s -->\n| key | value | meaning |\n|---|---|---|\n", section)
		for _, k := range keys {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, valueText(k), k.Doc)
		}
		return b.String() + "<!-- end -->\n"
	})
	for _, s := range sections {
		if !seen[s.name] {
			t.Errorf("section %s is not documented", s.name)
		}
	}
	for _, s := range []string{"mock", "mock answer", "mock error", "mock expect"} {
		if !seen[s] {
			t.Errorf("section %s is not documented", s)
		}
	}
	golden(t, docsFile, got)
}

// valueText describes the values of a key.
func valueText(k source.Key) string {
	s := typeText(k.Type, k)
	if k.Required {
		s += ", **required**"
	}
	return s
}

func typeText(t reflect.Type, k source.Key) string {
	if of, ok := source.MembersOf(t); ok {
		return "mapping of " + plural(typeText(of, k))
	}
	switch t {
	case reflect.TypeFor[conditionShape]():
		return "condition"
	case reflect.TypeFor[bodyShape]():
		return "string or list of strings"
	case reflect.TypeFor[joinShape]():
		return "`all`, `all_done`, `any` or mapping"
	case reflect.TypeFor[parallelJoinShape]():
		return "`wait_all`, `first_success` or mapping"
	case reflect.TypeFor[textShape]():
		return "string"
	case reflect.TypeFor[mappingShape]():
		return "mapping"
	case reflect.TypeFor[source.Text]():
		if len(k.OneOf) > 0 {
			return "`" + strings.Join(k.OneOf, "`, `") + "`"
		}
		return "string"
	case reflect.TypeFor[source.Int]():
		return "integer" + rangeText(k)
	case reflect.TypeFor[source.Located[float64]]():
		return "number" + rangeText(k)
	case reflect.TypeFor[source.Located[time.Duration]]():
		if k.Millis {
			return "milliseconds or duration"
		}
		return "duration"
	case reflect.TypeFor[source.Located[bool]]():
		return "`true` or `false`"
	case reflect.TypeFor[source.Value](), reflect.TypeFor[any]():
		return "any value"
	case reflect.TypeFor[mock.Answers]():
		return "list of answers"
	case reflect.TypeFor[mock.Step]():
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeText(t.Elem(), k)
	case reflect.Slice:
		return "list of " + plural(typeText(t.Elem(), k))
	case reflect.Bool:
		return "`true` or `false`"
	default:
		return "mapping"
	}
}

func plural(s string) string {
	switch {
	case strings.HasPrefix(s, "integer"):
		return strings.Replace(s, "integer", "integers", 1)
	case strings.HasPrefix(s, "any value"):
		return "values"
	case strings.HasPrefix(s, "list of "):
		return "lists" + strings.TrimPrefix(s, "list")
	case s == "string" || s == "mapping":
		return s + "s"
	default:
		return s
	}
}

func rangeText(k source.Key) string {
	switch {
	case k.Min != "" && k.Max != "":
		return " from " + k.Min + " to " + k.Max
	case k.Min != "":
		return ", at least " + k.Min
	default:
		return ""
	}
}

var codeBlocks = regexp.MustCompile("(?s)```yaml([a-z ]*)\n(.*?)```\n")

// TestDocsExamples parses every YAML block of the documentation. A block marked as a
// workflow must have no findings and be in the form that Write prints. A block marked
// as a mock must be a mock file. The others must be valid YAML.
func TestDocsExamples(t *testing.T) {
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, m := range codeBlocks.FindAllStringSubmatch(string(text), -1) {
		mark, body := strings.TrimSpace(m[1]), []byte(m[2])
		count[mark]++
		switch mark {
		case "workflow":
			w, ds := Parse("example.yaml", body, options())
			if len(ds) > 0 {
				t.Errorf("%s\n%v", body, ds)
				continue
			}
			roundTrip(t, w)
		case "mock":
			if _, ds := mock.Parse("mock.yaml", body); len(ds) > 0 {
				t.Errorf("%s\n%v", body, ds)
			}
		case "":
			if _, ds := document.Parse("fragment.yaml", body); len(ds) > 0 {
				t.Errorf("%s\n%v", body, ds)
			}
		default:
			t.Errorf("unknown mark %q", mark)
		}
	}
	if count["workflow"] < 8 || count["mock"] < 1 {
		t.Errorf("found %v examples", count)
	}
}

// TestDocsFindings checks that the findings in the documentation are the findings of
// its invalid example.
func TestDocsFindings(t *testing.T) {
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(# flow.yaml\n.*?)```\n.*?```text\n(.*?)```\n").FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("no example of findings")
	}
	_, ds := Parse("flow.yaml", []byte(m[1]), options())
	if got := ds.Sorted().Error() + "\n"; got != m[2] {
		t.Errorf("the documentation says\n%s\nthe parser says\n%s", m[2], got)
	}
}
