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

// extensions maps what a file name may end in to its format.
var extensions = []struct {
	ext    string
	format Format
}{
	{".csv", CSV}, {".tsv", TSV}, {".tab", TSV},
	{".jsonl", JSONL}, {".ndjson", JSONL}, {".json", JSON},
	{".txt", Text}, {".md", Text}, {".markdown", Text}, {".html", Text},
}

// FormatOf returns the format a file name ends in, "" when it says nothing.
func FormatOf(name string) Format {
	ext := strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/")))
	for _, e := range extensions {
		if e.ext == ext {
			return e.format
		}
	}
	return ""
}

// Gzipped returns the name of a compressed file without what says that it is one;
// ok is false for other files.
func Gzipped(name string) (inner string, ok bool) {
	if ext := path.Ext(name); strings.EqualFold(ext, ".gz") {
		return name[:len(name)-len(ext)], true
	}
	return name, false
}

// ParseFormat reads a format as documents spell it; allowed lists what the
// place accepts.
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

// Delimiter returns the byte that separates the cells of a delimited format.
func (f Format) Delimiter() rune {
	if f == TSV {
		return '\t'
	}
	return ','
}

// Delimited reports whether the format is lines of cells.
func (f Format) Delimited() bool { return f == CSV || f == TSV }

// Delimiter reads the character between cells that a document gives; 0 is none given.
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
