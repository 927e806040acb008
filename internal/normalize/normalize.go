// Package normalize makes failures comparable. Text and Digest replace the parts of an output
// that differ between runs of a program even if nothing else has changed: numbers,
// hexadecimal identifiers and the names of temporary files. Two failures are the same if
// their normalized outputs are equal.
package normalize

import (
	"bytes"
	"fmt"
	"hash"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Limits on the length of an identifier in a string, and the length of a masked string.
const (
	minHex, maxHex = 7, 64
	textLength     = 240
)

// tempName matches the random names that systems give to temporary files.
var tempName = lazyregexp.New(`/\.?tmp[._-]?[a-z0-9_]{6,}`)

// Text returns a message in lower case, with numbers, hexadecimal identifiers and the names
// of temporary files masked. The end of a long message is replaced by a hash of the whole
// message, so that messages that differ at their end stay different.
func Text(message string) string {
	masked := mask(message)
	out := []rune(masked)
	if len(out) <= textLength {
		return masked
	}
	sum := fnv.New64a()
	sum.Write([]byte(masked))
	rest := fmt.Sprintf("#%016x", sum.Sum64())
	return string(out[:textLength-len(rest)]) + rest
}

func mask(message string) string {
	var b strings.Builder
	text := strings.ToLower(message)
	if strings.Contains(text, "tmp") {
		text = tempName.ReplaceAllString(text, "/<tmp>")
	}
	b.Grow(len(text))
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && isHex(text[end]) {
			end++
		}
		run := text[i:end]
		switch {
		case run == "":
			b.WriteByte(text[i])
			i++
			continue
		case len(run) >= minHex && len(run) <= maxHex:
			b.WriteString("<hex>")
		default:
			maskNumbers(&b, run)
		}
		i = end
	}
	return b.String()
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

func maskNumbers(b *strings.Builder, text string) {
	for i := range len(text) {
		switch digit := text[i] <= '9'; {
		case !digit:
			b.WriteByte(text[i])
		case i == 0 || text[i-1] > '9':
			b.WriteString("<n>")
		}
	}
}

// maxLine limits the bytes of a line that a Digest holds.
const maxLine = 64 << 10

// Digest computes a hash of an output of any length while the output is written. Two
// outputs have the same hash if their lines, masked as by Text, are the same; empty lines
// and trailing spaces do not count. It holds at most one line, of at most 64 KiB.
//
// A longer line is masked in pieces that end at a space, which does not change the hash.
// Only a run of 64 KiB without a space may be cut at any position.
type Digest struct {
	// Clean is applied to each line before it is masked; nil does not change lines.
	Clean func(line string) string

	line  []byte
	piece bool // the hash already contains the first piece of the line
	sum   hash.Hash64
}

// Write adds a part of the output. It never fails.
func (d *Digest) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		head, rest, ended := bytes.Cut(p, []byte{'\n'})
		for len(d.line)+len(head) > maxLine {
			room := maxLine - len(d.line)
			d.line = append(d.line, head[:room]...)
			head = head[room:]
			d.cut()
		}
		d.line = append(d.line, head...)
		if ended {
			d.endLine()
		}
		p = rest
	}
	return n, nil
}

// cut adds the beginning of a line that is too long to be held.
func (d *Digest) cut() {
	at := bytes.LastIndexByte(d.line, ' ') + 1
	if at == 0 {
		for at = len(d.line); at > len(d.line)-utf8.UTFMax && !utf8.RuneStart(d.line[at-1]); at-- {
		}
		at-- // the last character may be incomplete
	}
	d.add(string(d.line[:at]))
	d.line = append(d.line[:0], d.line[at:]...)
	d.piece = true
}

func (d *Digest) endLine() {
	text := strings.TrimRight(string(d.line), " \t\r")
	d.line = d.line[:0]
	if d.Clean != nil {
		text = d.Clean(text)
	}
	if text == "" && !d.piece {
		return
	}
	d.piece = false
	d.write(mask(text) + "\n")
}

func (d *Digest) add(text string) {
	if d.Clean != nil {
		text = d.Clean(text)
	}
	d.write(mask(text))
}

func (d *Digest) write(text string) {
	if d.sum == nil {
		d.sum = fnv.New64a()
	}
	d.sum.Write([]byte(text))
}

// Sum ends the last line and returns the hash, "" for an output that consists of white
// space.
func (d *Digest) Sum() string {
	if len(d.line) > 0 || d.piece {
		d.endLine()
	}
	if d.sum == nil {
		return ""
	}
	return fmt.Sprintf("%016x", d.sum.Sum64())
}
