package story

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Step is an edge that a walk took, or a jump. From and To are paths, as of nodes.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Rule is one of the core.Step constants, Reason says why.
	Rule   string       `json:"rule"`
	Reason string       `json:"reason"`
	Label  string       `json:"label,omitempty"`
	When   string       `json:"when,omitempty"`
	Values *core.Object `json:"values,omitempty"`
	// Ended is how the stage ended that the walk came from.
	Ended string `json:"ended,omitempty"`
}

// Visit is one visit of a node of a walk.
type Visit struct {
	Visit    int           `json:"visit"`
	Status   string        `json:"status"` // "running" if its end is not in the log
	Duration time.Duration `json:"duration_ns,omitempty"`
	Attempts int           `json:"attempts"`
	Reason   string        `json:"reason,omitempty"`
	// Branch is the parallel node that it is a branch of. Came says how the walk came
	// there otherwise, nil at its start, and Went how it went on, nil if it did not.
	Branch string `json:"branch,omitempty"`
	Came   *Step  `json:"came,omitempty"`
	Went   *Step  `json:"went,omitempty"`
}

// visit takes in the beginning of an attempt or the end of a visit.
func (s *Story) visit(a *Account, e *core.Event) {
	if e.Visit == 0 {
		return
	}
	v := a.visitOf(e.Visit)
	if v == nil {
		a.Visits = append(a.Visits, Visit{Visit: e.Visit, Status: "running", Branch: e.Unit})
		v = &a.Visits[len(a.Visits)-1]
		if last := s.lastWay(frameOf(a.Node)); e.Unit == "" && last != nil && last.To == a.Node {
			v.Came = last
		}
	}
	if e.Type == core.NodeStarted {
		v.Attempts++
		return
	}
	v.Status, v.Duration, v.Reason = e.Status, e.Duration, e.Reason
}

func (a *Account) visitOf(number int) *Visit {
	for i := range a.Visits {
		if a.Visits[i].Visit == number {
			return &a.Visits[i]
		}
	}
	return nil
}

// frameOf is the path of the run that a node belongs to: "outer/" of "outer/inner".
func frameOf(node string) string { return node[:strings.LastIndexByte(node, '/')+1] }

// lastWay is the last step of the walk of a run, nil for none.
func (s *Story) lastWay(frame string) *Step {
	for i := len(s.Ways) - 1; i >= 0; i-- {
		if frameOf(s.Ways[i].From) == frame {
			return s.Ways[i]
		}
	}
	return nil
}

// chosen takes in the way that a walk goes on. A jump from the exit is no visit of it.
func (s *Story) chosen(e *core.Event) {
	frame := frameOf(e.Node)
	w := &Step{From: frame + e.From, To: frame + e.To, Rule: e.Step, Reason: e.Reason, Label: e.Label, When: e.When, Values: e.Values, Ended: e.Status}
	s.Ways = append(s.Ways, w)
	if a := s.accounts[e.Node]; a != nil && e.Visit > 0 {
		if v := a.visitOf(e.Visit); v != nil {
			v.Went = w
		}
	}
}

// Way says by which rule a walk went on, and why: "condition: outcome=fail is true".
func Way(rule, reason string) string {
	if rule == core.StepUnconditional {
		return rule + strings.TrimPrefix(reason, "the edge has no condition")
	}
	return strings.ReplaceAll(rule, "_", " ") + ": " + reason
}

// Why words a step without its ends.
func (w *Step) Why() string {
	text := Way(w.Rule, w.Reason)
	if w.Label != "" {
		text = fmt.Sprintf("%q, ", w.Label) + text
	}
	return text + prefixed(", with ", Values(w.Values))
}

// visits tells about each visit; of many the first and the last ones.
func (a *Account) visits() []string {
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
	lines := []string{fmt.Sprintf("  visit %d: %s", v.Visit, came), "    " + end + prefixed(": ", v.Reason)}
	if v.Went != nil {
		lines = append(lines, "    then to "+v.Went.To+": "+v.Went.Why())
	}
	return lines
}
