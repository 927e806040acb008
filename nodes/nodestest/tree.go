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

// File is the file name in the positions of Tree and Node.
const File = "test.json"

// Tree parses JSON to a tree with positions. The position of a value or key is the line and column
// of its first character; for a string that is the quotation mark.
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

// Node parses a JSON mapping to a node. The keys id, kind, reads, writes and args are the common
// keys; all others are the configuration of the kind. The default id is "n".
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

// treeReader reads the tokens of a JSON decoder and determines their positions.
type treeReader struct {
	text string
	dec  *json.Decoder
}

// next returns a token and the position of its first character.
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

// noEnd converts io.EOF inside a value to io.ErrUnexpectedEOF.
func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Findings formats findings for comparisons, one on each line and without the file name.
func Findings(ds source.Diagnostics) string {
	var b bytes.Buffer
	for _, d := range ds.Sorted() {
		d.Pos.File = ""
		fmt.Fprintln(&b, d.Error())
	}
	return b.String()
}
