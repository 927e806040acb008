// Package rowcheck checks the rows of tables. A Collector evaluates checks on rows and handles
// bad rows by a Policy: the first bad row fails the node, or bad rows are dropped, or they are
// collected in a file or field with the reason. A report lists what passed and failed.
package rowcheck

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Options are the keys that define which rows are bad and what happens to them.
// Kinds embed them in their configuration.
type Options struct {
	Checks      []Check     `wavefold:"checks" doc:"conditions every row must hold: a list of {name, expr, severity}"`
	OnBadRow    source.Text `wavefold:"on_bad_row,oneof=fail|skip|collect" doc:"what a bad row does: fail the node (default), be left out, or be collected in rejects"`
	Rejects     source.Text `wavefold:"rejects" doc:"where bad rows are collected: a file, or a field among the writes"`
	MaxFailures *Tolerance  `wavefold:"max_failures" doc:"how many bad rows are tolerated before the node fails: a number, or a share such as 5%"`
	Report      source.Text `wavefold:"report" doc:"a .json file for the quality report: what passed and failed, with examples"`
}

// Check is one check.
type Check struct {
	Name     source.Text     `wavefold:"name,required,fixed" doc:"how rejects and messages call the check"`
	Expr     source.Text     `wavefold:"expr,required" doc:"the condition, over the row as $item"`
	Severity source.Text     `wavefold:"severity,oneof=error|warn|warning" doc:"error (default): the row is bad; warn: the row stays and is counted"`
	Pos      source.Position `wavefold:",pos"`
}

// Rejects reports whether a row for which the condition is false is bad.
func (c Check) Rejects() bool { return c.Severity.Value == "" || c.Severity.Value == "error" }

// FileName is the name of the file for rejects or for the report. It is an alias, because
// filename.OutputName, which returns such a name, is in a package above this one.
type FileName = interface {
	// Fixed reports whether the name is fixed in the document.
	Fixed() bool
	// Text returns the name for one attempt.
	Text(in core.Shared) (string, error)
}

// A Namer compiles the name of a file that is replaced. It returns nil after an error.
type Namer func(s *table.Scope, src source.Text, key string) FileName

// Policy is the compiled form of Options. It is immutable.
type Policy struct {
	checks []check
	fail   bool
	max    *Tolerance // nil if any number of bad rows is tolerated
	field  string
	file   FileName // nil if rejects are not collected in a file
	format table.Format
	report FileName // nil if there is no report
}

type check struct {
	name    string
	warning bool
	test    *expressions.Program
}

// Compile checks the options of a node. at is the position for errors about missing
// keys; key is the path of the options in messages, "" for the node itself; name compiles
// the names of files.
func (o Options) Compile(s *table.Scope, n *core.Node, columns source.Columns, at source.Position, key string, name Namer) *Policy {
	p := &Policy{fail: o.OnBadRow.Value == "fail" || o.OnBadRow.Value == "" && o.Rejects.Value == ""}
	if o.MaxFailures != nil {
		p.max = o.MaxFailures
		if p.fail {
			if o.OnBadRow.Value == "" {
				p.fail = false // a limit on bad rows implies that some are tolerated
			} else {
				s.Warnf(source.CodeIgnored, o.MaxFailures.Pos, join(key, "max_failures"), "has no effect with on_bad_row: fail")
			}
		}
	}
	switch collects := o.OnBadRow.Value == "collect" || o.OnBadRow.Value == ""; {
	case o.OnBadRow.Value == "collect" && o.Rejects.Value == "":
		s.Errorf(source.CodeBadValue, at, join(key, "on_bad_row"), `collect needs the key "rejects"`).WithHint("rejects: rejects.csv")
	case o.Rejects.Value != "" && !collects:
		s.Warnf(source.CodeIgnored, o.Rejects.Pos, join(key, "rejects"), "nothing is collected with on_bad_row: %s", o.OnBadRow.Value)
	case o.Rejects.Value != "":
		p.target(s, n, o.Rejects, join(key, "rejects"), name)
	}
	if o.Report.Value != "" {
		p.report = name(s, o.Report, join(key, "report"))
		if table.FormatOf(o.Report.Value) != table.JSON {
			s.Errorf(source.CodeBadValue, o.Report.Pos, join(key, "report"), "%q does not end in .json", o.Report.Value)
		}
	}
	seen := map[string]bool{}
	for _, c := range o.Checks {
		if seen[c.Name.Value] {
			s.Errorf(source.CodeDuplicateID, c.Name.Pos, join(key, "checks"), "the check %q appears twice", c.Name.Value)
		}
		seen[c.Name.Value] = true
		if test := s.Condition(c.Expr, columns, join(key, "check "+c.Name.Value)); test != nil {
			p.checks = append(p.checks, check{c.Name.Value, !c.Rejects(), test})
		}
	}
	return p
}

// target determines whether rejects names a field or a file. A field is one of the
// node's writes; a file name contains a slash or a dot, or is a template or expression.
func (p *Policy) target(s *table.Scope, n *core.Node, rejects source.Text, key string, name Namer) {
	for _, w := range n.Writes {
		if w.Value == rejects.Value {
			p.field = w.Value
			return
		}
	}
	if !strings.ContainsAny(rejects.Value, "./{$") {
		s.Errorf(source.CodeUnknownField, rejects.Pos, key, "%q is neither a field among the node's writes nor a file name", rejects.Value).
			WithHint("add it: writes: [%s], or write %s.csv", rejects.Value, rejects.Value)
		return
	}
	p.file = name(s, rejects, key)
	p.format = table.FormatOf(rejects.Value)
	if p.format == "" || p.format == table.Text {
		s.Errorf(source.CodeBadValue, rejects.Pos, key, "%q does not end in the name of a format", rejects.Value).
			WithHint("use .csv, .tsv, .jsonl or .json")
	}
}

// Needs lists the columns that the checks read.
func (p *Policy) Needs() []string {
	programs := make([]*expressions.Program, len(p.checks))
	for i, c := range p.checks {
		programs[i] = c.test
	}
	return table.Needs(programs...)
}

// Field returns the state field that receives the rejects, or "" if there is none.
func (p *Policy) Field() string { return p.field }

// Collects reports whether bad rows are collected in a field or file.
func (p *Policy) Collects() bool { return p.field != "" || p.file != nil }

// HasFile reports whether the rejects or the report are written to a file.
func (p *Policy) HasFile() bool { return p.file != nil || p.report != nil }

// Replaces returns the value of Compiled.Replaces for the files of some policies.
func Replaces(ps ...*Policy) core.Replaces {
	made := core.ReplacesNothing
	for _, p := range ps {
		for _, name := range []FileName{p.file, p.report} {
			switch {
			case name == nil:
			case name.Fixed():
				made = max(made, core.ReplacesFixed)
			default:
				made = max(made, core.ReplacesRendered)
			}
		}
	}
	return made
}

// GivesUp returns the number of tolerated bad rows, or -1 if it is not known before the
// end. One more bad row ends the work.
func (p *Policy) GivesUp() int64 {
	switch {
	case p.fail:
		return 0
	case p.max == nil, p.max.share():
		return -1
	}
	return p.max.count
}

// HasChecks reports whether there are checks to evaluate.
func (p *Policy) HasChecks() bool { return len(p.checks) > 0 }

func join(key, more string) string {
	if key == "" {
		return more
	}
	return key + ": " + more
}
