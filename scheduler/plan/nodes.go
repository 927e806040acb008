package plan

import (
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
		if first, taken := c.p.nodeIndex[id]; taken {
			pointTo(c.ds.Errorf(core.CodeDuplicateID, d.ID.Pos, "node %q is defined twice", id), "first", c.w.Nodes[first].ID.Pos)
			continue
		}
		c.p.nodeIndex[id] = int32(i)
	}
	c.unitRoots()
	for i, d := range c.w.Nodes {
		c.node(int32(i), d)
	}
}

// unitRoots notes which nodes are given a row or a round.
func (c *compiler) unitRoots() {
	c.memberRoots = map[string]expressions.Root{}
	for _, p := range c.w.Pipelines {
		for _, s := range p.Stages {
			c.memberRoots[s.Value] |= itemRoots
		}
	}
	for _, l := range c.w.Loops {
		for _, b := range l.Body {
			c.memberRoots[b.Value] |= roundRoots
		}
	}
}

func (c *compiler) node(i int32, d *core.Node) {
	n := &c.p.Nodes[i]
	n.ID, n.Index, n.Member, n.Decl = d.ID.Value, i, -1, d
	n.Kind, n.Phase = d.Kind.Value, d.Phase.Value
	n.Concurrency, n.MaxFailures, n.Retry.Attempts, n.StreamTo = 1, -1, 1, -1
	at := nodePlace(n.ID)
	var use uses
	c.fieldSeen.reset(len(c.p.Schema.Fields))
	use.fields, n.View = c.fieldNames(d.Reads, at.at("reads"))
	c.fieldSeen.reset(len(c.p.Schema.Fields))
	n.WriteFields, n.Writes = c.fieldNames(d.Writes, at.at("writes"))
	if d.Timeout != nil {
		n.Timeout = d.Timeout.Value
		if n.Timeout <= 0 {
			c.ds.Errorf(core.CodeBadValue, d.Timeout.Pos, "%s: timeout: want more than 0, got %s", at, n.Timeout)
		}
	}
	c.onError(n, d.OnError, at)
	c.join(d, at)
	c.forEach(n, d, at, &use)
	c.nodeRoots = graphRoots | c.memberRoots[n.ID]
	if d.ForEach != nil {
		c.nodeRoots |= itemRoots
	}
	n.Args = c.compileArgs(d.Args, at.at("args"), &use)
	c.kind(n, d, at, &use)
	c.nodeUse[i].reads = c.distinct(use.fields, &c.fieldSeen, len(c.p.Schema.Fields))
	c.nodeUse[i].nodes = c.distinct(use.nodes, &c.nodeSeen, len(c.w.Nodes))
}

// fieldNames looks names of fields up; one that stands twice counts once.
func (c *compiler) fieldNames(list []core.Text, at place) (indexes []int32, names []string) {
	if len(list) == 0 {
		return nil, nil
	}
	names = make([]string, 0, len(list))
	var few [8]int32
	found := few[:0]
	for _, name := range list {
		f, ok := c.fieldIndex(name, at)
		if !ok {
			continue
		}
		if !c.fieldSeen.first(f) {
			c.ds.Warnf(core.CodeDuplicate, name.Pos, "%s: %q stands twice", at, name.Value)
			continue
		}
		found, names = append(found, f), append(names, name.Value)
	}
	return c.ints.keep(found), names
}

// distinct returns the numbers of a list, each once, in order of first use.
func (c *compiler) distinct(list []int32, seen *marks, size int) []int32 {
	if len(list) == 0 {
		return nil
	}
	seen.reset(size)
	var few [16]int32
	out := few[:0]
	for _, i := range list {
		if seen.first(i) {
			out = append(out, i)
		}
	}
	return c.ints.keep(out)
}

func (c *compiler) join(d *core.Node, at place) {
	switch d.Join.Value {
	case "", "all", "all_done":
	default:
		c.ds.Errorf(core.CodeBadValue, d.Join.Pos, "%s: join: unknown word %q", at, d.Join.Value).
			WithHint("%s", near(d.Join.Value, []string{"all", "all_done"}))
	}
}

func (c *compiler) forEach(n *Node, d *core.Node, at place, use *uses) {
	fe := d.ForEach
	if fe == nil {
		return
	}
	n.Source = c.compileSource(fe.Source, c.scope(graphRoots), at.at("for_each.source"), use)
	if n.Source == nil {
		n.Source = &Source{Text: fe.Source} // the error is reported; later checks need the shape
	} else {
		c.wantArray(n.Source, at.at("for_each.source"))
	}
	if fe.Concurrency != nil {
		n.Concurrency = c.atLeastOne(fe.Concurrency, at.at("for_each.concurrency"))
	}
	if fe.MaxFailures != nil {
		n.MaxFailures = fe.MaxFailures.Value
		if n.MaxFailures < 0 {
			c.ds.Errorf(core.CodeBadValue, fe.MaxFailures.Pos, "%s: for_each.max_failures: want at least 0, got %d", at, n.MaxFailures)
		}
	}
}

// wantArray rejects a source that can never be an array.
func (c *compiler) wantArray(s *Source, at place) {
	if t := s.Type(); t != core.AnyType && t != core.ArrayType {
		c.ds.Errorf(core.CodeExprType, s.Text.Pos, "%s: %s is of type %s, want array", at, s.Text.Value, t)
	}
}

