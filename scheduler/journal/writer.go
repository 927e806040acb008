package journal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/state"
)

// Keys of objects that represent something else. An object of a run whose first key is one of
// them is written as the value of markValue.
const (
	markBlob    = "$blob"
	markMissing = "$missing"
	markSecret  = "$secret"
	markValue   = "$value"
)

func isMark(key string) bool {
	switch key {
	case markBlob, markMissing, markSecret, markValue:
		return true
	}
	return false
}

// bytesPrefix begins a string that is written in base64, because it is not valid UTF-8 or begins
// like that itself.
const bytesPrefix = "\x00bytes:"

// floatPrefix begins the name of a secret whose value is a number with a point.
const floatPrefix = "float:"

// maxDepth limits the depth of values. Values of a run are canonical, so they do not contain
// themselves.
const maxDepth = 10_000

var errTooDeep = errors.New("the value is nested too deeply")

// writer appends JSON to a buffer. It keeps the first error.
type writer struct {
	buf   []byte
	blobs []string
	codec *Codec
	read  *readRecord // see Codec.appendEvent
	err   error
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) open(bracket byte) { w.buf = append(w.buf, bracket) }

func (w *writer) close(bracket byte) { w.buf = append(w.buf, bracket) }

// comma writes a comma unless an object or list has just begun.
func (w *writer) comma() {
	if c := w.buf[len(w.buf)-1]; c != '{' && c != '[' {
		w.buf = append(w.buf, ',')
	}
}

// key begins a member of an object. The key is the name of a field or a word of the format.
func (w *writer) key(name string) {
	w.comma()
	w.buf = append(value.AppendString(w.buf, name), ':')
}

// text writes a member unless it is empty.
func (w *writer) text(name, s string) {
	if s != "" {
		w.key(name)
		w.string(s)
	}
}

// int writes a member unless it is 0.
func (w *writer) int(name string, i int64) {
	if i != 0 {
		w.comma()
		w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
		w.buf = strconv.AppendInt(w.buf, i, 10)
	}
}

// flag writes a member unless it is false.
func (w *writer) flag(name string, b bool) {
	if b {
		w.key(name)
		w.buf = append(w.buf, "true"...)
	}
}

// string writes a string without secrets.
func (w *writer) string(s string) {
	if w.codec.Secrets.None() && value.IsPlain(s) { // as almost all are
		w.buf = append(append(append(w.buf, '"'), s...), '"')
		return
	}
	s = w.codec.Secrets.Seal(s)
	if !utf8.ValidString(s) || strings.HasPrefix(s, bytesPrefix) {
		s = bytesPrefix + base64.StdEncoding.EncodeToString([]byte(s))
	}
	w.buf = value.AppendString(w.buf, s)
}

// value writes a value of the run, or stores it as a blob if it is large.
func (w *writer) value(v any) {
	if value.IsMissing(v) {
		w.missing()
		return
	}
	start := len(w.buf)
	w.nested(v, 0)
	w.outsource(start)
}

func (w *writer) missing() { w.buf = append(w.buf, `{"`+markMissing+`":true}`...) }

// outsource replaces the value that begins at an index of the buffer by a blob if it is large.
func (w *writer) outsource(start int) {
	size := len(w.buf) - start
	if size <= MaxInline || w.codec.Put == nil || w.err != nil {
		return
	}
	sum, err := w.codec.Put(w.buf[start:])
	if err != nil {
		w.fail(err)
		return
	}
	w.buf = w.buf[:start]
	w.open('{')
	w.key(markBlob)
	w.buf = value.AppendString(w.buf, sum)
	w.int("bytes", int64(size))
	w.close('}')
	w.blobs = append(w.blobs, sum)
}

// nested writes a value or a part of one.
func (w *writer) nested(v any, depth int) {
	if depth > maxDepth {
		w.fail(errTooDeep)
	}
	if w.err != nil {
		return
	}
	switch v := v.(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
	case bool:
		w.buf = strconv.AppendBool(w.buf, v)
	case int64:
		w.number(v)
	case int:
		w.number(int64(v))
	case float64:
		w.float(v)
	case string:
		w.string(v)
	case []any:
		w.list(v, depth)
	case *value.Object:
		w.object(v, depth)
	default:
		w.typed(v, depth)
	}
}

