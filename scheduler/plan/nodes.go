package plan

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// defaultBase is the wait before a second attempt when none is given.
const defaultBase = 100 * time.Millisecond

// nodes compiles every node on its own: names, kind, reads and writes, args,
// fan-out, retry.
func (c *compiler) nodes() {
	if len(c.w.Nodes) == 0 {
		c.ds.Errorf(core.CodeMissingKey, c.w.Pos, "the graph has no nodes")
	}
	c.p.Nodes = make([]Node, len(c.w.Nodes))
	c.nodeUse = make([]nodeUse, len(c.w.Nodes))
	for i, d := range c.w.Nodes {
		id := d.ID.Value
		if !isID(id) {
			c.badID("node", d.ID)
		}
		if _, taken := c.p.nodeIndex[id]; taken {
			c.ds.Errorf(core.CodeDuplicateID, d.ID.Pos, "node %q is defined twice", id).
				WithHint("first at %s", c.w.Nodes[c.p.nodeIndex[id]].ID.Pos)
			continue
		}
		c.p.nodeIndex[id] = i
	}
	for i, d := range c.w.Nodes {
		c.node(int32(i), d)
	}
}

func (c *compiler) node(i int32, d *core.Node) {
	n := &c.p.Nodes[i]
	*n = Node{Index: i, ID: d.ID.Value, Kind: d.Kind.Value, Phase: d.Phase.Value, Member: -1, Decl: d,
		Concurrency: 1, MaxFailures: -1, Retry: Retry{Attempts: 1}}
	subject := "node " + n.ID
	use := &c.nodeUse[i]
	for _, r := range d.Reads {
		if f, ok := c.fieldIndex(r, subject+": reads"); ok {
			use.view = append(use.view, int32(f))
			n.View = append(n.View, r.Value)
		}
	}
	for _, w := range d.Writes {
		if f, ok := c.fieldIndex(w, subject+": writes"); ok {
			n.Writes = append(n.Writes, w.Value)
			n.WriteFields = append(n.WriteFields, int32(f))
		}
	}
	if d.Timeout != nil {
		n.Timeout = d.Timeout.Value
		if n.Timeout <= 0 {
			c.ds.Errorf(core.CodeBadValue, d.Timeout.Pos, "%s: timeout: want more than 0, got %s", subject, n.Timeout)
		}
	}
	c.onError(n, d.OnError, subject)
	c.forEach(n, d, subject)
	scope := c.scope(expressions.RootState | expressions.RootItem | expressions.RootIndex | expressions.RootNodes |
		expressions.RootInput | expressions.RootIter | expressions.RootLoop)
	n.Args = c.compileArgs(d.Args, scope, subject+": args", &use.args)
	c.kind(n, d, subject)
}

func (c *compiler) forEach(n *Node, d *core.Node, subject string) {
	fe := d.ForEach
	if fe == nil {
		return
	}
	scope := c.scope(expressions.RootState | expressions.RootNodes | expressions.RootInput)
	n.Source = c.compileSource(fe.Source, scope, subject+": for_each.source", &c.nodeUse[n.Index].args)
	if n.Source == nil {
		n.Source = &Source{Text: fe.Source} // the error is reported; later checks need the shape
	} else if t := n.Source.Type(); t != core.AnyType && t != core.ArrayType {
		c.ds.Errorf(core.CodeExprType, fe.Source.Pos, "%s: for_each.source is of type %s, want array", subject, t)
	}
	if fe.Concurrency != nil {
		n.Concurrency = c.atLeastOne(*fe.Concurrency, subject+": for_each.concurrency")
	}
	if fe.MaxFailures != nil {
		n.MaxFailures = fe.MaxFailures.Value
		if n.MaxFailures < 0 {
			c.ds.Errorf(core.CodeBadValue, fe.MaxFailures.Pos, "%s: for_each.max_failures: want at least 0, got %d", subject, n.MaxFailures)
		}
	}
}

