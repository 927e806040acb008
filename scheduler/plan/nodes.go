package plan

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// nodes compiles each node: its names, kind, reads and writes, args, fan-out and retries.
func (c *compiler) nodes() {
	if len(c.w.Nodes) == 0 && c.invalid.open&expressions.RootNodes == 0 {
		c.ds.Errorf(source.CodeMissingKey, c.w.Pos, "the graph has no nodes")
	}
	c.p.Nodes = make([]Node, len(c.w.Nodes))
	c.nodeUse = make([]nodeUse, len(c.w.Nodes))
	for i, d := range c.w.Nodes {
		c.nodeID(int32(i), d)
	}
	c.unitRoots()
	for i, d := range c.w.Nodes {
		c.node(int32(i), d)
	}
}

// nodeID records the id of a node. If an id cannot be read, a reference to it cannot be told from a
// reference to a node that does not exist. If two nodes have the same id, it is not known which of
// them a reference means.
func (c *compiler) nodeID(i int32, d *core.Node) {
	id := d.ID.Value
	if d.Lost.Has("id") {
		c.invalid.open |= expressions.RootNodes
		return
	}
	if !c.isNodeID(id) {
		c.badID("node", d.ID)
		c.invalid.misspelt(expressions.RootNodes, id)
	}
	first, taken := c.p.nodeIndex[id]
	if !taken {
		c.p.nodeIndex[id] = i
		return
	}
	message.PointTo(c.ds.Errorf(c.code(source.CodeDuplicateID), d.ID.Pos, "node %q is defined twice", id), "first", c.w.Nodes[first].ID.Pos)
	c.invalid.mark(expressions.RootNodes, id)
}

// unitRoots records which nodes have a row or a round.
func (c *compiler) unitRoots() {
	c.memberRoots, c.memberItems = map[string]expressions.Root{}, map[string]itemRows{}
	note := func(members []source.Text, lost bool, roots expressions.Root) {
		if lost {
			c.invalid.members |= roots
		}
		for _, m := range members {
			c.memberRoots[m.Value] |= roots
			if _, ok := c.p.nodeIndex[m.Value]; !ok {
				c.invalid.members |= roots
			}
		}
	}
	for _, p := range c.w.Pipelines {
		note(p.Stages, p.Lost.Has("stages"), itemRoots)
		if rows, ok := c.itemRowsOf(p.Items); ok && p.Batch == nil && !p.Lost.Has("batch") && !p.Lost.Has("items") {
			for _, m := range p.Stages {
				c.memberItems[m.Value] = rows
			}
		}
	}
	for _, l := range c.w.Loops {
		note(l.Body, l.Lost.Has("body"), roundRoots)
	}
}

