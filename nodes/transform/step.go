package transform

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// step is a compiled step.
type step struct {
	// names lists the input columns that the step names, and reads the input columns
	// that its expressions read. At least one row must have each of them.
	names, reads []string
	// make creates the stage that executes the step in one attempt.
	make func(ctx context.Context, w work) (stage, error)
}

// named is a step with its name in messages.
type named struct {
	name string
	step
}

// builder compiles a node.
type builder struct {
	config
	node       *core.Node
	scope      *table.Scope
	policies   []*rowcheck.Policy
	tableNodes []source.Text // nodes whose outputs list the columns of a table
	rejects    []string      // the rejects setting of each policy
	steps      []named
	wanted     int // rows that the step after the one being compiled needs, -1 for all
}

// compileSteps compiles all steps and returns the columns that are known after the last
// one.
func (b *builder) compileSteps(c source.Columns) source.Columns {
	own := b.simple.present()
	if len(own) > 0 && b.Steps != nil {
		b.scope.Errorf(source.CodeBadValue, b.node.Config.Get(own[0]).Pos, own[0], "one step is a key of the node, the others are under steps").
			WithHint("move it into steps")
		return c
	}
	b.wanted = -1
	if b.Steps == nil {
		return b.compile(&stepConfig{simple: b.simple, Pos: b.node.Pos}, "", c)
	}
	if len(b.Steps) == 0 {
		b.scope.Errorf(source.CodeMissingKey, b.node.Config.Get("steps").Pos, "steps", "there are none")
	}
	b.misplaced()
	for i := range b.Steps {
		b.wanted = -1
		if i+1 < len(b.Steps) && b.Steps[i+1].Limit != nil {
			b.wanted = b.Steps[i+1].Limit.Value
		}
		c = b.compile(&b.Steps[i], "steps["+strconv.Itoa(i)+"]: ", c)
	}
	return c
}

// withChecks lists the keys that are only allowed next to checks.
var withChecks = []string{"on_bad_row", "rejects", "max_failures", "report", "allow_empty"}

// misplaced reports keys that belong to checks and are on the node although its checks
// are in steps.
func (b *builder) misplaced() {
	hint := "no step has checks"
	if i := slices.IndexFunc(b.Steps, func(s stepConfig) bool { return s.Checks != nil }); i >= 0 {
		hint = fmt.Sprintf("move it into steps[%d], which has the checks", i)
	}
	for _, key := range withChecks {
		if v := b.node.Config.Get(key); v != nil {
			b.scope.Errorf(source.CodeBadValue, v.Pos, key, "it has no effect on a node with steps; it belongs to the step with checks").WithHint("%s", hint)
		}
	}
}

// present lists the kinds of steps that are set.
func (s *simple) present() []string {
	var out []string
	for _, k := range []struct {
		key string
		is  bool
	}{
		{"filter", s.Filter != nil}, {"map", s.Map != nil}, {"derive", s.Derive != nil}, {"select", s.Select != nil},
		{"drop", s.Drop != nil}, {"rename", s.Rename != nil}, {"group", s.Group != nil}, {"window", s.Window != nil}, {"sort", s.Sort != nil},
		{"limit", s.Limit != nil}, {"dedupe", s.Dedupe != nil}, {"checks", s.Checks != nil},
	} {
		if k.is {
			out = append(out, k.key)
		}
	}
	return out
}

// kinds lists the kinds of steps.
var kinds = []string{"filter", "map", "derive", "select", "drop", "rename", "group", "window", "join", "sort", "limit", "dedupe", "checks"}

// compile compiles one step. prefix is the place of the step in messages.
func (b *builder) compile(s *stepConfig, prefix string, c source.Columns) source.Columns {
	if s.Lost != nil {
		return source.Columns{}
	}
	present := s.present()
	if s.Join != nil {
		present = append(present, "join")
	}
	switch place := strings.TrimSuffix(prefix, ": "); {
	case len(present) == 0:
		b.problem(s.Pos, place, "there is no step", "a step is one of "+strings.Join(kinds, ", "))
		return source.Columns{}
	case len(present) > 1:
		b.problem(s.Pos, place, fmt.Sprintf("%s and %s are two steps", present[0], present[1]), "write them under steps, in the order they are to be done")
		return source.Columns{}
	}
	if rejects := s.OnBadRow.Value != "" || s.Rejects.Value != "" || s.MaxFailures != nil || s.Report.Value != "" || s.AllowEmpty; rejects && s.Checks == nil {
		b.problem(s.Pos, prefix+present[0], strings.Join(withChecks[:4], ", ")+" and "+withChecks[4]+" belong to checks", "")
		return c
	}
	key := prefix + present[0]
	made, after := b.make(s, present[0], key, c)
	b.steps = append(b.steps, named{key, made})
	return after
}

func (b *builder) problem(pos source.Position, key, message, hint string) {
	if key == "" {
		b.scope.Found.Errorf(source.CodeBadValue, pos, "%s: %s", b.node.Subject(), message).WithHint("%s", hint)
		return
	}
	b.scope.Errorf(source.CodeBadValue, pos, key, "%s", message).WithHint("%s", hint)
}

func (b *builder) make(s *stepConfig, kind, key string, c source.Columns) (step, source.Columns) {
	switch kind {
	case "filter":
		return b.filter(*s.Filter, key, c), c.Selected()
	case "map":
		return b.mapping(s.Map, key, c)
	case "derive":
		return b.derive(s.Derive, key, c)
	case "select":
		return b.selection(s.Select, key, c)
	case "drop":
		return b.drop(s.Drop, key, c)
	case "rename":
		return b.rename(s.Rename, key, c)
	case "group":
		return b.group(s.Group, key, c)
	case "window":
		return b.window(s.Window, key, c)
	case "join":
		return b.join(s.Join, key, c)
	case "sort":
		return b.sort(s.Sort, key, c, b.wanted), c
	case "dedupe":
		return b.dedupe(s.Dedupe, key, c), c
	case "checks":
		return b.checks(s, strings.TrimSuffix(key, "checks"), c), c
	default:
		return b.limit(s.Limit.Value), c
	}
}
