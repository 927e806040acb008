package nodestest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// packageDoc returns the lines of the package comment in a file.
func packageDoc(t testing.TB, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "//")
		if !ok {
			break
		}
		out = append(out, strings.TrimPrefix(text, " "))
	}
	return out
}

// Example returns the first indented block under the heading "# Example" of the
// package comment in doc.go of the package under test. It is the YAML document
// shown to users.
func Example(t testing.TB) []byte { return ExampleIn(t, "doc.go") }

// ExampleIn is like Example for the package comment in another file.
func ExampleIn(t testing.TB, file string) []byte {
	t.Helper()
	doc := packageDoc(t, file)
	i := slices.Index(doc, "# Example")
	if i < 0 {
		t.Fatalf("%s has no heading # Example", file)
	}
	var out []string
	for _, line := range doc[i+1:] {
		code, ok := strings.CutPrefix(line, "\t")
		if !ok && len(out) > 0 {
			break
		}
		if ok {
			out = append(out, code)
		}
	}
	return []byte(strings.Join(out, "\n") + "\n")
}

// ExampleNode returns a node of the example in the form of Case.Node. document is the parsed
// example.
func ExampleNode(t testing.TB, document *source.Value, id string) string {
	t.Helper()
	for _, n := range document.Get("graph").Get("nodes").Items {
		if n.Get("id").Plain() == id {
			return value.JSON(n.Plain())
		}
	}
	t.Fatalf("the example has no node %q", id)
	return ""
}

// Nested is the configuration in a key of a kind. Config is the struct that is decoded, as for
// source.KeyNames. Path is the path of the key, such as "pages".
type Nested struct {
	Path   string
	Config any
}

// CheckDocs checks that the package comment and the kind's page in docs/kinds describe exactly the
// keys of the kind, each at the beginning of a line or table row. The page must also describe the
// nested keys by their paths, except keys that the kind itself has. If a package has several
// kinds, the heading in the comment is "# Fields of NAME".
func CheckDocs(t *testing.T, kind core.Kind, nested ...Nested) {
	t.Helper()
	doc := section(packageDoc(t, "doc.go"), "# Fields of "+kind.Name(), "# ")
	if doc == nil {
		doc = section(packageDoc(t, "doc.go"), "# Fields", "# ")
	}
	keys := kind.Keys()
	if found := described(doc, regexp.MustCompile(`^\t([a-z_]+) {2,}`)); !slices.Equal(found, keys) {
		t.Errorf("doc.go describes the keys %q, the kind has %q", found, keys)
	}
	page := filepath.Join("..", "..", "docs", "kinds", kind.Name()+".md")
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fields := section(strings.Split(string(data), "\n"), "## Fields", "## ")
	found := described(fields, regexp.MustCompile("^\\| `([a-z_.]+)` \\| [a-z][a-z ,]* \\|")) // with the column of the type
	for _, n := range nested {
		var inside []string
		for _, k := range source.KeyNames(n.Config) {
			if key := n.Path + "." + k; slices.Contains(found, key) || !slices.Contains(keys, k) {
				inside = append(inside, key)
			}
		}
		keys = slices.Insert(slices.Clone(keys), slices.Index(keys, n.Path)+1, inside...)
	}
	if !slices.Equal(found, keys) {
		t.Errorf("%s describes the fields %q, the kind has %q", page, found, keys)
	}
}

// described returns the matches of the first group of a pattern in the lines.
func described(lines []string, row *regexp.Regexp) []string {
	var found []string
	for _, l := range lines {
		if m := row.FindStringSubmatch(l); m != nil {
			found = append(found, m[1])
		}
	}
	return found
}

// section returns the lines from a heading to the next heading of its level, nil if there is no
// such heading.
func section(lines []string, heading, level string) []string {
	i := slices.Index(lines, heading)
	if i < 0 {
		return nil
	}
	rest := lines[i+1:]
	if end := slices.IndexFunc(rest, func(l string) bool { return strings.HasPrefix(l, level) }); end >= 0 {
		rest = rest[:end]
	}
	return rest
}