func (c *compiler) node(i int32, d *core.Node) {
	n := &c.p.Nodes[i]
	n.ID, n.Index, n.Member, n.Decl = d.ID.Value, i, -1, d
	n.Kind, n.Phase = d.Kind.Value, d.Phase.Value
	n.Concurrency, n.MaxFailures, n.Retry, n.StreamTo, n.Collect = 1, -1, c.retries(), -1, -1
	at := nodePlace(n.ID)
	var use References
	c.fieldSeen.reset(len(c.p.Schema.Fields))
	var all bool
	reads := d.Reads
	if all := c.p.Mode.nodes.reads; all != nil {
		reads = all(c, reads)
	}
	if c.p.open {
		use.Fields = c.openNames(n, d, at)
	} else {
		if use.Fields, n.View, all = c.fieldNames(reads, at.at("reads")); !all || d.Lost.Has("reads") {
			c.invalid.references = true
		}
		c.fieldSeen.reset(len(c.p.Schema.Fields))
		if n.WriteFields, n.Writes, all = c.fieldNames(d.Writes, at.at("writes")); !all || d.Lost.Has("writes") {
			c.invalid.references = true
		}
	}
	if d.Timeout != nil {
		n.Timeout = d.Timeout.Value
		if n.Timeout <= 0 {
			c.ds.Errorf(source.CodeBadValue, d.Timeout.Pos, "%s: timeout: want more than 0, got %s", at, n.Timeout)
		}
	}
	n.AllowPartial, n.AutoStatus = d.AllowPartial, d.AutoStatus
	c.onError(n, d.OnError, at)
	c.pause(n, d, at)
	var ofSource References
	if settings := c.p.Mode.nodes.settings; settings != nil {
		ofSource = settings(c, n, d, at)
	}
	ownFields, ownNodes := len(use.Fields), len(use.Nodes)
	use.Fields, use.Nodes = append(use.Fields, ofSource.Fields...), append(use.Nodes, ofSource.Nodes...)
	c.nodeRoots = graphRoots | c.memberRoots[n.ID]
	if c.memberRoots[n.ID] == 0 {
		c.nodeRoots |= c.invalid.members
	}
	if d.ForEach != nil || d.Lost.Has("for_each") {
		c.nodeRoots |= itemRoots
	}
	c.nodeItem = c.itemColumns(d)
	if d.Lost.Has("args") {
		c.invalid.references = true
	}
	n.Args = c.compileArgs(d.Args, at.at("args"), &use)
	c.kind(n, d, at, &use)
	c.cache(n, d, at, &use)
	c.nodeUse[i].reads = c.distinct(use.Fields, &c.fieldSeen, len(c.p.Schema.Fields))
	c.nodeUse[i].nodes = c.distinct(use.Nodes, &c.nodeSeen, len(c.w.Nodes))
	if n.Source != nil {
		n.Source.aloneReads = alone(c.nodeUse[i].reads, ofSource.Fields, use.Fields, ownFields)
		n.Source.aloneRefs = alone(c.nodeUse[i].nodes, ofSource.Nodes, use.Nodes, ownNodes)
	}
	c.has.stdio = c.has.stdio || n.Stdout || n.Stdin
	c.has.replaces = c.has.replaces || n.replaces != core.ReplacesNothing
	c.has.upserts = c.has.upserts || n.upserts
}

// alone returns the indexes in list of the values that all contains only as members of part, which
// begins at index from of all.
func alone(list, part, all []int32, from int) []int32 {
	var at []int32
	for i, v := range list {
		if slices.Contains(part, v) && !slices.Contains(all[:from], v) && !slices.Contains(all[from+len(part):], v) {
			at = append(at, int32(i))
		}
	}
	return at
}

// fieldNames looks up the names of fields and ignores duplicates. all reports whether all of them
// are fields.
func (c *compiler) fieldNames(list []source.Text, at place) (indexes []int32, names []string, all bool) {
	if len(list) == 0 {
		return nil, nil, true
	}
	all = true
	names = make([]string, 0, len(list))
	var few [8]int32
	found := few[:0]
	for _, name := range list {
		f, ok := c.fieldIndex(name, at)
		if !ok {
			all = false
			continue
		}
		if !c.fieldSeen.first(f) {
			c.ds.Warnf(source.CodeDuplicate, name.Pos, "%s: %q appears twice", at, name.Value)
			continue
		}
		found, names = append(found, f), append(names, name.Value)
	}
	return c.ints.keep(found), names, all
}

// distinct returns the numbers of a list without duplicates, in order of first use.
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

// dagNode compiles the node settings that only a directed acyclic graph has. It returns what the
// source of a fan-out refers to.
func (c *compiler) dagNode(n *Node, d *core.Node, at place) (use References) {
	c.join(d, at)
	if d.ForEach != nil {
		c.forEach(n, d.ForEach, at, &use)
	}
	return use
}

func (c *compiler) forEach(n *Node, fe *core.ForEach, at place, use *References) {
	if n.Source = c.source(fe.Source, fe.Lost.Has("source"), at.at("for_each.source"), use); n.Source == nil {
		n.Source = &Source{Text: fe.Source} // the error is reported; later checks need to know that this is a fan-out
	}
	if fe.Concurrency != nil {
		n.Concurrency = c.atLeastOne(fe.Concurrency, at.at("for_each.concurrency"))
	}
	if fe.MaxFailures != nil {
		n.MaxFailures = fe.MaxFailures.Value
		if n.MaxFailures < 0 {
			c.ds.Errorf(source.CodeBadValue, fe.MaxFailures.Pos, "%s: for_each.max_failures: want at least 0, got %d", at, n.MaxFailures)
		}
	}
	c.collect(n, fe.Collect, at)
}

