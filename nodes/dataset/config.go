package dataset

import (
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/checks"
)

// config is the configuration as it stands in a document.
type config struct {
	Source    source                  `wavefold:"source,required" doc:"the file to load: a path, or {file, format}"`
	Format    core.Text               `wavefold:"format,oneof=csv|tsv|jsonl|json" doc:"how the file is written; by default what its name ends in"`
	Columns   core.Members[core.Text] `wavefold:"columns,oneof=string|integer|number|boolean|array|object" doc:"types of columns, by name"`
	Infer     bool                    `wavefold:"infer" doc:"find the types of other columns of csv and tsv from their cells (default true)"`
	Header    header                  `wavefold:"header" doc:"true (default): the first line of csv and tsv names the columns; or the list of names of a file without such a line"`
	Delimiter core.Text               `wavefold:"delimiter" doc:"the character between cells of csv"`
	Nulls     []string                `wavefold:"nulls" doc:"cells that mean null (default: the empty one)"`
	Limit     core.Int                `wavefold:"limit,min=1" doc:"how many rows to load"`
	Check     bool                    `wavefold:"check" doc:"look for the file when the workflow is loaded (default true)"`
	Optional  bool                    `wavefold:"optional" doc:"a file that is not there counts as one without rows"`
	Outside   bool                    `wavefold:"allow_outside" doc:"the file may lie outside of the workflow's folder"`
	checks.Options

	subject string
}

func defaults(n *core.Node) config {
	return config{subject: "node " + n.ID.Value, Infer: true, Check: true, Nulls: []string{""}}
}

// DecodeSubject names the node in messages.
func (c *config) DecodeSubject(*core.Value) string { return c.subject }

// source is a path or a mapping that names it. The keys type and uri are those
// of OpenExpertise documents.
type source struct {
	File   core.Text `wavefold:"file"`
	URI    core.Text `wavefold:"uri"`
	Type   core.Text `wavefold:"type"`
	Format core.Text `wavefold:"format,oneof=csv|tsv|jsonl|json"`
}

// DecodeValue reads the source and leaves its path in File.
func (s *source) DecodeValue(v *core.Value) core.Diagnostics {
	if text, ok := v.Scalar.(string); ok {
		s.File = core.At(text, v.Pos)
		return nil
	}
	if v.Kind != core.ObjectValue {
		return core.WrongType(v, "a path or a mapping with the key file")
	}
	type plain source // without this method
	ds := core.Decode(v, (*plain)(s))
	if ds.Failed(false) {
		return ds
	}
	if s.Type.Value != "" && s.Type.Value != "file" {
		ds.Errorf(core.CodeBadValue, s.Type.Pos, "type: a dataset reads files, not %q", s.Type.Value)
	}
	if s.File.Value == "" {
		s.File = s.URI
		s.File.Value = strings.TrimPrefix(s.URI.Value, "file://")
	} else if s.URI.Value != "" {
		ds.Errorf(core.CodeBadValue, s.URI.Pos, "file and uri cannot stand together")
	}
	switch {
	case strings.TrimSpace(s.File.Value) == "":
		ds.Errorf(core.CodeMissingKey, v.Pos, `key "file" is missing`)
	case strings.Contains(s.File.Value, "://"):
		ds.Errorf(core.CodeBadValue, s.File.Pos, "a dataset reads files, %q is none", s.File.Value)
	}
	return ds
}

// header is true, or the column names of a file without a header line.
type header struct{ names []string }

// DecodeValue reads true or a list of names.
func (h *header) DecodeValue(v *core.Value) core.Diagnostics {
	if v.Scalar == true {
		return nil
	}
	if v.Kind != core.ArrayValue || len(v.Items) == 0 {
		return core.WrongType(v, "true, or the list of column names of a file without a header line")
	}
	var ds core.Diagnostics
	seen := map[string]bool{}
	for _, e := range v.Items {
		name, ok := e.Scalar.(string)
		switch {
		case !ok || name == "":
			ds = append(ds, core.WrongType(e, "a column name")...)
		case seen[name]:
			ds.Errorf(core.CodeDuplicateKey, e.Pos, "column %q stands twice", name)
		}
		seen[name] = true
		h.names = append(h.names, name)
	}
	return ds
}

// delimiter returns the character between cells, 0 when the document does not
// say.
func (c *config) delimiter() (r rune, ok bool) {
	text := c.Delimiter.Value
	switch text {
	case "":
		return 0, c.Delimiter.Pos == core.Position{}
	case "tab", `\t`:
		return '\t', true
	}
	r, size := utf8.DecodeRuneInString(text)
	return r, size == len(text) && !strings.ContainsRune("\"\r\n\uFFFD", r)
}
