package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/explain"
)

// lineOf formats an event for people, on one line.
func lineOf(e *core.Event) string { return lineWith(e, detail(e)) }

func lineWith(e *core.Event, detail string) string {
	subject := e.Node
	switch {
	case e.Type == core.EdgeJudged:
		subject = e.From + " -> " + e.To
	case e.Type == core.EdgeChosen:
		subject += " -> " + e.To
	case subject == "":
		subject = e.Unit
	}
	subject += itemText(e.Item, e.Round)
	text := fmt.Sprintf("%-13s", e.Type)
	for _, part := range []string{subject, detail} {
		if part != "" {
			text += "  " + part
		}
	}
	return text
}

// itemText names the part of a node that an event is about: an item or row, or a round.
func itemText(item, round core.Ordinal) string {
	if i, ok := item.Get(); ok {
		return fmt.Sprintf("[%d]", i)
	}
	if i, ok := round.Get(); ok {
		return fmt.Sprintf(" round %d", i)
	}
	return ""
}

// logLine formats a log record for display above the live tree.
func logLine(e *core.Event) string {
	subject := e.Node + itemText(e.Item, 0)
	return subject + ": " + strings.TrimPrefix(detail(e), "INFO ")
}

// sourcesOf names the files that a document includes.
func sourcesOf(e *core.Event) string {
	var files []string
	list, _ := e.Values.Get("sources")
	sources, _ := list.([]any)
	for _, s := range sources {
		o, _ := s.(*value.Object)
		if name, ok := o.Get("name"); ok {
			if file := fmt.Sprint(name); !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if len(files) == 0 {
		return "all in the document"
	}
	return strings.Join(files, ", ")
}

// detail formats the part of an event that follows its type and node.
func detail(e *core.Event) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch e.Type {
	case core.RunStarted:
		return strings.TrimSpace(e.Reason + "  " + value.JSON(e.Inputs))
	case core.RunFinished:
		return e.Status
	case core.RunResumed:
		return resumedText(e)
	case core.SourcesResolved:
		return sourcesOf(e)
	case core.EdgeJudged:
		add("%s is %t", e.When, e.Result != nil && *e.Result)
		if v := explain.Values(e.Values); v != "" {
			add("%s", v)
		}
		return strings.Join(parts, ": ")
	case core.EdgeChosen:
		return routeReason(e)
	case core.GraphChanged, core.GraphRejected:
		return explain.ChangeOf(e).String()
	case core.StateWritten:
		for path, v := range e.Values.All() {
			return fmt.Sprintf("%s is %s, %s", path, value.JSON(v), e.Reason)
		}
		return e.Field
	case core.NodeAnswered:
		return answerOf(e)
	case core.ModelAsked, core.ModelAnswered, core.ToolCalled:
		return callOf(e)
	case core.FlowLogged:
		return explain.EntryOf(e).String()
	case core.LogLine:
		add("%s %s", e.Severity, e.Log)
		for k, v := range e.Values.All() {
			add("%s=%s", k, value.JSON(v))
		}
		return strings.Join(parts, " ")
	}
	if n, ok := e.Total.Get(); ok && e.Type == core.NodeStarted {
		add("%d items", n)
	}
	if e.Visit > 0 && e.Type == core.NodeStarted {
		if e.Unit != "" {
			add("branch of %s", e.Unit)
		}
		if e.Visit > 1 {
			add("visit %d", e.Visit)
		}
	}
	if e.Attempt > 1 {
		add("attempt %d", e.Attempt)
	}
	if e.Duration > 0 {
		add("%s", explain.Duration(e.Duration))
	}
	if e.Delay > 0 {
		add("next in %s", e.Delay)
	}
	if e.Status == core.PartialSuccess.String() {
		add("%s", e.Status)
	}
	switch {
	case e.Error != nil:
		add("%s", e.Error.Message)
	case e.Reason != "":
		add("%s", e.Reason)
	}
	return strings.Join(parts, "  ")
}

// resumedText names the workflow of a run that continues, and the nodes whose results were dropped.
func resumedText(e *core.Event) string {
	dropped, _ := e.Values.Get("rerun")
	list, _ := dropped.([]any)
	if len(list) == 0 {
		return e.Reason
	}
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = fmt.Sprint(n)
	}
	return e.Reason + "  dropped: " + strings.Join(names, ", ")
}

// routeReason describes why a walk took an edge.
func routeReason(e *core.Event) string {
	text := explain.StepText(e.Step, e.Reason)
	if e.Label != "" {
		text = fmt.Sprintf("%q  ", e.Label) + text
	}
	if _, byModel := e.Values.Get("choices"); byModel {
		return text // why is more specific
	}
	if v := explain.Values(e.Values); v != "" {
		text += ", with " + v
	}
	return text
}

// callOf describes a call of a model, or of a tool that a model requested.
func callOf(e *core.Event) string {
	parts := []string{e.Purpose, e.Model, e.Tool}
	if e.Turn > 1 {
		parts = append(parts, fmt.Sprintf("turn %d", e.Turn))
	}
	if e.Duration > 0 {
		parts = append(parts, explain.Duration(e.Duration))
	}
	if e.Usage != nil {
		parts = append(parts, explain.Usage(*e.Usage))
	}
	if e.Reason != "" {
		parts = append(parts, "failed: "+e.Reason)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "  ")
}

// answerOf describes the answer at a human gate, or why there was none.
func answerOf(e *core.Event) string {
	switch {
	case e.Label != "" && e.To != "":
		return e.Label + " -> " + e.To
	case e.Label != "":
		return e.Label
	}
	if text, ok := e.Values.Get("text"); ok {
		return fmt.Sprintf("%q", text)
	}
	return e.Reason
}