func (c *compiler) onError(n *Node, e *core.OnError, subject string) {
	if e == nil {
		return
	}
	if e.Policy.Value != "retry" {
		n.Policy = c.policy(e.Policy, subject+": on_error.policy", true)
		return
	}
	switch {
	case e.Attempts == nil:
		c.ds.Errorf(core.CodeMissingKey, e.Policy.Pos, "%s: on_error: policy retry needs attempts", subject).WithHint("attempts: 3")
	case e.Attempts.Value < 1 || e.Attempts.Value > 20:
		c.ds.Errorf(core.CodeBadValue, e.Attempts.Pos, "%s: on_error.attempts: want 1 to 20, got %d", subject, e.Attempts.Value)
	default:
		n.Retry.Attempts = e.Attempts.Value
	}
	switch e.Backoff.Value {
	case "", "linear":
	case "exponential":
		n.Retry.Exponential = true
	default:
		c.ds.Errorf(core.CodeBadValue, e.Backoff.Pos, "%s: on_error.backoff: unknown word %q", subject, e.Backoff.Value).
			WithHint("%s", near(e.Backoff.Value, []string{"linear", "exponential"}))
	}
	n.Retry.Base = defaultBase
	if e.Base != nil {
		n.Retry.Base = max(0, e.Base.Value)
	}
	if e.Max != nil {
		n.Retry.Max = max(0, e.Max.Value)
	}
	n.Retry.Jitter = e.Jitter
	if e.Then.Value != "" {
		n.Policy = c.policy(e.Then, subject+": on_error.then", false)
	}
}

// policy reads a policy word other than retry.
func (c *compiler) policy(word core.Text, subject string, retry bool) Policy {
	switch word.Value {
	case "skip":
		return PolicySkip
	case "fail_run":
		return PolicyFailRun
	}
	words := []string{"skip", "fail_run"}
	if retry {
		words = append(words, "retry")
	}
	c.ds.Errorf(core.CodeBadValue, word.Pos, "%s: unknown word %q", subject, word.Value).WithHint("%s", near(word.Value, words))
	return PolicyDefault
}

// kind asks the node's kind for its handler.
func (c *compiler) kind(n *Node, d *core.Node, subject string) {
	if d.Handler != nil {
		n.Handler = d.Handler
		return
	}
	k, ok := c.reg.Kind(n.Kind)
	if !ok {
		if n.Kind == "" {
			c.ds.Errorf(core.CodeMissingKey, d.Pos, "%s: kind is missing", subject)
			return
		}
		c.ds.Errorf(core.CodeUnknownKind, d.Kind.Pos, "%s: unknown kind %q", subject, n.Kind).
			WithHint("%s", near(n.Kind, c.reg.KindNames()))
		return
	}
	made, ds := k.Compile(d, c.env)
	c.ds = append(c.ds, ds...)
	if ds.Failed(false) {
		return
	}
	n.Handler, n.Wait, n.Lacks = made.Handler, made.Wait, made.Lacks
	use := &c.nodeUse[n.Index]
	for _, r := range made.Reads {
		if f, ok := c.fieldIndex(r, subject); ok {
			n.Extra = append(n.Extra, r.Value)
			use.extra = append(use.extra, int32(f))
		}
	}
	for _, r := range made.Nodes {
		if i, ok := c.nodeRef(r, subject); ok {
			use.nodes = append(use.nodes, i)
		}
	}
	if made.Frame != nil {
		c.frame(n, made.Frame, subject)
	}
}

func (c *compiler) nodeRef(id core.Text, subject string) (int32, bool) {
	i, ok := c.p.nodeIndex[id.Value]
	if !ok {
		c.unknownNode(id, subject)
	}
	return int32(i), ok
}

func (c *compiler) unknownNode(id core.Text, subject string) {
	c.ds.Errorf(core.CodeUnknownNode, id.Pos, "%s: unknown node %q", subject, id.Value).WithHint("%s", near(id.Value, c.nodeIDs()))
}

