package program

import (
	"bytes"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/internal/alike"
	"github.com/wavefold/wavefold/internal/secret"
)

// The sinks below are handed to os/exec, which copies each pipe in a goroutine
// of its own and awaits it in Wait. Each sink is used by that goroutine alone
// until Wait has returned.

// capture collects standard output up to a limit; past it, it reports a flood
// once and throws away what still comes, so that the child is not blocked in a
// write while it is being ended.
type capture struct {
	limit    int
	flood    func()
	data     []byte
	complete bool // the pipe was read to its end
}

// Write is never called: io.Copy prefers ReadFrom. It is here because os/exec
// asks for an io.Writer.
func (c *capture) Write(p []byte) (int, error) {
	c.add(p)
	return len(p), nil
}

// ReadFrom reads the pipe to its end. It exists because only a reader can tell
// the end of the output from a pipe that Wait has closed.
func (c *capture) ReadFrom(r io.Reader) (int64, error) {
	n, err := pump(r, c.add)
	c.complete = err == nil
	return n, err
}

func (c *capture) add(p []byte) {
	if c.flood == nil {
		return
	}
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
	maxLine   = 8 << 10 // bytes of a line that reach the log
	tailLines = 40      // lines of each output kept for the error text
	tailWidth = 400     // bytes of such a line
	tailBytes = 4000    // bytes of all such lines of an output
)

// lineLog sends standard error to a logger line by line and keeps the last
// lines. Control characters other than tabs are dropped: a log is no terminal.
type lineLog struct {
	limit int
	flood func()
	log   *slog.Logger
	mask  secret.Masker

	digest alike.Digest // of all of it

	keep int    // bytes of the end that are wanted as they are
	kept []byte // these, and some before them

	seen int
	line []byte
	long bool // the line is longer than what is kept of it
	tail []string
}

// ReadFrom reads the pipe to its end and then logs a last line without an end.
func (l *lineLog) ReadFrom(r io.Reader) (int64, error) {
	n, err := pump(r, func(p []byte) { l.Write(p) })
	if len(l.line) > 0 {
		l.emit()
	}
	return n, err
}

// Write takes a piece of the stream. It never fails.
func (l *lineLog) Write(p []byte) (int, error) {
	n := len(p)
	if l.flood == nil {
		return n, nil
	}
	if l.seen += n; l.seen > l.limit {
		l.flood()
		l.flood = nil
		return n, nil
	}
	l.digest.Write(p)
	if l.keep > 0 {
		l.kept = append(l.kept, p...)
		if len(l.kept) > 4*l.keep {
			l.kept = append(l.kept[:0], l.end()...)
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

// newDigest returns a digest of an output whose lines are compared as a log shows them.
func newDigest(mask secret.Masker) alike.Digest {
	return alike.Digest{Clean: func(line string) string { return mask.Text(secret.Clean(line)) }}
}

// end returns the end of the stream.
func (l *lineLog) end() []byte { return l.kept[max(0, len(l.kept)-l.keep):] }

// add keeps as much of the line as is shown, and a secret's length more: a
// secret that begins in the part shown is then whole when it is masked.
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

// lastLines returns the last lines of an output that are not empty, the way lineLog keeps
// those of standard error.
func lastLines(data []byte, mask secret.Masker) []string {
	if len(data) == 0 {
		return nil
	}
	var tail []string
	text := mask.Text(string(data)) // all of it: a secret may stand where the tail begins
	for len(tail) < tailLines && text != "" {
		at := strings.LastIndexByte(text, '\n')
		if line := clean([]byte(text[at+1:])); line != "" {
			tail = append(tail, shorten(line, tailWidth))
		}
		text = text[:max(at, 0)]
	}
	slices.Reverse(tail)
	return fitting(tail)
}

// fitting drops the first lines of a tail that is too long for an error text.
func fitting(tail []string) []string {
	total := 0
	for i, line := range slices.Backward(tail) {
		if total += len(line); total > tailBytes {
			return tail[i+1:]
		}
	}
	return tail
}

// clean makes a line fit for a log, without trailing white space.
func clean(line []byte) string { return secret.Clean(strings.TrimRight(string(line), " \t\r")) }

// shorten cuts a text to at most n bytes without cutting a character in two.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}
