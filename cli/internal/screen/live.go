// Package screen shows a run on a terminal while it is in progress: a tree of the graph's
// nodes with progress bars, redrawn in place.
//
// Lines draws the model of a run for a size and a time, as a pure function. Live owns the one
// goroutine that draws repeatedly, and Close waits for it.
package screen

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/runview"
)

// refresh is the time between two drawings.
const refresh = 100 * time.Millisecond

// Live draws a model on a terminal until Close. Its methods except Close may be called from
// any goroutine.
type Live struct {
	out     io.Writer
	size    func() (width, height int)
	palette tty.Palette
	stop    chan struct{}
	done    chan struct{} // closed when the goroutine has ended

	mu        sync.Mutex
	model     *runview.Model
	printed   []string // lines to be printed above the tree
	drawn     []string // the lines on the screen now, widths in cells
	width     int      // of the terminal when they were drawn
	suspended int      // calls of Suspend minus calls of Resume
	stopped   bool
}

// Start shows a model and begins to refresh it. It calls size before each drawing, since
// the size of the terminal may change at any time.
func Start(out io.Writer, size func() (width, height int), m *runview.Model, p tty.Palette) *Live {
	l := &Live{out: out, size: size, palette: p, model: m, stop: make(chan struct{}), done: make(chan struct{})}
	l.write("\x1b[?25l") // hides the cursor
	l.mu.Lock()
	l.draw(time.Now())
	l.mu.Unlock()
	go l.loop()
	return l
}

// Apply updates the model with an event; the next drawing shows it.
func (l *Live) Apply(e *core.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model.Apply(e)
}

// Print prints a line above the tree, made safe.
func (l *Live) Print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		l.write(string(tty.Safe(text)) + "\n")
		return
	}
	l.printed = append(l.printed, string(tty.Safe(text)))
}

// Close stops the refreshing, waits for its goroutine, and removes the tree from the
// screen. Lines printed above it stay.
func (l *Live) Close() {
	close(l.stop)
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.remove()
}

// Suspend removes the tree from the screen and draws nothing until Resume, so that the
// terminal can be used otherwise. Each call needs a matching Resume.
func (l *Live) Suspend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.suspended++; l.suspended == 1 && !l.stopped {
		l.remove()
	}
}

// Resume draws the tree again, below the current content of the screen. The cursor must be
// at the beginning of a line.
func (l *Live) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.suspended--; l.suspended == 0 && !l.stopped {
		l.write("\x1b[?25l")
		l.draw(time.Now())
	}
}

// remove removes the tree from the screen, but not the lines printed above it.
func (l *Live) remove() {
	var b bytes.Buffer
	width, _ := l.size()
	l.back(&b, width)
	l.above(&b)
	b.WriteString("\x1b[J\x1b[?25h")
	l.write(b.String())
	l.drawn = nil
}

// Abandon makes the cursor visible again, for a process that is about to exit without
// Close.
func (l *Live) Abandon() { l.write("\x1b[?25h") }

func (l *Live) loop() {
	defer close(l.done)
	t := time.NewTicker(refresh)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case now := <-t.C:
			l.mu.Lock()
			l.draw(now)
			l.mu.Unlock()
		}
	}
}

// draw writes the tree over the previous one, in one write and inside a synchronized
// update, so that no half-drawn state is visible. It overwrites each line and clears the
// rest of it; nothing is erased before it is replaced.
func (l *Live) draw(now time.Time) {
	if l.suspended > 0 {
		return
	}
	width, height := l.size()
	// One column stays empty, since some terminals wrap at the last one, and one line is
	// reserved for the cursor.
	lines := Lines(l.model, width-1, height-1, now, l.palette)
	if len(l.printed) == 0 && width == l.width && slices.Equal(lines, l.drawn) {
		return
	}
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h")
	l.back(&b, width)
	l.above(&b)
	for _, text := range lines {
		b.WriteString(text + "\x1b[K\r\n")
	}
	b.WriteString("\x1b[J\x1b[?2026l")
	l.write(b.String())
	l.drawn, l.width = lines, width
}

// back moves the cursor to the first line of the tree on the screen. If the terminal has
// become narrower, it has wrapped the lines that were too long.
func (l *Live) back(b *bytes.Buffer, width int) {
	rows := 0
	for _, text := range l.drawn {
		rows++
		if w := tty.Width(text); width > 0 && w > width {
			rows += (w - 1) / width
		}
	}
	b.WriteByte('\r')
	if rows > 0 {
		b.WriteString("\x1b[" + strconv.Itoa(rows) + "A")
	}
}

// above writes the lines printed since the last drawing.
func (l *Live) above(b *bytes.Buffer) {
	for _, text := range l.printed {
		b.WriteString(text + "\x1b[K\r\n")
	}
	l.printed = nil
}

// write ignores errors: a closed terminal must not stop the run.
func (l *Live) write(s string) { _, _ = io.WriteString(l.out, s) }
