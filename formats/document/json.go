package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// parseJSON parses valid JSON. YAML is nominally a superset of JSON, but the library
// rejects two of its escapes: \/ and surrogate pairs.
func (s *yamlSource) parseJSON() (*source.Value, source.Diagnostics) {
	dec := json.NewDecoder(bytes.NewReader(s.data))
	dec.UseNumber()
	j := &jsonReader{src: s, dec: dec}
	v := j.value(0)
	if j.stopped {
		return nil, j.ds
	}
	return v, j.ds
}

// jsonError returns the syntax error of a JSON file. The JSON parser reports its exact
// position.
func (s *yamlSource) jsonError() (source.Diagnostic, bool) {
	bad, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(s.data, new(any)))
	if !ok || filepath.Ext(s.file) != ".json" {
		return source.Diagnostic{}, false
	}
	pos := s.position(max(0, min(int(bad.Offset), len(s.data))-1))
	return source.Diagnostic{Code: source.CodeSyntax, Pos: pos, Message: bad.Error()}, true
}

type jsonReader struct {
	src     *yamlSource
	dec     *json.Decoder
	ds      source.Diagnostics
	stopped bool
}

// next returns the next token and the offset of its first character.
func (j *jsonReader) next() (json.Token, int) {
	at := int(j.dec.InputOffset())
	at += len(j.src.data[at:]) - len(bytes.TrimLeft(j.src.data[at:], " \t\r\n,:"))
	tok, err := j.dec.Token()
	if err != nil {
		panic("document: valid JSON became invalid: " + err.Error())
	}
	return tok, at
}

func (j *jsonReader) value(depth int) *source.Value {
	tok, at := j.next()
	v := &source.Value{Pos: j.src.position(at)}
	if depth > maxDepth && !j.stopped {
		j.ds.Errorf(source.CodeLimit, v.Pos, "document is nested deeper than %d", maxDepth)
		j.stopped = true
	}
	switch tok := tok.(type) {
	case bool:
		v.Kind, v.Scalar = source.BoolValue, tok
	case string:
		v.Kind, v.Scalar, v.Pos = source.StringValue, tok, v.Pos.Shift(1)
		if !bytes.HasPrefix(j.src.data[at+1:], []byte(tok+`"`)) {
			v.Pos = v.Pos.Written(j.src.writtenJSON(tok, at))
		}
	case json.Number:
		j.number(v, tok.String())
	case json.Delim:
		if tok == '{' {
			return j.object(v, depth)
		}
		v.Kind = source.ArrayValue
		for j.dec.More() {
			v.Items = append(v.Items, j.value(depth+1))
		}
		j.next()
	}
	return v
}

func (j *jsonReader) object(v *source.Value, depth int) *source.Value {
	v.Kind = source.ObjectValue
	written := map[string]source.Position{}
	for j.dec.More() {
		tok, at := j.next()
		key := source.At(tok.(string), j.src.position(at).Shift(1))
		member := j.value(depth + 1)
		first, ok := written[key.Value]
		switch {
		case len(key.Value) > maxKey && !j.stopped:
			j.ds.Errorf(source.CodeLimit, key.Pos, "key has %d bytes, at most %d are read", len(key.Value), maxKey)
			j.stopped = true
		case ok:
			duplicate(&j.ds, key, first)
		default:
			written[key.Value] = key.Pos
			v.Set(key, member)
		}
	}
	j.next()
	return v
}

func (j *jsonReader) number(v *source.Value, text string) {
	n, err := value.ParseNumber(text)
	switch n := n.(type) {
	case int64:
		v.Kind, v.Scalar = source.IntValue, n
	case float64:
		v.Kind, v.Scalar = source.FloatValue, n
	}
	if err != nil {
		*v = source.Value{Pos: v.Pos, Lost: true}
		j.ds.Errorf(source.CodeBadValue, v.Pos, "%q %s", text, errRange).WithHint("%s", hintFor(errRange))
	}
}
