package document

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
	"gopkg.in/yaml.v3"
)

// The library returns the value of a string and the position of its beginning. To show
// an error inside the string, the reader must know how the string is written: with
// escapes, doubled quotes, or over several lines. Such a string is therefore parsed a
// second time, to record the origin of each byte. The result is compared with the
// library's value. If they differ, the string only has the position of its beginning.

// isWritten reports whether the document contains the value of a string literally,
// beginning at an offset.
func (s *yamlSource) isWritten(n *yaml.Node, at int) bool {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 || n.Anchor != "" || !bytes.HasPrefix(s.data[at:], []byte(n.Value)) {
		return false
	}
	return !strings.ContainsAny(n.Value, "\n\u0085\u2028\u2029\"'\\") || n.Style&quoted == 0 && !strings.Contains(n.Value, "\n")
}

// written returns the segments of a string that begins at an offset, including its
// anchor and tag. It returns nil if they cannot be determined.
func (s *yamlSource) written(n *yaml.Node, at int) []source.Segment {
	t := &tracer{src: s, at: s.afterProperties(at), want: n.Value}
	switch c := t.char(); {
	case n.Value == "":
		return nil
	case n.Style&yaml.DoubleQuotedStyle != 0 && c == '"', n.Style&yaml.SingleQuotedStyle != 0 && c == '\'':
		t.at++
		t.flow(c)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && (c == '|' || c == '>'):
		return t.blocks(c == '|')
	default:
		t.flow(0)
	}
	return t.segments()
}

// writtenJSON is like written, for a JSON string whose opening quote is at an offset.
func (s *yamlSource) writtenJSON(text string, at int) []source.Segment {
	t := &tracer{src: s, at: at + 1, want: text}
	t.flow('"')
	return t.segments()
}

// afterProperties returns the offset of a scalar's value, after its anchor and tag.
func (s *yamlSource) afterProperties(at int) int {
	for at < len(s.data) && (s.data[at] == '&' || s.data[at] == '!') {
		at += max(bytes.IndexAny(s.data[at:], " \t\r\n"), 1)
		for rest := s.data[at:]; len(rest) > 0; rest = s.data[at:] {
			if blank := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n")); blank > 0 {
				at += blank
			} else if rest[0] == '#' {
				at += max(bytes.IndexAny(rest, "\r\n"), 1)
			} else {
				break
			}
		}
	}
	return at
}

// tracer parses a string and records the origin of its bytes.
type tracer struct {
	src          *yamlSource
	at           int    // offset in the document
	want         string // the value of the string
	n            int    // number of bytes of want that have been found
	list         []source.Segment
	segmentStart int // offset in the document of the beginning of the last segment
	// fresh is set at the beginning of a line, which starts a segment. failed is set
	// once the document differs from want.
	fresh, failed bool
}

// char returns the current character, 0 at the end of the document.
func (t *tracer) char() byte {
	if t.at < len(t.src.data) {
		return t.src.data[t.at]
	}
	return 0
}

func (t *tracer) blank() bool { return t.char() == ' ' || t.char() == '\t' }

// lineBreak returns the value of the line break at the current offset and its length in
// the document, or 0 if there is none.
func (t *tracer) lineBreak() (text string, n int) {
	if t.at >= len(t.src.data) {
		return "", 0
	}
	n, _ = lineBreak(t.src.data[t.at:])
	if n == 3 { // U+2028 and U+2029
		return string(t.src.data[t.at:][:n]), n
	}
	return "\n", n
}

// record records that a part of the string comes from an offset in the document.
func (t *tracer) record(text string, at int) {
	if text == "" {
		return
	}
	if !strings.HasPrefix(t.want[t.n:], text) {
		t.failed = true
		return
	}
	t.addSegment(at)
	t.n += len(text)
	t.fresh = strings.HasSuffix(text, "\n")
}

// addSegment begins a segment, unless the last segment includes this offset.
func (t *tracer) addSegment(at int) {
	if k := len(t.list); k == 0 || t.fresh || at-t.segmentStart != t.n-int(t.list[k-1].Offset) {
		p := t.src.position(at)
		t.list = append(t.list, source.Segment{Offset: int32(t.n), Line: p.Line, Column: p.Column})
		t.segmentStart = at
	}
	t.fresh = false
}

// literalByte records the current byte, which is literal, and advances.
func (t *tracer) literalByte() {
	if t.n == len(t.want) || t.want[t.n] != t.src.data[t.at] {
		t.failed = true
		return
	}
	t.addSegment(t.at)
	t.n++
	t.at++
}

// segments returns the recorded segments, nil if they do not cover the whole string.
func (t *tracer) segments() []source.Segment {
	if t.failed || t.n < len(t.want) || len(t.list) == 0 {
		return nil
	}
	return t.list
}

// flow parses a quoted string, or a plain one if quote is 0.
func (t *tracer) flow(quote byte) {
	for t.at < len(t.src.data) && !t.failed {
		c := t.char()
		_, broken := t.lineBreak()
		switch {
		case quote == 0 && t.n == len(t.want), quote == '"' && c == quote, quote == '\'' && c == quote && !bytes.HasPrefix(t.src.data[t.at:], []byte("''")):
			t.end(t.at)
			return
		case quote == '\'' && c == quote:
			t.record("'", t.at)
			t.at += 2
		case quote == '"' && c == '\\':
			t.escape()
		case t.blank() || broken > 0:
			t.fold(false)
		default:
			t.literalByte()
		}
	}
	t.end(t.at)
}

// end records the offset after the string.
func (t *tracer) end(at int) {
	if t.n == len(t.want) {
		t.addSegment(at)
	}
}

