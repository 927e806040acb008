package human

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/wavefold/wavefold/core"
)

// Func is an interviewer that calls a function.
type Func = core.InterviewerFunc

// AutoApprove returns an interviewer that picks the first choice of every question.
func AutoApprove() core.Interviewer {
	return Func(func(ctx context.Context, q core.Question) (core.Answer, error) {
		if len(q.Choices) == 0 {
			return core.Answer{}, fmt.Errorf("%w: it asks for free text, and there is no choice to approve", core.ErrUnanswered)
		}
		return core.Answer{Choice: q.Choices[0]}, ctx.Err()
	})
}

// Queue returns an interviewer that gives the answers in order, one to each question. Questions
// after the last answer are not answered. Several runs may share it; each answer is given once.
func Queue(answers ...string) core.Interviewer { return &queue{answers: answers} }

type queue struct {
	mu      sync.Mutex
	answers []string
}

func (u *queue) Ask(ctx context.Context, q core.Question) (core.Answer, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return core.Answer{}, err
	}
	if len(u.answers) == 0 {
		return core.Answer{}, fmt.Errorf("%w: the queue of answers is empty", core.ErrUnanswered)
	}
	text := u.answers[0]
	u.answers = u.answers[1:]
	return core.Answer{Text: text}, nil
}

// record is one line of a recording.
type record struct {
	Node   string      `json:"node"`
	Text   string      `json:"text"` // the question
	Answer core.Answer `json:"answer,omitzero"`
	// Late reports whether the timeout expired. Unanswered is the reason why there is no
	// answer, Error any other error.
	Late       bool   `json:"late,omitempty"`
	Unanswered string `json:"unanswered,omitempty"`
	Error      string `json:"error,omitempty"`
}

// Recording returns an interviewer that asks inner and writes each answer to w as one line of
// JSON, which Replay reads. A failed write is returned as an error.
func Recording(inner core.Interviewer, w io.Writer) core.Interviewer {
	return &recording{inner: inner, enc: json.NewEncoder(w)}
}

type recording struct {
	inner core.Interviewer
	mu    sync.Mutex
	enc   *json.Encoder
}

func (r *recording) Ask(ctx context.Context, q core.Question) (core.Answer, error) {
	a, err := r.inner.Ask(ctx, q)
	line := record{Node: q.Node, Text: q.Text, Answer: a}
	switch {
	case err == nil:
	case errors.Is(err, core.ErrLate), errors.Is(ctx.Err(), context.DeadlineExceeded):
		line.Late = true
	case ctx.Err() != nil:
		return a, err // the run ends, which is not recorded as an answer
	case errors.Is(err, core.ErrUnanswered):
		line.Unanswered = err.Error()
	default:
		line.Error = err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if lost := r.enc.Encode(line); lost != nil {
		return a, errors.Join(err, fmt.Errorf("the answer cannot be recorded: %w", lost))
	}
	return a, err
}

// Replay returns an interviewer that gives the answers of a Recording, to each node its own in
// recorded order. A question that is not in the recording, or has another text there, is not
// answered. The recording is read from r at the first question.
func Replay(r io.Reader) core.Interviewer { return &replay{in: r} }

type replay struct {
	in    io.Reader
	mu    sync.Mutex
	read  bool
	err   error
	lines map[string][]record // the remaining records, by node
}

func (p *replay) Ask(ctx context.Context, q core.Question) (core.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return core.Answer{}, err
	}
	if !p.read {
		p.read = true
		p.lines, p.err = readRecords(p.in)
	}
	lines := p.lines[q.Node]
	switch {
	case p.err != nil:
		return core.Answer{}, fmt.Errorf("%w: the recording cannot be read: %w", core.ErrUnanswered, p.err)
	case len(lines) == 0:
		return core.Answer{}, fmt.Errorf("%w: the recording has no answer left for %s", core.ErrUnanswered, q.Node)
	case lines[0].Text != q.Text:
		return core.Answer{}, fmt.Errorf("%w: the next answer of the recording is to another question: %q", core.ErrUnanswered, lines[0].Text)
	}
	p.lines[q.Node] = lines[1:]
	switch line := lines[0]; {
	case line.Late:
		return core.Answer{}, core.ErrLate
	case line.Unanswered != "":
		return core.Answer{}, fmt.Errorf("%w, as when it was recorded: %s", core.ErrUnanswered, line.Unanswered)
	case line.Error != "":
		return core.Answer{}, errors.New(line.Error)
	default:
		return line.Answer, nil
	}
}

func readRecords(r io.Reader) (map[string][]record, error) {
	lines := map[string][]record{}
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	for n := 1; ; n++ {
		var line record
		switch err := dec.Decode(&line); {
		case err == io.EOF:
			return lines, nil
		case err != nil:
			return nil, fmt.Errorf("answer %d: %w", n, err)
		}
		lines[line.Node] = append(lines[line.Node], line)
	}
}
