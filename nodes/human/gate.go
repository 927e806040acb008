package human

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Keys of the context that an answered gate sets.
const (
	// ContextSelected is the key of the choice, "freeform" for the freeform edge.
	ContextSelected = "human.gate.selected"
	// ContextLabel is the label of the choice as written.
	ContextLabel = "human.gate.label"
	// ContextText is the text that was typed, or "" if there is none.
	ContextText = "human.gate.text"

	keyFreeform = "freeform"
)

// maxQuestions limits the number of times that one attempt asks after answers without a match.
const maxQuestions = 10

// gate is the handler of one node.
type gate struct {
	text     string              // the question if there is no template
	template *templates.Template // nil if there is none
	shows    []shown
	files    fs.FS // the workflow's folder, or nil if there is none
	dir      string
	options  []option
	fallback *option // the default choice, or nil if there is none
	timeout  time.Duration
	walk     bool     // the choices are edges of a walk
	failOn   []string // the choices that make a gate of a dag fail
	// transitions are the keys of the transitions of a node in a walk by steps.
	transitions []string
	into        string // the field that gets the decision in a dag, or "" if there is none
}

// Handle asks until an answer picks a choice.
func (g *gate) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	started := time.Now()
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	ask := in.Shared().Ask
	switch {
	case ask == nil:
		return core.Result{}, unanswered(fmt.Errorf("%w: the run has no person to ask", core.ErrUnanswered))
	case len(g.options) == 0:
		return core.Result{}, unanswered(fmt.Errorf("%w: no edge that leaves the node is a choice", core.ErrUnanswered))
	}
	q := g.question()
	q.Text, q.Show = g.render(in)
	q.Run, q.Node, q.Visit, q.Attempt = in.Run(), in.Execution(), in.Visit(), in.Attempt()
	for range maxQuestions {
		a, err := ask(ctx, q)
		late := g.timeout > 0 && ctx.Err() != nil && time.Since(started) >= g.timeout
		if err != nil || late {
			return g.unansweredResult(err, late)
		}
		if w := g.take(&q, a); w != nil {
			return g.result(w, a)
		}
	}
	return core.Result{}, unanswered(fmt.Errorf("%w: asked %d times, and at last %s", core.ErrUnanswered, maxQuestions, q.Again))
}

func (g *gate) question() core.Question {
	q := core.Question{Timeout: g.timeout}
	for _, w := range g.options {
		if w.freeform {
			q.Freeform = true
		} else {
			q.Choices = append(q.Choices, w.choice)
		}
	}
	if g.fallback != nil {
		q.Default = cmp.Or(g.fallback.choice.Target, g.fallback.choice.Label)
	}
	return q
}

// unansweredResult returns the result of a gate without an answer.
func (g *gate) unansweredResult(err error, late bool) (core.Result, error) {
	switch {
	case late || errors.Is(err, core.ErrLate):
		note := core.ErrLate.Error()
		if g.timeout > 0 {
			note = "no answer within " + explain.Duration(g.timeout)
		}
		if g.fallback != nil {
			r, err := g.result(g.fallback, core.Answer{Note: note})
			r.Note = note + ": the default choice"
			return r, err
		}
		return core.Result{Status: core.Retry, Note: note}, nil
	case errors.Is(err, core.ErrUnanswered):
		return core.Result{}, unanswered(err)
	}
	return core.Result{}, err
}

// unanswered marks an error as permanent, so that the node is not retried.
func unanswered(err error) error {
	return core.Categorized(core.Permanent(err), core.Deterministic)
}

// take returns the choice that an answer picks. If there is none, it returns nil and sets the
// reason why the question is asked again.
func (g *gate) take(q *core.Question, a core.Answer) *option {
	found := q.Match(a)
	if len(found) == 1 {
		for i := range g.options {
			if w := &g.options[i]; w.choice == found[0] && !w.freeform {
				return w
			}
		}
	}
	text := strings.TrimSpace(a.Text)
	switch {
	case len(found) > 1:
		var labels []string
		for _, c := range found {
			labels = append(labels, fmt.Sprintf("%q", c.Label))
		}
		q.Again = fmt.Sprintf("%q may mean %s", text, strings.Join(labels, " or "))
	case a.Choice != (core.Choice{}):
		q.Again = fmt.Sprintf("the choice %q was not offered", a.Choice.Label)
	case text == "":
		q.Again = "the answer was empty"
	case q.Freeform:
		for i := range g.options {
			if g.options[i].freeform {
				return &g.options[i]
			}
		}
	default:
		q.Again = fmt.Sprintf("%q is none of the choices", text)
	}
	return nil
}

// result returns the result for a choice.
func (g *gate) result(w *option, a core.Answer) (core.Result, error) {
	if g.walk {
		return routed(w, a.Text), nil
	}
	return g.decided(w, a)
}

// routed returns the result for a choice in a walk. It also suggests the target of the edge,
// because edges may have no label or equal labels.
func routed(w *option, text string) core.Result {
	return core.Result{Routing: &core.Routing{
		PreferredLabel: w.prefer,
		SuggestedNext:  []string{w.choice.Target},
		Text:           strings.TrimSpace(w.choice.Label + "\n" + text),
		Context:        map[string]any{ContextSelected: w.choice.Key, ContextLabel: w.choice.Label, ContextText: text},
	}}
}
