package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold/core/value"
)

// topic is an archive: cases about one subject.
type topic struct {
	name  string
	cases []*testCase
}

// testCase is one document with its expected results.
type testCase struct {
	name     string
	tools    map[string]behaviour
	inputs   map[string]any
	want     *want             // nil: the document has errors and does not run
	table    []row             // conditions, instead of a document
	schema   string            // the state of the conditions
	wantText []string          // strings that the findings, or the error about the inputs, must contain
	files    map[string]string // by path; the document is workflow.yaml
}

func topics(t *testing.T) []topic {
	t.Helper()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	var list []topic
	for _, path := range archives {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, topic{
			name:  strings.TrimSuffix(filepath.Base(path), ".txtar"),
			cases: casesOf(t, filepath.Base(path), txtar.Parse(data)),
		})
	}
	return list
}

// casesOf groups the files of an archive into cases, sorted by name. Files without a
// folder define tools for all cases.
func casesOf(t *testing.T, archive string, a *txtar.Archive) []*testCase {
	t.Helper()
	var list []*testCase
	byName := map[string]*testCase{}
	shared := standardTools(t)
	for _, f := range a.Files {
		name, file, ok := strings.Cut(f.Name, "/")
		if !ok {
			if name != "tools" {
				t.Fatalf("%s: %s stands in no folder", archive, name)
			}
			parseTools(t, archive, string(f.Data), shared)
			continue
		}
		c := byName[name]
		if c == nil {
			c = &testCase{name: name, files: map[string]string{}, tools: map[string]behaviour{}}
			for k, v := range shared {
				c.tools[k] = v
			}
			byName[name] = c
			list = append(list, c)
		}
		c.add(t, archive+": "+f.Name, file, string(f.Data))
	}
	for _, c := range list {
		if (c.table == nil) == (c.files["workflow.yaml"] == "") {
			t.Fatalf("%s: %s needs either a workflow.yaml or a conditions file", archive, c.name)
		}
	}
	return list
}

func (c *testCase) add(t *testing.T, at, file, data string) {
	t.Helper()
	switch file {
	case "tools":
		parseTools(t, at, data, c.tools)
	case "inputs.json":
		v, err := value.ParseJSON([]byte(data))
		o, ok := v.(*value.Object)
		if err != nil || !ok {
			t.Fatalf("%s: %v", at, err)
		}
		c.inputs = map[string]any{}
		for k, v := range o.All() {
			c.inputs[k] = v
		}
	case "want.json":
		c.want = &want{}
		dec := json.NewDecoder(bytes.NewReader([]byte(data)))
		dec.DisallowUnknownFields()
		dec.UseNumber() // keeps integers exact
		if err := dec.Decode(c.want); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if _, err := dec.Token(); err != io.EOF {
			t.Fatalf("%s: text behind the object", at)
		}
	case "says":
		c.wantText = strings.Split(strings.TrimSpace(data), "\n")
	case "conditions":
		c.table = parseTable(t, at, data)
	case "schema.yaml":
		c.schema = data
	default:
		c.files[file] = data
	}
}