// source compiles the list of items of a fan-out or pipeline; it returns nil if the list cannot be
// known.
func (c *compiler) source(text source.Text, lost bool, at place, use *References) *Source {
	if lost {
		c.invalid.references = true
		return nil
	}
	s := c.compileSource(text, c.scope(graphRoots), at, use)
	if s != nil {
		c.wantArray(s, at)
	}
	return s
}

// wantArray rejects a source that can never be an array.
func (c *compiler) wantArray(s *Source, at place) {
	if t := s.Type(); t != value.AnyType && t != value.ArrayType {
		c.ds.Errorf(source.CodeExprType, s.Text.Pos, "%s: %s is of type %s, want array", at, s.Text.Value, t)
	}
}

func (c *compiler) onError(n *Node, e *core.OnError, at place) {
	if e == nil || e.Lost.Has("policy") {
		return
	}
	if e.Policy.Value != "retry" {
		n.Policy = c.policy(e.Policy, at.at("on_error.policy"), true)
		return
	}
	found := len(c.ds)
	retry := c.retry(e.Retry(), at.at("on_error"))
	if retry.Attempts == 1 && len(c.ds) == found && !e.Lost.Any("attempts", "preset") {
		c.oneAttempt(e, at)
	}
	switch {
	case retry.Attempts > 0:
	case e.Lost.Any("attempts", "preset"):
		retry.Attempts = 1
	default:
		c.ds.Errorf(source.CodeMissingKey, e.Policy.Pos, "%s: on_error: policy retry needs attempts", at).
			WithHint("write attempts: 3 for two more tries after the first, or preset: standard")
		retry.Attempts = 1
	}
	n.Retry = &retry
	if e.Then.Value != "" {
		n.Policy = c.policy(e.Then, at.at("on_error.then"), false)
	}
}

// oneAttempt warns of settings for further attempts of a node that makes one attempt.
func (c *compiler) oneAttempt(e *core.OnError, at place) {
	ignored := func(key string, pos source.Position) {
		c.ds.Warnf(source.CodeIgnored, pos, "%s: on_error: %s: has no effect on a node with one attempt", at, key).
			WithHint("attempts counts the first one: write attempts: 2 for one retry")
	}
	if e.Backoff.Value != "" {
		ignored("backoff", e.Backoff.Pos)
	}
	if e.Factor != nil {
		ignored("factor", e.Factor.Pos)
	}
	if e.Base != nil {
		ignored("base_ms", e.Base.Pos)
	}
	if e.Max != nil {
		ignored("max_ms", e.Max.Pos)
	}
	if e.Jitter != nil && *e.Jitter {
		ignored("jitter", e.Policy.Pos)
	}
	if e.RetryOn.Value != "" {
		ignored("retry_on", e.RetryOn.Pos)
	}
}

func (c *compiler) notNegative(d *source.Located[time.Duration], at place) time.Duration {
	if d.Value < 0 {
		c.ds.Errorf(source.CodeBadValue, d.Pos, "%s: want at least 0, got %s", at, d.Value)
		return 0
	}
	return d.Value
}

// policy parses a policy; retry reports whether "retry" is valid, too.
func (c *compiler) policy(word source.Text, at place, retry bool) Policy {
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
	c.ds.Errorf(source.CodeBadValue, word.Pos, "%s: unknown word %q", at, word.Value).WithHint("%s", message.Near(word.Value, words))
	return PolicyDefault
}

// kind gets the handler of a node from its kind. If the kind cannot compile the node, it is not
// known what else the node depends on.
func (c *compiler) kind(n *Node, d *core.Node, at place, use *References) {
	if d.Effects != nil {
		n.Effects = *d.Effects
	}
	c.opaque, c.promptsOf = false, c.promptsOf[:0]
	if d.Handler != nil {
		_, typed := d.Handler.(core.ValueHandler)
		c.anyInput, c.opaque = true, !typed
		n.Handler = d.Handler
		if r, ok := d.Handler.(core.Replacer); ok {
			n.replaces = r.Replaces()
		}
		stream, streams := core.StreamsOf(d.Handler, d)
		c.kindStreams(n, stream, streams)
		return
	}
	if unknown := c.p.Mode.nodes.unknownKind; unknown != nil && unknown(c, n, d, at) {
		return
	}
	if k, ok := c.kindOf(d, at); !ok || !c.askKind(k, n, d, at, use) {
		c.invalid.node(n.Index)
	}
}

