package dataset

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// config is the configuration of a node in a document.
type config struct {
	Source      sourceConfig               `wavefold:"source,required" doc:"the files to load: a path, a pattern such as in/*.csv, a list of them, - for standard input, or {files, format}"`
	Format      source.Text                `wavefold:"format,oneof=csv|tsv|jsonl|json|parquet" doc:"how the files are written; by default what their names end in"`
	Compression source.Text                `wavefold:"compression,oneof=gzip|none" doc:"how the files are compressed; by default gzip if the name ends in .gz"`
	Columns     source.Members[columnType] `wavefold:"columns" doc:"columns that the files must have, with their types: {name: type} or {name: {type, optional}}"`
	Select      []source.Text              `wavefold:"select,fixed" doc:"the columns of the rows, in this order; others are not read"`
	Unknown     source.Text                `wavefold:"unknown,oneof=keep|drop|fail" doc:"what happens to columns that are not declared: keep (default), drop, or fail the node"`
	Infer       bool                       `wavefold:"infer" doc:"find the types of other columns of csv and tsv from their cells (default true)"`
	InferRows   source.Int                 `wavefold:"infer_rows,min=1" doc:"from how many rows types are found; by default all, of a stream the first 10000"`
	Header      header                     `wavefold:"header" doc:"true (default): the first line of csv and tsv names the columns; or the list of names of a file without such a line"`
	Delimiter   source.Text                `wavefold:"delimiter" doc:"the character between cells of csv"`
	Nulls       []string                   `wavefold:"nulls" doc:"cells that mean null (default: the empty one)"`
	FileColumn  source.Text                `wavefold:"file_column,fixed" doc:"the name of a column that holds the name of the file a row is from"`
	Limit       source.Int                 `wavefold:"limit,min=1" doc:"how many rows to load"`
	MinRows     source.Int                 `wavefold:"min_rows,min=1" doc:"how many good rows there must be in all files together"`
	AllowEmpty  bool                       `wavefold:"allow_empty" doc:"a file without content has no rows, and no row need be good"`
	Stream      bool                       `wavefold:"stream" doc:"hand the rows to the one node that reads the field, batch by batch, instead of storing them"`
	Check       bool                       `wavefold:"check" doc:"look for the files when the workflow is loaded (default true)"`
	Optional    bool                       `wavefold:"optional" doc:"a file that is not there counts as one without rows"`
	Outside     bool                       `wavefold:"allow_outside" doc:"the files may lie outside of the workflow's folder"`
	MaxRow      setting.Bytes              `wavefold:"max_row" doc:"the length a row may have in its file (default 16MB)"`
	MaxRatio    source.Int                 `wavefold:"max_ratio,min=1" doc:"how many times their size gzip files may expand to (default 200)"`
	rowcheck.Options
}

// defaults returns the configuration of a node that sets no keys.
func defaults() config {
	return config{Infer: true, Check: true, Nulls: []string{""}, MaxRow: table.DefaultMaxRow}
}

// standardInput is the source name that means standard input.
const standardInput = "-"

// sourceConfig lists the names of files and patterns. In a document it is a name, a list of
// names or a mapping. The keys type and uri of the mapping come from OpenExpertise
// documents.
type sourceConfig struct {
	Files  []source.Text
	Format source.Text
}

// sourceKeys are the keys of the mapping.
type sourceKeys struct {
	File   source.Text   `wavefold:"file"`
	Files  []source.Text `wavefold:"files"`
	URI    source.Text   `wavefold:"uri"`
	Type   source.Text   `wavefold:"type"`
	Format source.Text   `wavefold:"format,oneof=csv|tsv|jsonl|json|parquet"`
}

