package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/internal/textfile"
	"gopkg.in/yaml.v3"
)

const (
	maxBytes    = 10 << 20
	maxDepth    = 100
	maxExpanded = 100_000
	// maxKey is below the length up to which YAML parsers recognise a key on one line.
	maxKey = 1000
)

// Parse parses one document. file is used in positions only. The tree is nil if the
// document is not valid YAML or exceeds a limit; an empty document is a null. The
// position of a string is its first character, after the quote if there is one. The
// position also records how the string is written, so that source.Inside finds positions
// within it.
func Parse(file string, data []byte) (*source.Value, source.Diagnostics) {
	start := source.Position{File: file, Line: 1, Column: 1}
	var ds source.Diagnostics
	if len(data) > maxBytes {
		ds.Errorf(source.CodeLimit, start, "document has %d bytes, at most %d are read", len(data), maxBytes)
		return nil, ds
	}
	src := newSource(file, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if bad := textfile.InvalidUTF8(src.data); bad >= 0 {
		ds.Errorf(source.CodeSyntax, src.position(bad), "text is not valid UTF-8").WithHint("save the file as UTF-8")
		return nil, ds
	}
	if text := bytes.TrimLeft(src.data, " \t\r\n"); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return src.parseJSON()
	}
	root, err := parse(bytes.NewReader(src.data))
	switch {
	case errors.Is(err, errSecond):
		src.locate(root)
		ds.Errorf(source.CodeSyntax, src.at(root), "file holds more than one document").
			WithHint(`remove the "---" or put the documents into files of their own`)
		return nil, ds
	case err != nil:
		return nil, append(ds, src.syntaxError(err))
	case root == nil:
		return &source.Value{Kind: source.NullValue, Pos: start}, nil
	}
	src.locate(root)
	w := &walker{src: src}
	tree := w.value(root, 0)
	if w.stopped {
		return nil, w.ds
	}
	return tree, w.ds
}

var errSecond = errors.New("more than one document")

// parse returns the root of the only document, or nil if there is none. If there are
// several, it returns the root of the second one and errSecond.
func parse(r io.Reader) (*yaml.Node, error) {
	dec := yaml.NewDecoder(r)
	first, err := next(dec)
	if first == nil || err != nil {
		return nil, err
	}
	second, err := next(dec)
	if err != nil {
		return nil, err
	}
	if second != nil {
		return second, errSecond
	}
	return first, nil
}

// next returns the root of the next document, nil at the end.
func next(dec *yaml.Decoder) (*yaml.Node, error) {
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	return doc.Content[0], nil
}