// piece is a part of a string that may turn out not to belong to its value.
type piece struct {
	text string
	at   int
}

func (t *tracer) recordAll(list []piece) {
	for _, p := range list {
		t.record(p.text, p.at)
	}
}

// fold parses spaces and line breaks. Spaces are kept unless they are at the end or
// beginning of a line. A single line break becomes a space; of several, all but the
// first are kept. joined means that the first line break was escaped and does not
// become a space.
func (t *tracer) fold(joined bool) {
	var blanks, breaks []piece
	lines := joined
	first := piece{at: t.at}
	for t.at < len(t.src.data) {
		text, n := t.lineBreak()
		switch {
		case n > 0 && !lines:
			first, lines = piece{text, t.at}, true
		case n > 0:
			breaks = append(breaks, piece{text, t.at})
		case t.blank():
			n = 1
			blanks = append(blanks, piece{string(t.char()), t.at})
		}
		if n == 0 {
			break
		}
		t.at += n
	}
	switch {
	case !lines:
		t.recordAll(blanks)
		return
	case first.text == "\n" && len(breaks) == 0:
		t.record(" ", first.at)
	case first.text != "\n":
		t.record(first.text, first.at)
	}
	t.recordAll(breaks)
	t.fresh = true
}

// escapes maps the character after a backslash to its value.
var escapes = map[byte]string{'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '\'': "'", '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029"}

// digits is the number of hexadecimal digits after a backslash and a letter.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// escape parses an escape sequence.
func (t *tracer) escape() {
	from := t.at
	t.at++
	c := t.char()
	if _, n := t.lineBreak(); n > 0 {
		t.at += n
		t.fold(true)
		return
	}
	t.at++
	text := escapes[c]
	if n := digits[c]; n > 0 {
		text = string(t.rune(n))
	}
	t.failed = t.failed || text == ""
	t.record(text, from)
}

// rune parses the hexadecimal digits of an escape. In JSON, it also parses the second
// escape of a surrogate pair.
func (t *tracer) rune(n int) rune {
	r := t.hex(t.at, n)
	t.at += n
	if !utf16.IsSurrogate(r) {
		return r
	}
	var second rune
	if bytes.HasPrefix(t.src.data[min(t.at, len(t.src.data)):], []byte(`\u`)) {
		second = t.hex(t.at+2, 4)
	}
	if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
		t.at += 6
	}
	return r
}

func (t *tracer) hex(at, n int) rune {
	if at+n > len(t.src.data) {
		return utf8.RuneError
	}
	r, err := strconv.ParseUint(string(t.src.data[at:at+n]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(r)
}

// blocks parses a literal or folded block from its indicator on. If the value consists
// of spaces, its indentation is ambiguous, and the first indentation that fits is used.
func (t *tracer) blocks(literal bool) []source.Segment {
	t.at += max(bytes.IndexAny(t.src.data[t.at:], "\r\n"), 0)
	if _, n := t.lineBreak(); n > 0 {
		t.at += n
	}
	first, last := t.indent()
	for indent := first; indent <= last; indent++ {
		try := *t
		if try.block(literal, indent); try.segments() != nil {
			return try.segments()
		}
	}
	return nil
}

// block parses a literal or folded block with a known indentation.
func (t *tracer) block(literal bool, indent int) {
	var (
		lead  piece // the line break of the previous line
		inner bool  // the previous line began with a space
		end   = t.at
	)
	breaks, column := t.breaks(indent)
	for column == indent && t.at < len(t.src.data) && !t.failed && t.n < len(t.want) {
		switch {
		case literal || inner || t.blank() || lead.text != "\n":
			t.record(lead.text, lead.at)
		case len(breaks) == 0:
			t.record(" ", lead.at)
		}
		t.recordAll(breaks)
		t.fresh, inner = true, t.blank()
		lead = t.line()
		end = lead.at
		breaks, column = t.breaks(indent)
	}
	for _, p := range append([]piece{lead}, breaks...) {
		if t.n < len(t.want) && p.text != "" {
			t.record(p.text, p.at)
			end = p.at
		}
	}
	t.end(end)
}

// line parses a line and returns its line break.
func (t *tracer) line() piece {
	for t.at < len(t.src.data) && !t.failed {
		if text, n := t.lineBreak(); n > 0 {
			end := piece{text, t.at}
			t.at += n
			return end
		}
		t.literalByte()
	}
	return piece{at: t.at}
}

// maxBlanks limits the indentations that are tried for a value of spaces.
const maxBlanks = 20

// breaks parses empty lines and the indentation of the first line that is not empty. It
// returns the column that it reached in that line.
func (t *tracer) breaks(indent int) (list []piece, column int) {
	for {
		for column = 0; column < indent && t.char() == ' '; column++ {
			t.at++
		}
		text, n := t.lineBreak()
		if n == 0 {
			return list, column
		}
		list = append(list, piece{text, t.at})
		t.at += n
	}
}

// indent returns the range of possible indentations of a block: the number of spaces
// before its first non-blank line, without the spaces that the value has there.
func (t *tracer) indent() (from, to int) {
	rest := strings.TrimLeft(t.want, " \n")
	inside := len(t.want) - len(rest) - (strings.LastIndexByte(t.want[:len(t.want)-len(rest)], '\n') + 1)
	text := bytes.TrimLeft(t.src.data[t.at:], " \r\n")
	if rest == "" {
		return 1, min(len(t.src.data)-t.at, maxBlanks)
	}
	before := t.src.data[:len(t.src.data)-len(text)]
	indent := len(before) - (bytes.LastIndexAny(before, "\r\n") + 1) - inside
	return indent, indent
}
