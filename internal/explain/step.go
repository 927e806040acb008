package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Step is an edge or jump that a walk took. From and To are paths of nodes.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Rule is one of the core.Step constants; Reason explains the choice.
	Rule   string        `json:"rule"`
	Reason string        `json:"reason"`
	Label  string        `json:"label,omitempty"`
	When   string        `json:"when,omitempty"`
	Values *value.Object `json:"values,omitempty"`
	// Ended is the status of the stage that the walk came from.
	Ended string `json:"ended,omitempty"`
}

// Visit is one visit of a node of a walk.
type Visit struct {
	Visit    int           `json:"visit"`
	Status   string        `json:"status"` // "running" if its end is not in the log
	Duration time.Duration `json:"duration_ns,omitempty"`
	Attempts int           `json:"attempts"`
	Reason   string        `json:"reason,omitempty"`
	// Branch is the parallel node to which this branch belongs, or "" if it is not a branch.
	// Came is the step that led to the visit, nil at the start of the walk; Went is the step
	// that followed it, or nil if there was none.
	Branch string `json:"branch,omitempty"`
	Came   *Step  `json:"came,omitempty"`
	Went   *Step  `json:"went,omitempty"`
	// Also are the steps of other tokens that followed a visit in a flow, after Went. Log are the entries of
	// the flow's log about the visit.
	Also []*Step `json:"also,omitempty"`
	Log  []Entry `json:"log,omitempty"`
}

// lastFailure returns the last visit that failed, or nil if there is none.
func (a *Account) lastFailure() *Visit {
	for i := len(a.Visits) - 1; i >= 0; i-- {
		if a.Visits[i].Status == core.Fail.String() {
			return &a.Visits[i]
		}
	}
	return nil
}

// visit records the start of an attempt or the end of a visit.
func (s *Run) visit(a *Account, e *core.Event) {
	if e.Visit == 0 {
		return
	}
	v := s.visitAt(a, e)
	if e.Type == core.NodeStarted {
		v.Attempts++
		return
	}
	v.Status, v.Duration, v.Reason = e.Status, e.Duration, e.Reason
}

// visitAt returns the visit of an event, a new one if it is the first event of the visit.
func (s *Run) visitAt(a *Account, e *core.Event) *Visit {
	if v := a.visitOf(e.Visit); v != nil {
		return v
	}
	a.Visits = append(a.Visits, Visit{Visit: e.Visit, Status: "running", Branch: e.Unit})
	v := &a.Visits[len(a.Visits)-1]
	if w := s.arrived[arrival{a.Node, e.Visit}]; w != nil {
		v.Came = w
	} else if last := s.lastStep(frameOf(a.Node)); e.Unit == "" && last != nil && last.To == a.Node {
		v.Came = last
	}
	return v
}

func (a *Account) visitOf(number int) *Visit {
	for i := len(a.Visits) - 1; i >= 0; i-- { // it is mostly the last one
		if a.Visits[i].Visit == number {
			return &a.Visits[i]
		}
	}
	return nil
}

// frameOf returns the path of the run that a node belongs to: "outer/" for "outer/inner".
func frameOf(node string) string { return node[:strings.LastIndexByte(node, '/')+1] }

// lastStep returns the last step of the walk of a run, or nil if there is none.
func (s *Run) lastStep(frame string) *Step {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if frameOf(s.Steps[i].From) == frame {
			return s.Steps[i]
		}
	}
	return nil
}

// addStep records a step of a walk. A jump from the exit is not a visit of the exit.
func (s *Run) addStep(e *core.Event) {
	frame := frameOf(e.Node)
	w := &Step{From: frame + e.From, To: frame + e.To, Rule: e.Step, Reason: e.Reason, Label: e.Label, When: e.When, Values: e.Values, Ended: e.Status}
	s.Steps = append(s.Steps, w)
	if w.Rule == core.StepToken {
		s.token(w)
	}
	if a := s.accounts[e.Node]; a != nil && e.Visit > 0 {
		if v := a.visitOf(e.Visit); v != nil {
			if v.Went != nil && w.Rule == core.StepToken {
				v.Also = append(v.Also, w)
				return
			}
			v.Went = w
		}
	}
}

// noCondition is the prefix of the reason for an edge without a condition.
const noCondition = "the edge has no condition"