// frame compiles a nested workflow and connects its outputs.
func (c *compiler) frame(n *Node, f *core.Frame, subject string) {
	if c.depth+1 >= maxFrames {
		c.ds.Errorf(core.CodeLimit, n.Decl.Pos, "%s: workflows nest deeper than %d", subject, maxFrames)
		return
	}
	inner, ds := compile(f.Workflow, c.reg, c.opts, c.depth+1)
	c.ds = append(c.ds, ds...)
	if inner == nil {
		return
	}
	n.Frame = &Frame{Plan: inner}
	for i, field := range n.WriteFields {
		name := n.Writes[i]
		innerName := name
		if f.Outputs != nil {
			mapped, ok := f.Outputs[name]
			if !ok {
				continue
			}
			innerName = mapped
		}
		j, ok := inner.Schema.Index(innerName)
		if !ok {
			c.ds.Errorf(core.CodeUnknownField, n.Decl.Pos, "%s: workflow %q has no field %q to fill %q from", subject, inner.Name, innerName, name).
				WithHint("%s", near(innerName, inner.Schema.FieldNames()))
			continue
		}
		n.Frame.Outputs = append(n.Frame.Outputs, Output{Outer: field, Name: name, Inner: int32(j)})
	}
	c.frameInputs(n, inner, subject)
}

// frameInputs checks the names of the args against the inputs of the nested
// workflow.
func (c *compiler) frameInputs(n *Node, inner *Plan, subject string) {
	names, required := inner.InputNames()
	given := map[string]bool{}
	if args := n.Decl.Args; args != nil {
		for _, k := range args.Keys {
			given[k.Value] = true
			if !contains(names, k.Value) {
				c.ds.Errorf(core.CodeInput, k.Pos, "%s: workflow %q has no input %q", subject, inner.Name, k.Value).
					WithHint("%s", near(k.Value, names))
			}
		}
	}
	for _, name := range required {
		if !given[name] {
			c.ds.Errorf(core.CodeInput, n.Decl.Pos, "%s: workflow %q needs the input %q", subject, inner.Name, name).
				WithHint("add it to args")
		}
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// InputNames lists the inputs a run accepts and those it requires.
func (p *Plan) InputNames() (all, required []string) {
	if !p.Workflow.HasInputs && len(p.Workflow.Inputs) == 0 {
		return p.Schema.FieldNames(), nil
	}
	for _, in := range p.Workflow.Inputs {
		all = append(all, in.Name.Value)
		if in.Required && core.IsMissing(in.Default) {
			required = append(required, in.Name.Value)
		}
	}
	return all, required
}

// Start checks the inputs of a run and returns the starting value of every
// field and the object behind $input.
func (p *Plan) Start(inputs *core.Object) (start []any, given *core.Object, err error) {
	start = make([]any, len(p.Schema.Fields))
	for i := range start {
		start[i] = p.Schema.Fields[i].Default
	}
	var ds core.Diagnostics
	given = core.NewObject(inputs.Len())
	names, required := p.InputNames()
	for _, in := range p.Workflow.Inputs {
		if !core.IsMissing(in.Default) {
			given.Set(in.Name.Value, in.Default)
		}
	}
	for k, v := range inputs.All() {
		if !contains(names, k) {
			ds.Errorf(core.CodeInput, p.Workflow.Pos, "unknown input %q", k).WithHint("%s", near(k, names))
			continue
		}
		given.Set(k, v)
	}
	for _, name := range required {
		if _, ok := inputs.Get(name); !ok {
			ds.Errorf(core.CodeInput, p.Workflow.Pos, "input %q is missing", name).WithHint("%s", fmt.Sprintf("--input %s=...", name))
		}
	}
	for k, v := range given.All() {
		i, _ := p.Schema.Index(k)
		v, err := p.Schema.Fields[i].Start(v)
		if err != nil {
			ds.Errorf(core.CodeInput, p.Workflow.Pos, "input %q: %v", k, err)
			continue
		}
		start[i] = v
		given.Set(k, v)
	}
	return start, given, ds.Err(false)
}
