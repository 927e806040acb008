package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// maxShown limits the failed items and attempts in an explanation.
const maxShown = 10

// Explain explains in lines for people how a node ended and why, down to the node that
// caused it.
func (s *Run) Explain(a *Account) []string {
	lines := []string{a.headline()}
	lines = append(lines, a.detailLines()...)
	lines = append(lines, s.changeLines(a)...)
	if a.Cause == "" || a.Cause == a.Node {
		return lines
	}
	if root, ok := s.accounts[a.Cause]; ok {
		lines = append(lines, "it began with "+root.Node+":")
		for _, l := range s.Explain(root) {
			lines = append(lines, "  "+l)
		}
	}
	return lines
}

// Brief returns the reason in one line, with the values of the condition that decided it,
// or "" if there is none.
func (s *Run) Brief(a *Account) string {
	text := a.reason()
	if v := a.lastFailure(); v != nil && a.Status == core.Success.String() {
		text = fmt.Sprintf("failed in visit %d of %d: %s", v.Visit, len(a.Visits), v.Reason)
	}
	if a.Edge >= 0 {
		if v := Values(a.Conditions[a.Edge].Values); v != "" {
			text += ", with " + v
		}
	}
	if root, ok := s.accounts[a.Cause]; ok && root != a && root.Error != nil && !strings.Contains(text, root.Error.Message) {
		text += ": " + root.Error.Message
	}
	if len(a.Handled) > 0 {
		text += "; " + strings.Join(a.Handled, ", ")
	}
	return text
}

// reason formats the reason why the node or unit ended as it did.
func (a *Account) reason() string {
	switch {
	case a.Error != nil && (a.IsUnit || a.Reason == ""):
		return a.Error.Message
	case a.Waits != "":
		return a.Waits
	case !a.IsUnit:
		return a.Reason
	}
	switch a.Reason {
	case "rows":
		return fmt.Sprintf("all of its rows were done: %d", a.Items)
	case "until":
		return fmt.Sprintf("its condition became true after round %d", a.Items-1)
	case "max_iters":
		return fmt.Sprintf("it reached its cap of %d rounds", a.Items)
	}
	return a.Reason
}

// Values formats the values with which a condition was evaluated: "$.n = 3, $.x is
// missing".
func Values(o *value.Object) string {
	var parts []string
	for path, v := range o.All() {
		if v == nil { // a missing value is null in JSON
			parts = append(parts, path+" has no value")
			continue
		}
		parts = append(parts, path+" = "+clip(value.JSON(v), 60))
	}
	return strings.Join(parts, ", ")
}

// Usage formats the usage of model calls: "3 calls, 1,200 tokens in and 80 out, $0.0123".
func Usage(u core.Usage) string {
	calls := "1 call"
	if u.Calls != 1 {
		calls = grouped(u.Calls) + " calls"
	}
	text := fmt.Sprintf("%s, %s tokens in and %s out", calls, grouped(u.Input), grouped(u.Output))
	if u.Estimated > 0 {
		text += " (estimated"
		if u.Estimated < u.Calls {
			text += " for " + grouped(u.Estimated)
		}
		text += ")"
	}
	if u.Cost > 0 {
		text += ", " + Cost(u.Cost)
	}
	return text
}

// Cost formats a cost in US dollars: "$1.23", "$0.00012".
func Cost(c float64) string {
	switch {
	case c <= 0:
		return ""
	case c >= 0.1:
		return fmt.Sprintf("$%.2f", c)
	}
	return fmt.Sprintf("$%.2g", c)
}

// grouped formats a number in groups of three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func clip(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

