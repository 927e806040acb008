package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// maxFrames limits the depth of nested workflows.
const maxFrames = 32

// MaxNested is the largest count of nested runs. It also represents all larger numbers.
const MaxNested = 1_000_000_000_000_000_000

// NestedText formats a number of nested runs.
func NestedText(n int64) string {
	if n >= MaxNested {
		return "10^18 or more"
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// frameKey identifies a compilation of a nested workflow. If the workflow has no inputs section,
// its findings depend on the fields that its node fills.
type frameKey struct {
	w     *core.Workflow
	given string
	again bool // see compiler.again
}

// frame is a workflow, nested or not, that has been compiled or is being compiled.
type frame struct {
	plan    *Plan
	invalid *invalid // what is unknown because of errors
	tables  *tables  // what it reads of its inputs
	w       *core.Workflow
	height  int // levels of nested frames below it
}

// frame compiles a nested workflow and connects its inputs and outputs. A workflow that is nested
// in several places is compiled once; otherwise a chain of n files, each of which includes the next
// one twice, would take 2^n compilations.
func (c *compiler) frame(n *Node, f *core.Frame, at place, use *References) {
	made := c.inner(n, f.Workflow, at)
	if made == nil {
		return
	}
	inner := made.plan
	n.Frame, n.Stdout, n.Stdin = &Frame{Plan: inner, Send: f.Send}, inner.Stdout, inner.Stdin
	c.p.RunsUserCode = c.p.RunsUserCode || inner.RunsUserCode
	c.p.Nested = min(MaxNested, c.p.Nested+1+inner.Nested)
	c.nestedTargets(n, inner)
	n.replaces, n.upserts = inner.replaces, inner.upserts
	c.secrets(inner.Secrets)
	for _, d := range inner.Refused { // several nodes may run the workflow
		if !slices.Contains(c.p.Refused, d) {
			c.p.Refused = append(c.p.Refused, d)
		}
	}
	for i, field := range n.WriteFields {
		name, pos := n.Writes[i], writePos(n, n.Writes[i])
		innerName := name
		if f.Outputs != nil {
			mapped, ok := f.Outputs[name]
			if !ok {
				continue
			}
			innerName = mapped
		}
		j, ok := inner.Schema.Index(innerName)
		member := ""
		if !ok && inner.open {
			j, ok, member = int(inner.context), true, innerName
		}
		if !ok && made.invalid.open&expressions.RootState != 0 {
			continue
		}
		if !ok && f.Optional {
			d := c.ds.Warnf(source.CodeUnused, pos, "%s: workflow %q has no field %q, so the node does not write it", at, inner.Name, innerName)
			c.hint(d, innerName, inner.Schema.FieldNames)
			continue
		}
		if !ok {
			d := c.ds.Errorf(source.CodeUnknownField, pos, "%s: workflow %q has no field %q to fill %q from", at, inner.Name, innerName, name)
			c.hint(d, innerName, inner.Schema.FieldNames)
			continue
		}
		if !c.p.open && member == "" {
			c.frameOutput(n, inner, j, field, pos, at)
		}
		n.Frame.Outputs = append(n.Frame.Outputs, Output{Outer: field, Name: name, Inner: int32(j), Member: member})
	}
	inherited := c.frameGoal(n, inner, at, use)
	c.frameInputs(n, made, inherited, at)
}

// frameGoal passes the goal of a walk to a nested workflow that needs a goal and has none. It
// reports whether it did.
func (c *compiler) frameGoal(n *Node, inner *Plan, at place, use *References) bool {
	_, known := c.p.Schema.Index(core.InputGoal)
	wants := slices.ContainsFunc(inner.Workflow.Inputs, func(d core.InputDecl) bool {
		return d.Name.Value == core.InputGoal && value.IsMissing(d.Default)
	})
	if !known || !wants || !c.p.Mode.Goal || slices.Contains(argNames(n.Decl.Args), core.InputGoal) {
		return false
	}
	if in, ok := inner.input(core.InputGoal); ok && (!value.IsMissing(in.field.Default) || disjoint(in.kind(), value.StringType)) {
		return false
	}
	if n.Args == nil {
		n.Args = &Args{}
	}
	goal := source.Tree("$."+core.InputGoal, n.Decl.Pos)
	a := &n.Args.root
	a.keys, a.members = append(a.keys, core.InputGoal), append(a.members, c.textArgument(goal, at.at("args").sub(core.InputGoal), use))
	return true
}

func writePos(n *Node, name string) source.Position {
	pos, _ := findText(n.Decl.Writes, name)
	return pos
}

// inner returns a nested workflow, nil if the workflow cannot be nested. A workflow with errors
// still has a plan that is good enough to check its inputs and outputs.
func (c *compiler) inner(n *Node, w *core.Workflow, at place) *frame {
	s := c.common
	if slices.ContainsFunc(s.nested, func(f *frame) bool { return f.w == w }) {
		c.ds.Errorf(source.CodeCycle, n.Decl.Pos, "%s: workflow %q is nested in itself", at, w.Name.Value)
		return nil
	}
	given := argNames(n.Decl.Args)
	key := frameKey{w: w, again: c.runsAgain(n)}
	if !declaresInputs(w) {
		key.given = strings.Join(given, "\x00")
	}
	f, known := s.frames[key]
	if !known && len(s.nested) < maxFrames {
		f = c.compileFrame(key, given)
	}
	if f == nil || len(s.nested)+f.height >= maxFrames {
		c.ds.Errorf(source.CodeLimit, n.Decl.Pos, "%s: workflows nest deeper than %d", at, maxFrames)
		return nil
	}
	outer := s.nested[len(s.nested)-1]
	outer.height = max(outer.height, f.height+1)
	return f
}

// compileFrame compiles a nested workflow. Findings that were reported when the same workflow was
// compiled for a node with other arguments are not reported again.
func (c *compiler) compileFrame(key frameKey, given []string) *frame {
	s := c.common
	inner := newCompiler(key.w, c.reg, c.opts, s)
	f := &frame{w: key.w, plan: inner.p, invalid: &inner.invalid, tables: &inner.tables}
	inner.again = key.again
	inner.given = make(map[string]bool, len(given))
	for _, name := range given {
		inner.given[name] = true
	}
	s.nested = append(s.nested, f)
	inner.compile()
	s.nested = s.nested[:len(s.nested)-1]
	s.frames[key] = f
	c.nestedDs = append(c.nestedDs, inner.nestedDs...)
	attribute(inner.ds, key.w)
	for _, d := range inner.ds {
		if !s.seen[d] {
			s.seen[d] = true
			c.nestedDs = append(c.nestedDs, d)
		}
	}
	return f
}

// argNames lists the names in a node's args, sorted.
func argNames(args *source.Value) []string {
	if args == nil {
		return nil
	}
	names := source.Strings(args.Keys)
	slices.Sort(names)
	return names
}

// frameOutput compares the type of a field with the type of the inner field that fills it.
func (c *compiler) frameOutput(n *Node, inner *Plan, from int, to int32, pos source.Position, at place) {
	a, b := &inner.Schema.Fields[from], &c.p.Schema.Fields[to]
	want := kindOf(c.writeType(n, b.Name))
	if a.IsStream() {
		c.ds.Errorf(source.CodeStream, pos, "%s: field %q of workflow %q is a stream, which stays within its workflow", at, a.Name, inner.Name)
		return
	}
	if disjoint(kindOf(a.Type), want) {
		d := c.ds.Errorf(source.CodeWrongType, pos, "%s: writes: field %q is of type %s, but %q of workflow %q is of type %s",
			at, b.Name, want, a.Name, inner.Name, kindOf(a.Type))
		c.collectHint(d, n, to)
	}
}

// frameInputs compares the args with the inputs of the nested workflow. goal reports whether the
// workflow is also given a goal.
func (c *compiler) frameInputs(n *Node, f *frame, goal bool, at place) {
	args, inner := n.Decl.Args, f.plan
	given := map[string]bool{core.InputGoal: goal}
	if args != nil {
		for i, k := range args.Keys {
			given[k.Value] = true
			if inner.Workflow.OpenInputs {
				continue
			}
			in, ok := inner.input(k.Value)
			if !ok && f.invalid.open&(expressions.RootState|expressions.RootInput) != 0 {
				continue
			}
			if !ok {
				names, _ := inner.InputNames()
				d := c.ds.Errorf(source.CodeInput, k.Pos, "%s: args: workflow %q has no input %q", at, inner.Name, k.Value)
				c.hint(d, k.Value, func() []string { return names })
				continue
			}
			c.frameInput(n, i, f, in, at)
		}
	}
	_, required := inner.InputNames()
	for _, name := range required {
		if !given[name] {
			c.ds.Errorf(source.CodeInput, n.Decl.Pos, "%s: workflow %q needs the input %q", at, inner.Name, name).
				WithHint("add it to args")
		}
	}
}

// frameInput compares an argument with the type of its input.
func (c *compiler) frameInput(n *Node, i int, f *frame, in input, at place) {
	if n.Args == nil {
		return
	}
	inner := f.plan
	v, arg := n.Decl.Args.Values[i], &n.Args.root.members[i]
	if s := arg.source; s != nil {
		c.frameReads(s, f, in)
		if t := s.Type(); disjoint(t, in.kind()) {
			c.ds.Errorf(source.CodeInput, v.Pos, "%s: args.%s: %s is of type %s, the input of workflow %q of type %s",
				at, in.name, s.Text.Value, t, inner.Name, in.kind())
		}
		return
	}
	if arg.constant() {
		literal, err := arg.resolve(nil, nil)
		if err == nil {
			_, err = in.accept(literal)
		}
		if err != nil {
			c.ds.Errorf(source.CodeInput, v.Pos, "%s: args.%s: input of workflow %q: %v", at, in.name, inner.Name, err)
		}
	}
}

// constant reports whether an argument contains no path.
func (a *argument) constant() bool {
	if a.source != nil {
		return false
	}
	for i := range a.members {
		if !a.members[i].constant() {
			return false
		}
	}
	return true
}
