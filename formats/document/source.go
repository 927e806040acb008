package document

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
	"gopkg.in/yaml.v3"
)

// yamlSource is the content of a document with two line tables. The YAML library counts
// lines by YAML's rules, in which some rare characters break lines that editors do not
// break, and it counts columns in characters. Positions use an editor's lines, and
// count columns in bytes.
type yamlSource struct {
	file      string
	data      []byte
	yamlLines []int // offsets of line beginnings as the library counts them
	lines     []int // offsets of line beginnings as editors count them

	// The last position that offset found. The next search continues there, because a
	// file may be a single line of 10 MB.
	lastLine, lastColumn, lastOffset int

	// aliased reports whether the document has aliases, so that parts of the tree are used again.
	aliased bool

	// nonLiteral are the offsets of the scalars whose values the document does not
	// contain literally.
	nonLiteral map[*yaml.Node]int

	// budget is the number of bytes that may still be parsed to locate a syntax error.
	budget int
}

func newSource(file string, data []byte) *yamlSource {
	s := &yamlSource{file: file, data: data, yamlLines: []int{0}, lines: []int{0}, lastLine: -1}
	for i := 0; i < len(data); i++ {
		n, editor := lineBreak(data[i:])
		if n == 0 {
			continue
		}
		i += n - 1
		s.yamlLines = append(s.yamlLines, i+1)
		if editor {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// lineBreak returns the length of the line break at the beginning of data, or 0 if
// there is none, and whether editors break the line there, too.
func lineBreak(data []byte) (n int, editor bool) {
	switch {
	case data[0] == '\n':
		return 1, true
	case data[0] == '\r' && len(data) > 1 && data[1] == '\n':
		return 2, true
	case data[0] == '\r':
		return 1, true
	case data[0] == 0xc2 && bytes.HasPrefix(data, []byte("\u0085")):
		return 2, false
	case data[0] == 0xe2 && (bytes.HasPrefix(data, []byte("\u2028")) || bytes.HasPrefix(data, []byte("\u2029"))):
		return 3, false
	default:
		return 0, false
	}
}

// position returns the position of an offset.
func (s *yamlSource) position(offset int) source.Position {
	i, found := slices.BinarySearch(s.lines, offset)
	if !found {
		i--
	}
	return source.Position{File: s.file, Line: int32(i + 1), Column: int32(offset - s.lines[i] + 1)}
}

// at returns the position of a node after locate.
func (s *yamlSource) at(n *yaml.Node) source.Position {
	return source.Position{File: s.file, Line: int32(n.Line), Column: int32(n.Column)}
}

// offset returns the offset of a line and column as the library counts them, from 1.
func (s *yamlSource) offset(line, column int) int {
	line, column = line-1, column-1
	if line < 0 || line >= len(s.yamlLines) {
		return len(s.data)
	}
	at, done := s.yamlLines[line], 0
	if line == s.lastLine && column >= s.lastColumn {
		at, done = s.lastOffset, s.lastColumn
	}
	for ; done < column && at < len(s.data); done++ {
		_, n := utf8.DecodeRune(s.data[at:])
		at += n
	}
	s.lastLine, s.lastColumn, s.lastOffset = line, column, at
	return at
}

// locate replaces the library's positions in a tree with positions as editors count
// them. It does not follow aliases. Nodes are in document order, so offset never has to
// go back.
func (s *yamlSource) locate(n *yaml.Node) {
	at := s.offset(n.Line, n.Column)
	if n.Kind == yaml.ScalarNode {
		from := at
		if at = s.stringStart(n, from); !s.isWritten(n, at) {
			if s.nonLiteral == nil {
				s.nonLiteral = map[*yaml.Node]int{}
			}
			s.nonLiteral[n] = from
		}
	}
	s.aliased = s.aliased || n.Kind == yaml.AliasNode
	p := s.position(at)
	n.Line, n.Column = int(p.Line), int(p.Column)
	for _, c := range n.Content {
		s.locate(c)
	}
}

// stringStart returns the offset of a string's first character, after the quote or
// block indicator. If the string has an anchor or a tag, it returns the offset of that.
func (s *yamlSource) stringStart(n *yaml.Node, at int) int {
	if at >= len(s.data) {
		return at
	}
	switch c := s.data[at]; {
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && (c == '"' || c == '\''):
		return at + 1
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && (c == '|' || c == '>'):
		if n.Value == "" {
			return at
		}
		line := at + bytes.IndexByte(s.data[at:], '\n') + 1
		text := bytes.TrimLeft(s.data[line:], " \r\n")
		return len(s.data) - len(text)
	default:
		return at
	}
}