func (a *Account) headline() string {
	what := a.Node
	if a.IsUnit {
		what += " (a pipeline or loop)"
	}
	took := ""
	if a.Duration > 0 {
		took = " after " + Duration(a.Duration)
	}
	if n := len(a.Visits); n > 1 {
		took += fmt.Sprintf(", in the last of its %d visits", n)
	}
	switch a.Status {
	case core.Skipped.String():
		return what + " was skipped"
	case core.Fail.String():
		return what + " failed" + took
	case core.Success.String():
		return what + " succeeded" + took
	case core.PartialSuccess.String():
		return what + " succeeded in part" + took
	}
	if a.Waits != "" {
		return what + " waits for a person"
	}
	return what + " had not ended when the log stops"
}

func (a *Account) detailLines() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, "  "+fmt.Sprintf(format, args...)) }
	lines = append(lines, a.visitLines()...)
	if a.Waits != "" {
		add("%s", a.Waits)
	}
	if r := a.reason(); r != "" && a.Waits == "" && len(a.Visits) == 0 {
		add("%s", r)
	}
	if a.Error != nil && a.Error.Class != core.ClassError {
		add("the failure is of class %s", a.Error.Class)
	}
	for _, h := range a.Handled {
		add("it does not fail the run: %s", h)
	}
	if a.Joined != "" {
		add("its join %s", a.Joined)
	}
	if len(a.EarlierWriters) > 0 {
		add("the field was written before by %s", strings.Join(a.EarlierWriters, ", "))
	}
	for i, c := range a.Conditions {
		verdict := "true"
		if !c.Result {
			verdict = "false"
		}
		if i == a.Edge { // part of the reason
			add("with %s", orNothing(Values(c.Values)))
			continue
		}
		add("the condition on %s -> %s was %s: %s%s", c.From, c.To, verdict, c.When, prefixed(", with ", Values(c.Values)))
	}
	lines = append(lines, a.retryLines()...)
	if a.Usage != (core.Usage{}) {
		add("its calls to models: %s", Usage(a.Usage))
	}
	if a.Tools > 0 {
		add("they called tools %d times; %d of the calls failed", a.Tools, a.ToolErrors)
	}
	if len(a.Wrote) > 0 {
		add("it wrote %s", strings.Join(a.Wrote, ", "))
	}
	if a.Error != nil && a.Error.Stack != "" {
		lines = append(lines, stack(a.Error.Stack)...)
	}
	return lines
}

func orNothing(s string) string {
	if s == "" {
		return "no values"
	}
	return s
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// retryLines lists failed attempts and failed items.
func (a *Account) retryLines() []string {
	var lines []string
	for i, r := range a.Retries {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("  … and %d more retries", len(a.Retries)-i))
			break
		}
		what := "failed: " + r.Error
		if r.Error == "" {
			what = "asked for another"
			if _, note, ok := strings.Cut(r.Reason, ": "); ok {
				what += ": " + note
			}
		}
		lines = append(lines, fmt.Sprintf("  attempt %d%s %s; the next came %s later", r.Attempt, itemText(r.Item), what, r.Delay))
	}
	if len(a.Retries) > 0 {
		lines = append(lines, fmt.Sprintf("  %d attempts in all", a.Attempts))
	}
	for i, f := range a.Failed {
		if n, ok := f.Item.Get(); ok && len(a.Failed) == 1 && a.Error != nil && a.Error.Message == fmt.Sprintf("item %d: %s", n, f.Error) {
			break // part of the reason
		}
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("  … and %d more failed", len(a.Failed)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("  failed%s: %s", itemText(f), f.Error))
	}
	return lines
}

func itemText(i Item) string {
	if n, ok := i.Item.Get(); ok {
		return fmt.Sprintf(" for item %d", n)
	}
	if n, ok := i.Round.Get(); ok {
		return fmt.Sprintf(" in round %d", n)
	}
	return ""
}

// stack formats the top frames of a panic's stack.
func stack(text string) []string {
	lines := []string{"  the stack of the panic:"}
	for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 12 {
			return append(lines, "    …")
		}
		lines = append(lines, "    "+strings.ReplaceAll(l, "\t", "  "))
	}
	return lines
}