// StepText formats the rule by which a walk chose an edge, and the reason: "condition:
// outcome=fail is true".
func StepText(rule, reason string) string {
	switch rule {
	case core.StepUnconditional:
		if rest, ok := strings.CutPrefix(reason, noCondition); ok {
			return rule + rest
		}
	case core.StepModel:
		return "a model chose: " + reason
	case core.StepFallback:
		return "a model found that no condition fits, and this edge has none"
	case core.StepDryRun:
		return "a dry run ends where the first decision is"
	case core.StepToken:
		return "a token moves on" + prefixed(": ", reason)
	case core.StepNone:
		return "a model was asked, and the walk ends: " + reason
	}
	return strings.ReplaceAll(rule, "_", " ") + ": " + reason
}

// Why formats a step without its ends.
func (w *Step) Why() string {
	text := StepText(w.Rule, w.Reason)
	if w.bySteps() {
		text = w.stepText()
	}
	if w.Label != "" {
		text = fmt.Sprintf("%q, ", w.Label) + text
	}
	if w.byModel() || w.bySteps() {
		return text
	}
	return text + prefixed(", with ", Values(w.Values))
}

// byModel reports whether a model chose the step.
func (w *Step) byModel() bool { _, ok := w.Values.Get(choicesKey); return ok }

// Keys of the values of a step that a model chose.
const (
	choicesKey = "choices"
	answerKey  = "answer"
	viewKey    = "view"

	unusableKey = "unusable"
)

// maxAnswer limits the length of an answer in an explanation.
const maxAnswer = 200

// choiceLines lists the choices that a model was offered and its answer; nil for steps without a
// model.
func (w *Step) choiceLines() []string {
	if !w.byModel() {
		return nil
	}
	choices, _ := w.Values.Get(choicesKey)
	list, _ := choices.([]any)
	lines := []string{"offered:"}
	fallback := ""
	for _, c := range list {
		o, _ := c.(*value.Object)
		to, _ := o.Get("to")
		when, _ := o.Get("when")
		if when == "" || when == nil {
			fallback = fmt.Sprintf("  none of the above -> %v", to)
			continue
		}
		lines = append(lines, fmt.Sprintf("  %d %v -> %v", len(lines), when, to))
	}
	if fallback != "" {
		lines = append(lines, fallback)
	}
	if answer, ok := w.Values.Get(answerKey); ok && answer != "" {
		lines = append(lines, fmt.Sprintf("answer: %v", clip(fmt.Sprint(answer), maxAnswer)))
	}
	if unusable, _ := w.Values.Get(unusableKey); unusable == true {
		lines = append(lines, "the answer names no choice, or more than one, and counts as none of the above")
	}
	if view, ok := w.Values.Get(viewKey); ok && view != "" {
		lines = append(lines, fmt.Sprintf("what it was shown has the hash %v", view))
	}
	return lines
}

// visitLines formats the visits; if there are many, the first and the last ones.
func (a *Account) visitLines() []string {
	var lines []string
	for i := range a.Visits {
		if left := len(a.Visits) - maxShown; left > 0 && i == maxShown/2 {
			lines = append(lines, fmt.Sprintf("  … %d more visits", left))
		}
		if i < maxShown/2 || i >= len(a.Visits)-maxShown/2 {
			lines = append(lines, a.Visits[i].lines()...)
		}
	}
	return lines
}

func (v *Visit) lines() []string {
	came := "the walk began here"
	switch {
	case v.Branch != "":
		came = "as a branch of " + v.Branch
	case v.Came != nil:
		came = "from " + v.Came.From + ": " + v.Came.Why()
	}
	end := "it had not ended when the log stops"
	switch v.Status {
	case core.Success.String():
		end = "it succeeded"
	case core.PartialSuccess.String():
		end = "it succeeded in part"
	case core.Fail.String():
		end = "it failed"
	case core.Skipped.String():
		end = "it was skipped"
	}
	if v.Duration > 0 {
		end += " after " + Duration(v.Duration)
	}
	if v.Attempts > 1 {
		end += fmt.Sprintf(", with attempt %d", v.Attempts)
	}
	if v.Attempts == 0 {
		end = "it has not begun"
	}
	lines := []string{fmt.Sprintf("  visit %d: %s", v.Visit, came)}
	for _, e := range v.Log {
		if e.Type != core.LogStepStart { // the first line says so
			lines = append(lines, "    "+e.String())
		}
	}
	lines = append(lines, "    "+end+prefixed(": ", v.Reason))
	if v.Went != nil {
		lines = append(lines, "    then to "+v.Went.To+": "+v.Went.Why())
		for _, line := range append(v.Went.choiceLines(), v.Went.conditionLines()...) {
			lines = append(lines, "      "+line)
		}
	}
	for i, w := range v.Also {
		if i == maxShown {
			return append(lines, fmt.Sprintf("    … and %d more", len(v.Also)-maxShown))
		}
		lines = append(lines, "    and to "+w.To+": "+w.Why())
	}
	return lines
}
