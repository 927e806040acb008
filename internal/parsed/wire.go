package parsed

import (
	"encoding/binary"
	"errors"
)

// errDamaged is the error for data that Encode has not returned.
var errDamaged = errors.New("the parsed form is damaged")

// encoder collects the parts of a form: each different string once, and then the values.
type encoder struct {
	file    string
	buf     []byte
	text    []byte // all strings
	lengths []int  // of the strings
	index   map[string]uint64
	line    int32 // of the last position
	err     error
}

func (e *encoder) uint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }

func (e *encoder) int(n int64) { e.buf = binary.AppendVarint(e.buf, n) }

func (e *encoder) bool(b bool) {
	if b {
		e.buf = append(e.buf, 1)
	} else {
		e.buf = append(e.buf, 0)
	}
}

func (e *encoder) string(s string) {
	i, ok := e.index[s]
	if !ok {
		i = uint64(len(e.lengths))
		e.index[s] = i
		e.text, e.lengths = append(e.text, s...), append(e.lengths, len(s))
	}
	e.uint(i)
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// maxNesting limits the nesting of values. Documents have far less.
const maxNesting = 10_000

// decoder reads a form. After an error, it reads zeros.
type decoder struct {
	file    string
	buf     []byte
	strings []string
	line    int32
	depth   int
	err     error
}

func (d *decoder) fail() {
	d.err, d.buf = errDamaged, nil
}

func (d *decoder) uint() uint64 {
	n, size := binary.Uvarint(d.buf)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.buf = d.buf[size:]
	return n
}

func (d *decoder) int() int64 {
	n, size := binary.Varint(d.buf)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.buf = d.buf[size:]
	return n
}

func (d *decoder) bool() bool { return d.uint() == 1 }

// enter notes that a nested value follows, and reports whether it can be decoded. The caller subtracts 1 from depth
// after it.
func (d *decoder) enter() bool {
	if d.depth++; d.depth > maxNesting {
		d.fail()
	}
	return d.err == nil
}

// length returns the number of elements that follow, of which each has at least one byte.
func (d *decoder) length() int {
	n := d.uint()
	if n > uint64(len(d.buf)) {
		d.fail()
		return 0
	}
	return int(n)
}

// readStrings reads the strings. They share one piece of memory.
func (d *decoder) readStrings() {
	lengths := make([]int, d.length())
	total := 0
	for i := range lengths {
		lengths[i] = d.length()
		total += lengths[i]
	}
	if total > len(d.buf) {
		d.fail()
		return
	}
	text := string(d.buf[:total])
	d.buf = d.buf[total:]
	d.strings = make([]string, len(lengths))
	for i, n := range lengths {
		d.strings[i], text = text[:n], text[n:]
	}
}

func (d *decoder) string() string {
	i := d.uint()
	if i >= uint64(len(d.strings)) {
		d.fail()
		return ""
	}
	return d.strings[i]
}