// DecodeValue reads the source.
func (s *sourceConfig) DecodeValue(v *source.Value) source.Diagnostics {
	if text, ok := v.Scalar.(string); ok {
		s.Files = []source.Text{source.At(text, v.Pos)}
		return nil
	}
	var ds source.Diagnostics
	var keys sourceKeys
	switch v.Kind {
	case source.ArrayValue:
		ds = source.Decode(v, &keys.Files)
	case source.ObjectValue:
		ds = source.Decode(v, &keys)
	default:
		return source.WrongType(v, "a path, a list of paths or a mapping with the key file")
	}
	malformed := ds.Failed(false)
	if keys.Type.Value != "" && keys.Type.Value != "file" {
		d := ds.Errorf(source.CodeBadValue, keys.Type.Pos, "type: a dataset reads files, not %q", keys.Type.Value)
		if kind := map[string]string{"http": "http", "https": "http", "api": "http", "sqlite": "sql", "postgres": "sql", "postgresql": "sql", "sql": "sql"}[keys.Type.Value]; kind != "" {
			d.WithHint("use a node of the kind %s", kind)
		}
	}
	if malformed {
		return ds
	}
	keys.URI.Value = strings.TrimPrefix(keys.URI.Value, "file://")
	given := 0
	for _, one := range []source.Text{keys.File, keys.URI} {
		if one.Value != "" {
			s.Files = append(s.Files, one)
			given++
		}
	}
	if keys.Files != nil {
		s.Files = append(s.Files, keys.Files...)
		given++
	}
	s.Format = keys.Format
	switch {
	case given > 1:
		ds.Errorf(source.CodeBadValue, v.Pos, "only one of file, files and uri can be given")
	case len(s.Files) == 0:
		ds.Errorf(source.CodeMissingKey, v.Pos, `key "file" is missing`)
	}
	for _, f := range s.Files {
		switch {
		case strings.TrimSpace(f.Value) == "":
			ds.Errorf(source.CodeMissingKey, f.Pos, "the file name is empty")
		case strings.Contains(f.Value, "://"):
			ds.Errorf(source.CodeBadValue, f.Pos, "a dataset reads files, %q is none", f.Value)
		}
	}
	return ds
}

// columnType is the type of a column as a word or as a mapping.
type columnType struct {
	columnKeys
	Pos source.Position
}

// columnKeys are the keys of the mapping.
type columnKeys struct {
	Type     source.Text `wavefold:"type,oneof=string|integer|number|boolean|array|object" doc:"the type; by default as for other columns"`
	Optional *bool       `wavefold:"optional" doc:"a file need not have the column"`
}

// DecodeValue reads a type or a mapping.
func (c *columnType) DecodeValue(v *source.Value) source.Diagnostics {
	c.Pos = v.Pos
	if v.Kind == source.ObjectValue {
		return source.Decode(v, &c.columnKeys)
	}
	word, ok := v.Scalar.(string)
	if !ok {
		return source.WrongType(v, "one of "+strings.Join(columnTypes, ", ")+", or a mapping with the keys type and optional")
	}
	var ds source.Diagnostics
	if !slices.Contains(columnTypes, word) {
		ds.Errorf(source.CodeBadValue, v.Pos, "%q is none of %s", word, strings.Join(columnTypes, ", ")).
			WithHint("%s", source.DidYouMean(word, columnTypes))
	}
	c.Type = source.At(word, v.Pos)
	return ds
}

var columnTypes = []string{"string", "integer", "number", "boolean", "array", "object"}

// header is true, or the list of column names of a file without a header line.
type header struct{ names []string }

// DecodeValue reads true or a list of names.
func (h *header) DecodeValue(v *source.Value) source.Diagnostics {
	if v.Scalar == true {
		return nil
	}
	if v.Kind != source.ArrayValue || len(v.Items) == 0 {
		return source.WrongType(v, "true, or the list of column names of a file without a header line")
	}
	var ds source.Diagnostics
	seen := map[string]bool{}
	for _, e := range v.Items {
		name, ok := e.Scalar.(string)
		switch {
		case !ok || name == "":
			ds = append(ds, source.WrongType(e, "a column name")...)
		case seen[name]:
			ds.Errorf(source.CodeDuplicateKey, e.Pos, "column %q appears twice", name)
		}
		seen[name] = true
		ds = append(ds, source.Fixed(source.At(name, e.Pos))...)
		h.names = append(h.names, name)
	}
	return ds
}
