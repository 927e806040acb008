package program

import (
	"bytes"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/internal/normalize"
	"github.com/wavefold/wavefold/internal/secret"
)

// capture collects standard output up to a limit. When the limit is exceeded, it reports a flood
// once and discards further output, so that the child does not block in a write while it is
// terminated.
//
// os/exec copies each pipe to its sink in a goroutine that Wait waits for. Until Wait has
// returned, a sink is used only by that goroutine.
type capture struct {
	limit    int
	kept     io.Writer // gets all output
	flood    func()
	data     []byte
	complete bool // the pipe was read to its end
}

// Write is never called, because io.Copy prefers ReadFrom. It makes capture an io.Writer, which
// os/exec requires.
func (c *capture) Write(p []byte) (int, error) {
	c.add(p)
	return len(p), nil
}

// ReadFrom reads the pipe to its end. A reader, unlike Write, can distinguish the end of the
// output from a pipe that Wait has closed.
func (c *capture) ReadFrom(r io.Reader) (int64, error) {
	n, err := pump(r, c.add)
	c.complete = err == nil
	return n, err
}

func (c *capture) add(p []byte) {
	if c.flood == nil {
		return
	}
	_, _ = c.kept.Write(p)
	if len(c.data)+len(p) > c.limit {
		c.data = nil
		c.flood()
		c.flood = nil
		return
	}
	c.data = append(c.data, p...)
}

func pump(r io.Reader, add func([]byte)) (int64, error) {
	buf := make([]byte, 32<<10)
	var total int64
	for {
		n, err := r.Read(buf)
		total += int64(n)
		if n > 0 {
			add(buf[:n])
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

const (
	maxLine   = 8 << 10 // bytes of a line that are logged
	tailLines = 40      // lines of each output that are kept for the error message
	tailWidth = 400     // bytes of such a line
	tailBytes = 4000    // bytes of all such lines of an output
)

// lineLog logs standard error line by line and keeps the last lines. Control characters other
// than tabs are dropped.
type lineLog struct {
	limit int
	kept  io.Writer // gets all output
	flood func()
	log   *slog.Logger
	mask  secret.Masker

	digest normalize.Digest // of all of standard error

	keepEnd int    // limit on the unmasked end, in bytes
	ending  []byte // the end, and some bytes before it

	seen int
	line []byte
	long bool // the current line is longer than its kept part
	tail []string
}

// ReadFrom reads the pipe to its end and logs a last line without a line end.
func (l *lineLog) ReadFrom(r io.Reader) (int64, error) {
	n, err := pump(r, func(p []byte) { l.Write(p) })
	if len(l.line) > 0 {
		l.emit()
	}
	return n, err
}

// Write adds a piece of the stream. It never fails.
func (l *lineLog) Write(p []byte) (int, error) {
	n := len(p)
	if l.flood == nil {
		return n, nil
	}
	_, _ = l.kept.Write(p)
	if l.seen += n; l.seen > l.limit {
		l.flood()
		l.flood = nil
		return n, nil
	}
	l.digest.Write(p)
	if l.keepEnd > 0 {
		l.ending = append(l.ending, p...)
		if len(l.ending) > 4*l.keepEnd {
			l.ending = append(l.ending[:0], l.end()...)
		}
	}
	for len(p) > 0 {
		head, rest, ended := bytes.Cut(p, []byte{'\n'})
		l.add(head)
		if ended {
			l.emit()
		}
		p = rest
	}
	return n, nil
}

// newDigest returns a digest of an output. Lines are masked and cleaned as for the log.
func newDigest(mask secret.Masker) normalize.Digest {
	return normalize.Digest{Clean: func(line string) string { return mask.Text(secret.Clean(line)) }}
}

// end returns the end of the stream.
func (l *lineLog) end() []byte { return l.ending[max(0, len(l.ending)-l.keepEnd):] }

// add keeps the part of the line that is logged and the length of a secret more, so that a secret
// that begins in the logged part is complete when it is masked.
func (l *lineLog) add(p []byte) {
	room := maxLine + l.mask.MaxLength() - len(l.line)
	if len(p) > room {
		l.long = true
		p = p[:max(room, 0)]
	}
	l.line = append(l.line, p...)
}

func (l *lineLog) emit() {
	text := l.mask.Text(clean(l.line))
	if l.long {
		text = shorten(text, maxLine)
	}
	l.line, l.long = l.line[:0], false
	if text == "" {
		return
	}
	l.log.Info(text)
	if len(l.tail) == tailLines {
		l.tail = append(l.tail[:0], l.tail[1:]...)
	}
	l.tail = append(l.tail, shorten(text, tailWidth))
}

// lastLines returns the last lines of an output that are not empty, in the form in which lineLog
// keeps the lines of standard error.
func lastLines(data []byte, mask secret.Masker) []string {
	if len(data) == 0 {
		return nil
	}
	var tail []string
	text := mask.Text(string(data)) // all of it, because a secret may cross the beginning of the tail
	for len(tail) < tailLines && text != "" {
		at := strings.LastIndexByte(text, '\n')
		if line := clean([]byte(text[at+1:])); line != "" {
			tail = append(tail, shorten(line, tailWidth))
		}
		text = text[:max(at, 0)]
	}
	slices.Reverse(tail)
	return limitTail(tail)
}

// limitTail drops the first lines of a tail that is too long for an error message.
func limitTail(tail []string) []string {
	total := 0
	for i, line := range slices.Backward(tail) {
		if total += len(line); total > tailBytes {
			return tail[i+1:]
		}
	}
	return tail
}

// clean removes control characters and trailing white space from a line.
func clean(line []byte) string { return secret.Clean(strings.TrimRight(string(line), " \t\r")) }

// shorten cuts a string to at most n bytes without splitting a character.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}