// foreignKinds names the kinds to use instead of the kinds of other systems.
var foreignKinds = map[string]string{
	"shell":  "kind: script has the text of a shell or Python program, kind: command a program with a list of arguments",
	"bash":   "kind: script has the text of a shell program, kind: command a program with a list of arguments",
	"sh":     "kind: script has the text of a shell program, kind: command a program with a list of arguments",
	"exec":   "kind: command runs a program with a list of arguments",
	"run":    "kind: command runs a program with a list of arguments",
	"python": "kind: script with language: python, or kind: tool with a file",
	"docker": "kind: command with run: [docker, run, ...]",
	"llm":    "kind: agent or kind: prompt asks a model",
	"sqlite": "kind: sql reads and changes databases",
	"file":   "kind: dataset reads files, kind: sink writes them",
}

// kindOf returns the kind of a node.
func (c *compiler) kindOf(d *core.Node, at place) (core.Kind, bool) {
	k, ok := c.reg.Kind(d.Kind.Value)
	switch {
	case ok:
	case d.Lost.Has("kind"):
	case d.Kind.Value == "":
		c.ds.Errorf(source.CodeMissingKey, d.Pos, "%s: kind is missing", at)
	default:
		found := c.ds.Errorf(source.CodeUnknownKind, d.Kind.Pos, "%s: unknown kind %q", at, d.Kind.Value)
		if hint := foreignKinds[d.Kind.Value]; hint != "" {
			found.WithHint("%s", hint)
		} else {
			c.hint(found, d.Kind.Value, c.reg.KindNames)
		}
	}
	return k, ok
}

// askKind lets a kind compile a node and reports whether it succeeded. After an error, what the
// kind refers to is checked nevertheless.
func (c *compiler) askKind(k core.Kind, n *Node, d *core.Node, at place, use *References) bool {
	if w, ok := k.(core.StateWriter); ok && w.WritesState() && c.w.Document && !c.p.Conventions.Context && !d.HasWrites && !d.Lost.Has("writes") {
		c.ds.Warnf(source.CodeNoWrites, d.ID.Pos, "%s: does not say which fields it writes", at).
			WithHint("add writes: [...], or writes: [] if there are none")
	}
	env := c.env
	env.Inputs = c.knownInputs()
	env.WriteType = func(field string) *value.Type { return c.writeType(n, field) }
	env.Items, env.Rounds = c.nodeRoots&itemRoots != 0, c.nodeRoots&roundRoots != 0
	env.Item = c.nodeItem
	env.Conventions = c.p.Conventions
	if agent := c.p.Mode.nodes.agent; agent != nil {
		env.Agent = agent(c, d)
	}
	if edges := c.p.Mode.nodes.edges; edges != nil {
		env.Edges = edges(c, d)
	}
	made, ds := c.compileKind(k, n, env)
	c.anyInput, c.opaque = c.anyInput || made.AnyInput || made.NoHandler != "", made.AnyInput
	c.ds = append(c.ds, ds...)
	if made.Missing.Names != nil {
		c.missing = append(c.missing, MissingSkills{n.ID, made.Missing})
	}
	for _, w := range made.Warnings {
		c.warnings = append(c.warnings, NodeWarning{n.ID, w})
	}
	if ds.Failed(false) || d.Incomplete() {
		c.kindUse(n, made, at, use)
		return false
	}
	c.tables.note(n.Index, made, nil)
	n.Handler, n.Wait, n.Lacks = made.Handler, made.Wait, made.Lacks
	c.noHandler(n, made, at)
	n.Effects = n.Effects || made.Effects && d.Effects == nil
	n.Models = made.Models
	if made.Bookkeeping {
		n.setRare().bookkeeping = true
	}
	if len(made.Unpriced) > 0 || made.AsksRouter {
		n.setRare().prices = Prices{made.Unpriced, made.AsksRouter, made.RouterModel}
	}
	n.replaces, n.upserts = made.Replaces, made.Upserts
	n.Stdout, n.Stdin = made.Stdout, made.Stdin
	if len(made.Environments) > 0 {
		n.setRare().environments = made.Environments
	}
	c.checks.note(n.ID, made)
	c.targets(n, made)
	c.results(n, made, at)
	c.kindStreams(n, made.Stream, made.Streams)
	n.Asks = made.Role == core.RoleHuman
	if !c.role(n, made, at) {
		return false
	}
	if runs := made.Role == core.RoleStage || made.Role == core.RoleHuman; runs && made.Handler == nil && made.Wait == nil && n.Lacks == "" && made.Frame == nil {
		c.ds.Errorf(source.CodeUnknownKind, d.Kind.Pos, "%s: kind %q made no handler for it", at, n.Kind)
	}
	c.kindUse(n, made, at, use)
	c.secrets(made.Secrets)
	if made.Frame != nil {
		c.frame(n, made.Frame, at, use)
	}
	return true
}

