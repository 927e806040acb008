package document

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"gopkg.in/yaml.v3"
)

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// scalar converts a boolean, number, string or null. The library determines the type
// and sets the tag. The value is parsed here, because the library rounds numbers.
func (w *walker) scalar(n *yaml.Node) *source.Value {
	v := &source.Value{Pos: w.src.at(n)}
	tagged := n.Style&yaml.TaggedStyle != 0
	var err error
	switch n.Tag {
	case "!!null":
		if tagged && !isWord(n.Value, "", "~", "null") {
			err = errTag
		}
	case "!!bool":
		v.Kind, v.Scalar = source.BoolValue, isWord(n.Value, "true")
		if tagged && !isWord(n.Value, "true", "false") {
			err = errTag
		}
	case "!!int":
		v.Kind = source.IntValue
		v.Scalar, err = parseInt(n.Value)
	case "!!float":
		v.Kind = source.FloatValue
		v.Scalar, err = parseFloat(n.Value, tagged)
	case "!!str", "!!timestamp", "!!merge", "!":
		v.Kind, v.Scalar = source.StringValue, n.Value
		if n.Style&quoted == 0 && !tagged && overflows(n.Value) {
			err = errRange
		}
		if at, ok := w.src.nonLiteral[n]; ok && err == nil {
			v.Pos = v.Pos.Written(w.src.written(n, at))
		}
	default:
		w.badTag(n)
		v.Lost = true
		return v
	}
	if err != nil {
		w.errorf(source.CodeBadValue, n, "%s %s", strconv.Quote(n.Value), err).WithHint("%s", hintFor(err))
		return &source.Value{Pos: v.Pos, Lost: true}
	}
	return v
}

// checkTag reports a collection with a non-standard tag.
func (w *walker) checkTag(n *yaml.Node, standard string) {
	if n.Tag != standard && n.Tag != "!" {
		w.badTag(n)
	}
}

func (w *walker) badTag(n *yaml.Node) {
	w.errorf(source.CodeSyntax, n, "tag %s is not supported", n.Tag).
		WithHint(`put a string that begins with "!" in quotes`)
}

// isWord reports whether a plain scalar is one of the words in one of the three
// spellings of YAML: null, Null, NULL.
func isWord(s string, words ...string) bool {
	for _, w := range words {
		if s == w || s == strings.ToUpper(w) || w != "" && s == strings.ToUpper(w[:1])+w[1:] {
			return true
		}
	}
	return false
}

var (
	errTag    = errors.New("does not fit its tag")
	errRange  = errors.New("does not fit a 64-bit number")
	errFinite = errors.New("is not a number that JSON has")
	errZero   = errors.New("begins with a zero")
)

func hintFor(err error) string {
	switch err {
	case errRange, errFinite, errZero:
		return "put it in quotes to make it a string"
	default:
		return ""
	}
}

var (
	leadingZero = lazyregexp.New(`^[-+]?0[0-9_]`)
	floatText   = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?$`)
	wholeText   = lazyregexp.New(`^[-+]?[0-9_]+$`)
)

// parseInt parses the integers of YAML: decimal, 0x, 0o and 0b, with underscores
// between digits. A leading zero is an error, because it means octal in YAML 1.1 and
// decimal in YAML 1.2.
func parseInt(s string) (int64, error) {
	if leadingZero.MatchString(s) {
		return 0, errZero
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errRange
	case err != nil:
		return 0, errTag
	}
	return n, nil
}

// parseFloat parses a number with a point or exponent. The library also tags integers
// that exceed 64 bits as floats.
func parseFloat(s string, tagged bool) (float64, error) {
	switch {
	case leadingZero.MatchString(s):
		return 0, errZero
	case wholeText.MatchString(s) && !tagged:
		return 0, errRange
	case isWord(strings.TrimLeft(s, "+-"), ".inf", ".nan") || strings.EqualFold(s, ".nan"):
		return 0, errFinite
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errRange
	case err != nil:
		return 0, errTag
	case math.IsNaN(f) || math.IsInf(f, 0):
		return 0, errFinite
	}
	return f, nil
}

// overflows reports whether a string is a number too large for a float. The library
// silently treats such a number as a string.
func overflows(s string) bool {
	if !floatText.MatchString(s) {
		return false
	}
	_, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return errors.Is(err, strconv.ErrRange)
}