const (
	// guessAfter is the number of elements of a long list after which room for the others is made.
	guessAfter = 16
	// maxGuess limits that room in bytes, because the other elements may be much smaller.
	maxGuess = 4 << 20
)

func (w *writer) list(list []any, depth int) {
	w.open('[')
	start := len(w.buf)
	for i := range list {
		if i == guessAfter { // a buffer that grows with each element is copied many times
			w.buf = slices.Grow(w.buf, min((len(w.buf)-start)/guessAfter*(len(list)-guessAfter)*9/8, maxGuess))
		}
		w.comma()
		w.nested(list[i], depth+1)
	}
	w.close(']')
}

func (w *writer) object(o *value.Object, depth int) {
	if o == nil {
		w.buf = append(w.buf, "null"...)
		return
	}
	marked := false
	if o.Len() > 0 {
		k, _ := o.At(0)
		marked = isMark(k)
	}
	if marked {
		w.open('{')
		w.key(markValue)
	}
	w.open('{')
	for i := range o.Len() {
		k, v := o.At(i)
		w.comma()
		w.string(k)
		w.buf = append(w.buf, ':')
		w.nested(v, depth+1)
	}
	w.close('}')
	if marked {
		w.close('}')
	}
}

// typed writes a value of a Go type in the form of encoding/json. That form is parsed only if it
// might contain a secret or something that looks like a mark.
func (w *writer) typed(v any, depth int) {
	start := len(w.buf)
	buf, err := value.AppendJSON(w.buf, v)
	if err != nil {
		w.fail(err)
		return
	}
	w.buf = buf
	if w.codec.Secrets.None() && !bytes.Contains(buf[start:], []byte(`{"$`)) && !bytes.Contains(buf[start:], []byte(`\u0000`)) {
		return
	}
	parsed, err := value.ParseJSON(buf[start:])
	if err != nil {
		w.fail(err)
		return
	}
	w.buf = buf[:start]
	w.nested(parsed, depth+1)
}

func (w *writer) number(i int64) {
	start := len(w.buf)
	w.buf = strconv.AppendInt(w.buf, i, 10)
	if w.codec.Secrets.None() {
		return
	}
	if name := w.codec.Secrets.Number(string(w.buf[start:])); name != "" {
		w.buf = w.buf[:start]
		w.secret(name)
	}
}

func (w *writer) float(f float64) {
	buf, err := value.AppendFloat(w.buf, f)
	if err != nil {
		w.fail(err)
		return
	}
	if !w.codec.Secrets.None() {
		if name := w.codec.Secrets.Number(strconv.FormatFloat(f, 'f', -1, 64)); name != "" {
			w.secret(floatPrefix + name)
			return
		}
	}
	w.buf = buf
}

func (w *writer) secret(name string) {
	w.open('{')
	w.key(markSecret)
	w.buf = value.AppendString(w.buf, name)
	w.close('}')
}

// column writes the writes of the first n items to a field as a list.
func (w *writer) column(column *state.ItemWrites, n int) {
	list, single := column.List()
	w.open('[')
	switch list := list.(type) {
	case []int:
		appendItems(w, column, list[:n], single, func(v int) { w.number(int64(v)) })
	case []int64:
		appendItems(w, column, list[:n], single, func(v int64) { w.number(v) })
	case []float64:
		appendItems(w, column, list[:n], single, func(v float64) { w.float(v) })
	case []string:
		appendItems(w, column, list[:n], single, func(v string) {
			start := len(w.buf)
			w.string(v)
			w.outsource(start)
		})
	case []bool:
		appendItems(w, column, list[:n], single, func(v bool) { w.buf = strconv.AppendBool(w.buf, v) })
	default:
		for i := range n {
			w.comma()
			w.value(column.At(i))
		}
	}
	w.close(']')
}

// appendItems writes the items of a typed list. If single is set, each of them has written a list
// of one element.
func appendItems[T any](w *writer, column *state.ItemWrites, list []T, single bool, write func(T)) {
	for i, v := range list {
		w.comma()
		switch {
		case !column.Wrote(i):
			w.missing()
		case single:
			w.open('[')
			write(v)
			w.close(']')
		default:
			write(v)
		}
	}
}

// castagnoli returns a table that crc32 makes when it is first needed.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func crc(data []byte) uint32 { return crc32.Checksum(data, castagnoli()) }
