package sweny

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/internal/textfile"
)

// Kinds of sources.
const (
	inlineSource = "inline"
	fileSource   = "file"
	urlSource    = "url"
)

// sourceShape is a text or its location: a string that is the text, a path or a URL, or
// a mapping that says which of these it is.
type sourceShape struct {
	kind string
	text source.Text // the text itself, the path or the URL
}

// sourceKeys are the keys of a source that is a mapping.
var sourceKeys = []string{inlineSource, fileSource, urlSource}

// DecodeValue decodes a string, or a mapping with one of the keys inline, file and url.
func (s *sourceShape) DecodeValue(v *source.Value) source.Diagnostics {
	switch v.Kind {
	case source.StringValue:
		s.text = source.At(v.Scalar.(string), v.Pos)
		s.kind = kindOf(strings.TrimSpace(s.text.Value))
	case source.ObjectValue:
		return s.decodeTagged(v)
	default:
		ds := source.WrongType(v, "a string, or one of {inline: …}, {file: …} and {url: …}")
		if v.Kind != source.ArrayValue && v.Kind != source.NullValue {
			ds[0].WithHint("put it in quotes to make it a string")
		}
		return ds
	}
	return s.blank()
}

// kindOf returns the kind of a source from the prefix of its string.
func kindOf(text string) string {
	begins := func(with ...string) bool {
		return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(text, w) })
	}
	switch {
	case begins("./", "../", "/"):
		return fileSource
	case begins("http://", "https://"):
		return urlSource
	}
	return inlineSource
}

func (s *sourceShape) decodeTagged(v *source.Value) source.Diagnostics {
	var d struct {
		Inline *source.Text `wavefold:"inline"`
		File   *source.Text `wavefold:"file"`
		URL    *source.Text `wavefold:"url"`
		Type   *source.Text `wavefold:"type"`
	}
	ds := source.Decode(v, &d)
	found := 0
	for i, t := range []*source.Text{d.Inline, d.File, d.URL} {
		if t != nil {
			found++
			s.kind, s.text = sourceKeys[i], *t
		}
	}
	switch {
	case len(ds) > 0:
		return ds
	case found != 1:
		ds.Errorf(source.CodeBadValue, v.Pos, "want one of the keys inline, file and url, found %d", found)
		return ds
	case d.Type != nil && s.kind != urlSource:
		ds.Errorf(source.CodeUnknownKey, d.Type.Pos, "type belongs to url")
		return ds
	case d.Type != nil && d.Type.Value != "fetch":
		ds.Errorf(source.CodeSourceInvalidType, d.Type.Pos, "type: %q is not a way to get a string", d.Type.Value).WithHint("write fetch, or leave it out")
		return ds
	}
	return s.blank()
}

func (s *sourceShape) blank() source.Diagnostics {
	var ds source.Diagnostics
	if strings.TrimSpace(s.text.Value) == "" {
		ds.Errorf(source.CodeMissingKey, s.text.Pos, "the string is empty")
	}
	return ds
}

// nodeSourcesShape is a list of sources that are added to the sources of the workflow,
// or a mapping whose sources may replace them.
type nodeSourcesShape struct {
	only    bool
	sources []sourceShape
}

// DecodeValue decodes a list, or a mapping with the keys only and sources.
func (n *nodeSourcesShape) DecodeValue(v *source.Value) source.Diagnostics {
	if v.Kind != source.ObjectValue {
		return source.Decode(v, &n.sources)
	}
	var d struct {
		Only    bool          `wavefold:"only"`
		Sources []sourceShape `wavefold:"sources"`
	}
	ds := source.Decode(v, &d)
	n.only, n.sources = d.Only, d.Sources
	if v.Get("sources") == nil {
		ds.Errorf(source.CodeMissingKey, v.Pos, `key "sources" is missing`).WithHint("write {only: true, sources: [./rules.md]}")
	}
	return ds
}

// library reads the files of a document, each once.
type library struct {
	files fs.FS
	read  map[string]textOrError
	// found are the sources of the document, in the order in which they were read.
	found []core.Source
}

type textOrError struct {
	text string
	err  error
}

// text returns the text of a source. It reports an error and returns false if there is
// none. field names the position in the document. without states the consequence if the
// source is a URL, which is not fetched.
func (l *loader) text(s *sourceShape, subject, field, without string) (t source.Text, ok bool) {
	switch s.kind {
	case fileSource:
		if t, ok = l.fileText(s, subject); !ok {
			return t, false
		}
	case urlSource:
		l.ds.Warnf(source.CodeSourceOffline, s.text.Pos, "%s: %s is not fetched: %s", subject, quotePath(strings.TrimSpace(s.text.Value)), without).
			WithHint("save the content next to the document and name the file")
		l.record(s, field, "")
		return s.text, false
	default:
		t = source.At(strings.TrimSpace(s.text.Value), s.text.Pos)
	}
	l.record(s, field, t.Value)
	return t, true
}

// record records the origin of a text.
func (l *loader) record(s *sourceShape, field, text string) {
	r := core.Source{Field: field, Kind: s.kind, Pos: s.text.Pos}
	if s.kind != inlineSource {
		r.Name = strings.TrimSpace(s.text.Value)
	}
	if text != "" {
		sum := sha256.Sum256([]byte(text))
		r.Hash = hex.EncodeToString(sum[:8])
	}
	l.library.found = append(l.library.found, r)
}

// fileText reads a file below the document's folder. Positions in the result refer to
// that file.
func (l *loader) fileText(s *sourceShape, subject string) (source.Text, bool) {
	name := strings.TrimSpace(s.text.Value)
	bad := func(code source.Code, why string) *source.Diagnostic {
		return l.ds.Errorf(code, s.text.Pos, "%s: %s: %s", subject, quotePath(name), why)
	}
	clean := path.Clean(filepath.ToSlash(name))
	switch {
	case !fs.ValidPath(clean):
		bad(source.CodeSourceOutside, "the path leads out of the document's folder").WithHint("files must lie in the folder of the document; {inline: …} makes it a string")
		return s.text, false
	case l.library.files == nil:
		bad(source.CodeSourceUnread, "there is no folder to look for the file in").WithHint("the document was not read from a file")
		return s.text, false
	}
	f, known := l.library.read[clean]
	if !known {
		f.text, f.err = textfile.Read(l.library.files, clean)
		f.text = strings.TrimSpace(f.text)
		l.library.read[clean] = f
	}
	switch {
	case errors.Is(f.err, fs.ErrNotExist):
		bad(source.CodeSourceNotFound, "there is no such file").WithHint("%s", textfile.Near(l.library.files, clean))
	case f.err != nil:
		bad(source.CodeSourceUnread, f.err.Error())
	case f.text == "":
		bad(source.CodeSourceUnread, "the file is empty")
	default:
		at := source.Position{File: filepath.Join(filepath.Dir(s.text.Pos.File), filepath.FromSlash(clean)), Line: 1, Column: 1}
		return source.At(f.text, at), true
	}
	return s.text, false
}

// quotePath formats a path or URL for a message. It is not shortened, so that the reader
// can find the file.
func quotePath(name string) string { return `"` + strings.ReplaceAll(name, "\n", `\n`) + `"` }
