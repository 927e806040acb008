package source

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a finding prevents a workflow from running.
type Severity uint8

// Severities. A workflow with an Error cannot run. A Warning is a likely mistake and
// prevents runs only in strict mode. A Hint is advice.
const (
	Error Severity = iota
	Warning
	Hint
)

// String returns "error", "warning" or "hint".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "hint"
	}
}

// MarshalText writes the severity as a word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Code is the stable name of a type of finding, for tests and editors. All codes are listed
// in codes.go.
type Code string

// Diagnostic is one finding about a workflow: what is wrong, where, and how to fix it. It
// implements error, so that a single finding can be returned as one.
type Diagnostic struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Pos      Position `json:"pos"`
	// Message begins with its subject, in lower case, and has no full stop at its end.
	Message string `json:"message"`
	// Hint says what to write instead; it may be empty.
	Hint string `json:"hint,omitempty"`
	// Node is the id of the node that the finding is about, or "" if there is none. Edge
	// identifies the edge that it is about. Compiling a workflow sets both.
	Node string  `json:"node,omitempty"`
	Edge EdgeRef `json:"edge,omitzero"`
	// Input names an input. The finding applies only to runs that do not set it.
	Input string `json:"input,omitempty"`
}

// EdgeRef identifies the edge of a finding.
type EdgeRef struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Error formats the finding as "position: severity: message (hint) [CODE]".
func (d Diagnostic) Error() string {
	var b strings.Builder
	if p := d.Pos.String(); p != "" {
		b.WriteString(p)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Message)
	if d.Hint != "" {
		fmt.Fprintf(&b, " (%s)", d.Hint)
	}
	if d.Code != "" {
		fmt.Fprintf(&b, " [%s]", d.Code)
	}
	return b.String()
}

// Diagnostics is a list of findings in the order in which they were added. Sorted returns
// them in the order of the file.
type Diagnostics []Diagnostic

// Errorf adds an error.
func (ds *Diagnostics) Errorf(code Code, pos Position, format string, args ...any) *Diagnostic {
	return ds.add(Error, code, pos, format, args)
}

// Warnf adds a warning.
func (ds *Diagnostics) Warnf(code Code, pos Position, format string, args ...any) *Diagnostic {
	return ds.add(Warning, code, pos, format, args)
}

// Hintf adds a hint.
func (ds *Diagnostics) Hintf(code Code, pos Position, format string, args ...any) *Diagnostic {
	return ds.add(Hint, code, pos, format, args)
}

func (ds *Diagnostics) add(s Severity, code Code, pos Position, format string, args []any) *Diagnostic {
	msg := format
	if len(args) > 0 {
		msg = fmt.Sprintf(format, args...)
	}
	*ds = append(*ds, Diagnostic{Code: code, Severity: s, Pos: pos.WithoutSegments(), Message: msg})
	return &(*ds)[len(*ds)-1]
}

// WithHint sets the hint of a finding that was just added. If there are no args, the
// format is used verbatim.
func (d *Diagnostic) WithHint(format string, args ...any) *Diagnostic {
	if d != nil && format != "" {
		d.Hint = format
		if len(args) > 0 {
			d.Hint = fmt.Sprintf(format, args...)
		}
	}
	return d
}

// Recode replaces the codes of findings; codes that are not in the map stay.
func (ds Diagnostics) Recode(codes map[Code]Code) {
	for i := range ds {
		if code, ok := codes[ds[i].Code]; ok {
			ds[i].Code = code
		}
	}
}

// Failed reports whether the list contains an error or, if strict, a warning.
func (ds Diagnostics) Failed(strict bool) bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool {
		return d.Severity == Error || strict && d.Severity == Warning
	})
}

// Has reports whether the list contains a finding with the code.
func (ds Diagnostics) Has(code Code) bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Code == code })
}

// Sorted returns the findings in the order of file, line, column, severity and code,
// without duplicates.
func (ds Diagnostics) Sorted() Diagnostics {
	out := slices.Clone(ds)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Code, b.Code))
	})
	return slices.Compact(out)
}

// MaxFindings limits the number of findings that are shown for a workflow.
const MaxFindings = 200

// Capped returns the findings to show: Sorted, limited to MaxFindings. If there are more,
// the least severe ones are left out, and a last finding says so.
func (ds Diagnostics) Capped() Diagnostics {
	ds = ds.Sorted()
	if len(ds) <= MaxFindings {
		return ds
	}
	room, out := MaxFindings, Diagnostics{}
	var keep [Hint + 1]int
	for _, d := range ds {
		keep[d.Severity]++
	}
	for s := range keep {
		keep[s] = min(keep[s], room)
		room -= keep[s]
	}
	left := Hint
	for _, d := range ds {
		if keep[d.Severity] > 0 {
			keep[d.Severity]--
			out = append(out, d)
		} else {
			left = min(left, d.Severity)
		}
	}
	what := "findings are"
	if len(ds) == len(out)+1 {
		what = "finding is"
	}
	out.add(left, CodeLimit, out[len(out)-1].Pos, "%d more %s not shown", []any{len(ds) - len(out), what})
	return out
}

// Error returns all findings, one per line, so that Diagnostics can be returned as an
// error. Use Err to get a nil error for a list without errors.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns the sorted list as an error if Failed(strict), otherwise nil.
func (ds Diagnostics) Err(strict bool) error {
	if !ds.Failed(strict) {
		return nil
	}
	return ds.Sorted()
}

// AsDiagnostics returns the findings that err wraps, if there are any.
func AsDiagnostics(err error) (Diagnostics, bool) {
	if ds, ok := errors.AsType[Diagnostics](err); ok {
		return ds, true
	}
	if d, ok := errors.AsType[Diagnostic](err); ok {
		return Diagnostics{d}, true
	}
	return nil, false
}
