package table

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
)

// Format is a file format.
type Format string

// Formats of rows, and Text for a plain string.
const (
	CSV   Format = "csv"
	TSV   Format = "tsv"
	JSONL Format = "jsonl"
	JSON  Format = "json"
	Text  Format = "text"
)

// extensions maps the extensions of file names to formats.
var extensions = []struct {
	ext    string
	format Format
}{
	{".csv", CSV}, {".tsv", TSV}, {".tab", TSV},
	{".jsonl", JSONL}, {".ndjson", JSONL}, {".json", JSON},
	{".txt", Text}, {".md", Text}, {".markdown", Text}, {".html", Text},
}

// FormatOf returns the format for the extension of a file name, or "" if the extension
// is unknown.
func FormatOf(name string) Format {
	ext := strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/")))
	for _, e := range extensions {
		if e.ext == ext {
			return e.format
		}
	}
	return ""
}

// Gzipped returns the name of a compressed file without .gz. ok is false if the name
// does not end in .gz.
func Gzipped(name string) (inner string, ok bool) {
	if ext := path.Ext(name); strings.EqualFold(ext, ".gz") {
		return name[:len(name)-len(ext)], true
	}
	return name, false
}

// ParseFormat parses the name of a format; allowed lists the accepted formats.
func ParseFormat(word string, allowed ...Format) (Format, error) {
	names := make([]string, len(allowed))
	for i, f := range allowed {
		if string(f) == word {
			return f, nil
		}
		names[i] = string(f)
	}
	hint := ""
	if near := source.DidYouMean(word, names); near != "" {
		hint = ", " + near
	}
	return "", fmt.Errorf("unknown format %q, want one of %s%s", word, strings.Join(names, ", "), hint)
}

// Delimiter returns the default delimiter of a delimited format.
func (f Format) Delimiter() rune {
	if f == TSV {
		return '\t'
	}
	return ','
}

// Delimited reports whether the format consists of lines of cells.
func (f Format) Delimited() bool { return f == CSV || f == TSV }

// Delimiter parses a delimiter given in a document. r is 0 if there is none.
func Delimiter(t source.Text) (r rune, ok bool) {
	switch t.Value {
	case "":
		return 0, t.Pos == source.Position{}
	case "tab", `\t`:
		return '\t', true
	}
	r, size := utf8.DecodeRuneInString(t.Value)
	return r, size == len(t.Value) && !strings.ContainsRune("\"\r\n\uFFFD", r)
}