func (c *compiler) onError(n *Node, e *core.OnError, at place) {
	if e == nil {
		return
	}
	if e.Policy.Value != "retry" {
		n.Policy = c.policy(e.Policy, at.at("on_error.policy"), true)
		return
	}
	switch {
	case e.Attempts == nil:
		c.ds.Errorf(core.CodeMissingKey, e.Policy.Pos, "%s: on_error: policy retry needs attempts", at).WithHint("attempts: 3")
	case e.Attempts.Value < 1 || e.Attempts.Value > 20:
		c.ds.Errorf(core.CodeBadValue, e.Attempts.Pos, "%s: on_error.attempts: want 1 to 20, got %d", at, e.Attempts.Value)
	default:
		n.Retry.Attempts = e.Attempts.Value
	}
	switch e.Backoff.Value {
	case "", "linear":
	case "exponential":
		n.Retry.Exponential = true
	default:
		c.ds.Errorf(core.CodeBadValue, e.Backoff.Pos, "%s: on_error.backoff: unknown word %q", at, e.Backoff.Value).
			WithHint("%s", near(e.Backoff.Value, []string{"linear", "exponential"}))
	}
	n.Retry.Base = defaultBase
	if e.Base != nil {
		n.Retry.Base = c.notNegative(e.Base, at.at("on_error.base_ms"))
	}
	if e.Max != nil {
		n.Retry.Max = c.notNegative(e.Max, at.at("on_error.max_ms"))
	}
	n.Retry.Jitter = e.Jitter
	if e.Then.Value != "" {
		n.Policy = c.policy(e.Then, at.at("on_error.then"), false)
	}
}

func (c *compiler) notNegative(d *core.Located[time.Duration], at place) time.Duration {
	if d.Value < 0 {
		c.ds.Errorf(core.CodeBadValue, d.Pos, "%s: want at least 0, got %s", at, d.Value)
		return 0
	}
	return d.Value
}

// policy reads a policy word; retry tells whether that word may stand there too.
func (c *compiler) policy(word core.Text, at place, retry bool) Policy {
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
	c.ds.Errorf(core.CodeBadValue, word.Pos, "%s: unknown word %q", at, word.Value).WithHint("%s", near(word.Value, words))
	return PolicyDefault
}

// kind asks the node's kind for its handler.
func (c *compiler) kind(n *Node, d *core.Node, at place, use *uses) {
	if d.Effects != nil {
		n.Effects = *d.Effects
	}
	if d.Handler != nil {
		n.Handler = d.Handler
		return
	}
	k, ok := c.reg.Kind(n.Kind)
	if !ok {
		if n.Kind == "" {
			c.ds.Errorf(core.CodeMissingKey, d.Pos, "%s: kind is missing", at)
			return
		}
		c.hint(c.ds.Errorf(core.CodeUnknownKind, d.Kind.Pos, "%s: unknown kind %q", at, n.Kind), n.Kind, c.reg.KindNames)
		return
	}
	if w, ok := k.(core.StateWriter); ok && w.WritesState() && c.w.Document && !d.HasWrites {
		c.ds.Warnf(core.CodeNoWrites, d.ID.Pos, "%s: does not say which fields it writes", at).
			WithHint("add writes: [...], or writes: [] if there are none")
	}
	env := c.env
	env.Items, env.Rounds = c.nodeRoots&itemRoots != 0, c.nodeRoots&roundRoots != 0
	made, ds := k.Compile(d, env)
	c.ds = append(c.ds, ds...)
	if n.failed = ds.Failed(false); n.failed {
		return
	}
	n.Handler, n.Wait, n.Lacks = made.Handler, made.Wait, made.Lacks
	n.Effects = n.Effects || made.Effects && d.Effects == nil
	n.Stdout, n.Stdin = made.Stdout, made.Stdin
	n.stream, n.takesStreams = made.Stream, core.Strings(made.Streams)
	if made.Handler == nil && made.Wait == nil && made.Lacks == "" && made.Frame == nil {
		c.ds.Errorf(core.CodeUnknownKind, d.Kind.Pos, "%s: kind %q made no handler for it", at, n.Kind)
	}
	c.waitTimeout(n, at)
	c.kindUse(n, made, at, use)
	c.secrets(made.Secrets)
	if made.Frame != nil {
		c.frame(n, made.Frame, at)
	}
}

// waitTimeout reports a wait that cannot end in time.
func (c *compiler) waitTimeout(n *Node, at place) {
	if n.Wait != nil && n.Timeout > 0 && n.Timeout < n.Wait.Duration {
		c.ds.Warnf(core.CodeBadValue, n.Decl.Timeout.Pos, "%s: timeout: the wait of %s is longer than %s, so it always fails", at, n.Wait.Duration, n.Timeout)
	}
}

// secrets notes references to secrets. A nested workflow that several nodes run
// brings the same ones each time.
func (c *compiler) secrets(list []core.Secret) {
	for _, s := range list {
		if c.secretAt == nil {
			c.secretAt = map[core.Text]bool{}
		}
		if !c.secretAt[s.Name] {
			c.secretAt[s.Name] = true
			c.p.Secrets = append(c.p.Secrets, s)
		}
	}
}

// kindUse notes what the kind itself depends on.
func (c *compiler) kindUse(n *Node, made core.Compiled, at place, use *uses) {
	if len(made.Reads)+len(made.Nodes) > 0 {
		if c.kindRefs == nil {
			c.kindRefs = map[int32]kindRefs{}
		}
		c.kindRefs[n.Index] = kindRefs{made.Reads, made.Nodes}
	}
	var extra []int32
	for _, r := range made.Reads {
		if f, ok := c.fieldIndex(r, at); ok {
			n.Extra = append(n.Extra, r.Value)
			extra = append(extra, f)
			use.fields = append(use.fields, f)
		}
	}
	c.nodeUse[n.Index].extra = extra
	for _, r := range made.Nodes {
		if i, ok := c.nodeRef(r, at); ok {
			use.nodes = append(use.nodes, i)
		}
	}
}

// kindRefs are the texts by which a kind refers to fields and nodes.
type kindRefs struct{ fields, nodes []core.Text }
