package nodestest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// File is the file name in the positions that Tree and Node give.
const File = "test.json"

// Tree reads a JSON text as a positioned tree: every value and key carries the
// line and column it begins at, a text those of its quote.
func Tree(t testing.TB, text string) *source.Value {
	t.Helper()
	r := &treeReader{text: text, dec: json.NewDecoder(strings.NewReader(text))}
	r.dec.UseNumber()
	v, err := r.value()
	if err == nil {
		if _, err = r.dec.Token(); err == nil {
			err = errors.New("text after the value")
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatalf("tree of %s: %v", text, err)
	}
	return v
}

// Node reads a JSON mapping as a node: the keys id, kind, reads, writes and args
// as the formats read them, all others as the kind's own configuration. Without
// an id the node is called "n".
func Node(t testing.TB, text string) *core.Node {
	t.Helper()
	v := Tree(t, text)
	n := &core.Node{ID: source.At("n", v.Pos), Pos: v.Pos, Config: &source.Value{Kind: source.ObjectValue, Pos: v.Pos}}
	for i, k := range v.Keys {
		member := v.Values[i]
		switch k.Value {
		case "id":
			n.ID = textOf(t, member)
		case "kind":
			n.Kind = textOf(t, member)
		case "reads":
			n.Reads = textsOf(t, member)
		case "writes":
			n.Writes, n.HasWrites = textsOf(t, member), true
		case "args":
			n.Args = member
		default:
			n.Config.Set(k, member)
		}
	}
	return n
}

func textOf(t testing.TB, v *source.Value) source.Text {
	t.Helper()
	s, ok := v.Scalar.(string)
	if !ok {
		t.Fatalf("%s: want a string, got %s", v.Pos, v.Kind)
	}
	return source.At(s, v.Pos)
}

func textsOf(t testing.TB, v *source.Value) []source.Text {
	t.Helper()
	out := []source.Text{}
	for _, e := range v.Items {
		out = append(out, textOf(t, e))
	}
	return out
}

// treeReader follows a JSON decoder through the text and notes where each token
// begins.
type treeReader struct {
	text string
	dec  *json.Decoder
}

// next returns a token and the place of its first character.
func (r *treeReader) next() (json.Token, source.Position, error) {
	from := int(r.dec.InputOffset())
	for from < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[from]) >= 0 {
		from++
	}
	tok, err := r.dec.Token()
	before := r.text[:from]
	line := strings.Count(before, "\n")
	column := from - strings.LastIndexByte(before, '\n')
	return tok, source.Position{File: File, Line: int32(line + 1), Column: int32(column)}, err
}

func (r *treeReader) value() (*source.Value, error) {
	tok, pos, err := r.next()
	if err != nil {
		return nil, noEnd(err)
	}
	return r.from(tok, pos)
}

func (r *treeReader) from(tok json.Token, pos source.Position) (*source.Value, error) {
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return r.array(pos)
		}
		return r.object(pos)
	case json.Number:
		n, err := value.ParseNumber(tok.String())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pos, err)
		}
		return source.Tree(n, pos), nil
	}
	return source.Tree(tok, pos), nil
}

func (r *treeReader) array(pos source.Position) (*source.Value, error) {
	out := &source.Value{Kind: source.ArrayValue, Pos: pos}
	for r.dec.More() {
		e, err := r.value()
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, e)
	}
	_, err := r.dec.Token()
	return out, noEnd(err)
}

func (r *treeReader) object(pos source.Position) (*source.Value, error) {
	out := &source.Value{Kind: source.ObjectValue, Pos: pos}
	for r.dec.More() {
		key, at, err := r.next()
		if err != nil {
			return nil, noEnd(err)
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		out.Set(source.At(key.(string), at), v)
	}
	_, err := r.dec.Token()
	return out, noEnd(err)
}

// noEnd keeps the end of the text from looking like the end of a value.
func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Findings formats findings one on a line, without the file name, so that tests
// can compare them as text.
func Findings(ds source.Diagnostics) string {
	var b bytes.Buffer
	for _, d := range ds.Sorted() {
		d.Pos.File = ""
		fmt.Fprintln(&b, d.Error())
	}
	return b.String()
}
