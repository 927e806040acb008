package human

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
)

// Console returns an interviewer that asks at a terminal: it writes a question with its
// choices to out and reads a line from in. It asks one question at a time. Other questions
// wait, and their timeouts run meanwhile. After the end of in no question is answered.
//
// A read cannot be cancelled: after a question that ended without an answer a goroutine keeps
// waiting for a line. Input that was typed before the next question is shown is dropped.
func Console(in io.Reader, out io.Writer) core.Interviewer {
	return &console{in: bufio.NewScanner(in), out: out, turn: make(chan struct{}, 1), lines: make(chan line, 1)}
}

type console struct {
	turn    chan struct{} // held by the current question, which owns the other fields
	in      *bufio.Scanner
	out     io.Writer
	lines   chan line // holds the line of a read whose question has ended
	reading bool      // a read is in progress, or its line is in lines
	ended   error
}

type line struct {
	text string
	err  error
}

var errEnd = errors.New("the input has ended")

func (c *console) Ask(ctx context.Context, q core.Question) (core.Answer, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return core.Answer{}, ctx.Err()
	}
	select {
	case l := <-c.lines: // typed when no question was shown
		c.received(l)
	default:
	}
	if err := ctx.Err(); err != nil {
		return core.Answer{}, err
	}
	if c.ended != nil {
		return core.Answer{}, c.unanswered()
	}
	if _, err := io.WriteString(c.out, show(&q)); err != nil {
		return core.Answer{}, fmt.Errorf("the question cannot be shown: %w", err)
	}
	if !c.reading {
		c.reading = true
		go c.readLine()
	}
	select {
	case l := <-c.lines:
		c.received(l)
		if c.ended != nil {
			c.say("")
			return core.Answer{}, c.unanswered()
		}
		return core.Answer{Text: l.text}, nil
	case <-ctx.Done():
		if q.Timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.say("no answer within " + q.Timeout.String())
		} else {
			c.say("")
		}
		return core.Answer{}, ctx.Err()
	}
}

// received records the end of a read.
func (c *console) received(l line) { c.reading, c.ended = false, l.err }

func (c *console) unanswered() error { return fmt.Errorf("%w: %w", core.ErrUnanswered, c.ended) }

// say writes a line after a question that has ended. Errors of the terminal are ignored,
// because the question no longer needs it.
func (c *console) say(text string) { _, _ = io.WriteString(c.out, text+"\n") }

// readLine reads one line. No other read may start until its line was received.
func (c *console) readLine() {
	if c.in.Scan() {
		c.lines <- line{text: c.in.Text()}
		return
	}
	c.lines <- line{err: cmp.Or(c.in.Err(), errEnd)}
}

// show formats a question.
func show(q *core.Question) string {
	var b strings.Builder
	if q.Again != "" { // the values were shown before
		fmt.Fprintf(&b, "%s\n", printable(q.Again))
	} else {
		for i := range q.Show {
			showValue(&b, &q.Show[i])
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", printable(q.Node), printable(q.Text))
	for _, c := range q.Choices {
		label := printable(c.Label)
		if key := printable(c.Key); shared(q, c) {
			label = "    " + label
		} else if !strings.HasPrefix(label, "["+key+"]") && !strings.HasPrefix(label, key+")") && !strings.HasPrefix(label, key+" - ") {
			label = "[" + key + "] " + label
		}
		fmt.Fprintf(&b, "  %s", label)
		if q.IsDefault(c) {
			fmt.Fprintf(&b, " (taken if there is no answer within %s)", explain.Duration(q.Timeout))
		}
		b.WriteByte('\n')
	}
	if q.Freeform {
		b.WriteString("  or an answer of your own\n")
	}
	b.WriteString("> ")
	return b.String()
}

// showValue writes the name of a value and below it the value, line by line.
func showValue(b *strings.Builder, s *core.Shown) {
	if s.Missing != "" {
		fmt.Fprintf(b, "%s: %s\n", printable(s.Name), printable(s.Missing))
		return
	}
	fmt.Fprintf(b, "%s:\n", printable(s.Name))
	for line := range strings.Lines(s.Text) {
		fmt.Fprintf(b, "  | %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
	if s.Left > 0 {
		fmt.Fprintf(b, "  … %d more bytes\n", s.Left)
	}
}

// shared reports whether another choice has the same key. Such a key picks no choice.
func shared(q *core.Question, c core.Choice) bool {
	return len(q.Match(core.Answer{Text: c.Key})) > 1
}

// printable removes control characters and other characters that a terminal does not show.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