// compileKind lets a kind compile a node and records the files that the kind reads.
func (c *compiler) compileKind(k core.Kind, n *Node, env core.Env) (core.Compiled, source.Diagnostics) {
	if env.Files == nil {
		return k.Compile(n.Decl, env)
	}
	files := &opened{FS: env.Files, sums: &value.Object{}, read: func(data []byte) {
		c.noteFile(data)
		if n.Decl.Cache != nil {
			c.promptsOf = append(c.promptsOf, string(data))
		}
	}}
	env.Files = files
	made, ds := k.Compile(n.Decl, env)
	if files.sums.Len() > 0 {
		if c.p.files == nil {
			c.p.files = map[int32]*value.Object{}
		}
		c.p.files[n.Index] = files.sums
	}
	files.sums = nil
	return made, ds
}

// noHandler records that a node has no handler, which is an error when the plan is run.
func (c *compiler) noHandler(n *Node, made core.Compiled, at place) {
	if made.NoHandler != "" {
		c.ds.Warnf(source.CodeNoHandler, n.Decl.Kind.Pos, "%s: %s", at, made.NoHandler)
	}
	if why := made.NoHandler + made.NoModel; why != "" { // a node has at most one of the two
		n.Lacks = why
		c.p.Refused.Errorf(source.CodeNoHandler, n.Decl.Kind.Pos, "%s: %s", at, why)
	}
}

// secrets records references to secrets. A nested workflow that several nodes run refers to the
// same secrets each time.
func (c *compiler) secrets(list []core.Secret) {
	for _, s := range list {
		if c.secretAt == nil {
			c.secretAt = map[source.Text]bool{}
		}
		if !c.secretAt[s.Name] {
			c.secretAt[s.Name] = true
			c.p.Secrets = append(c.p.Secrets, s)
		}
	}
}

// kindUse records what the kind itself depends on.
func (c *compiler) kindUse(n *Node, made core.Compiled, at place, use *References) {
	if len(made.Reads)+len(made.Nodes) > 0 {
		if c.kindRefs == nil {
			c.kindRefs = map[int32]kindRefs{}
		}
		c.kindRefs[n.Index] = kindRefs{made.Reads, made.Nodes}
	}
	var extra []int32
	for _, r := range made.Reads {
		if f, ok := c.fieldIndex(r, at); !ok {
			c.invalid.references = true
		} else {
			rare := n.setRare()
			rare.extra = append(rare.extra, r.Value)
			extra = append(extra, f)
			use.Fields = append(use.Fields, f)
		}
	}
	c.nodeUse[n.Index].extra = extra
	for _, r := range made.Nodes {
		if i, ok := c.nodeRef(r, at); ok {
			use.Nodes = append(use.Nodes, i)
		}
	}
	for _, r := range made.OptionalNodes {
		if i, ok := c.nodeRef(r, at); ok && !slices.Contains(use.Nodes, i) {
			use.Nodes = append(use.Nodes, i)
			if c.optionalRefs == nil {
				c.optionalRefs = map[int32][]int32{}
			}
			c.optionalRefs[n.Index] = append(c.optionalRefs[n.Index], i)
		}
	}
}

// kindRefs are the strings by which a kind refers to fields and nodes.
type kindRefs struct{ fields, nodes []source.Text }
