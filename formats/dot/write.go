package dot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/internal/unwritten"
)

// Holds reports whether a workflow is a walk that was read from DOT. Such a walk names no
// router, which every other walk does.
func Holds(w *core.Workflow) bool {
	return w.Mode == core.ModeWalk && (w.Walk == nil || w.Walk.Router.Value == "")
}

// Write formats a walk as a document. Parsing the document with the options that were
// used for the walk gives an equal workflow, and writing that gives the same bytes.
// Positions, comments and the layout of the original are lost: defaults and groups are
// expanded, and prompts are in the document instead of in files.
//
// Write fails if the workflow contains something that DOT cannot express: the mode dag,
// fields of the state, inputs that no prompt refers to, fan-outs, conditions that are
// expressions, or a Go function without a name. The error names the node or edge.
func Write(w *core.Workflow) ([]byte, error) {
	out, left := WritePart(w)
	if len(left) == 0 {
		left = readsBack(w, out)
	}
	if err := left.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// WritePart formats what DOT can express of a walk, and returns everything that the writer
// has left out. What is written may be read as something else: Write checks that, too.
func WritePart(w *core.Workflow) ([]byte, unwritten.List) {
	wr := &writer{at: w.Pos}
	wr.checkWorkflow(w)
	wr.line("digraph %s {", nameText(w.Name.Value))
	wr.graph(w)
	for _, n := range w.Nodes {
		wr.node(n)
	}
	if len(w.Edges) > 0 {
		wr.line("")
	}
	for _, e := range w.Edges {
		wr.edge(e)
	}
	wr.line("}")
	return []byte(wr.b.String()), wr.left
}

// readsBack checks that a document has the nodes, edges and inputs of a workflow.
func readsBack(w *core.Workflow, out []byte) (left unwritten.List) {
	back, ds := Parse("", out, Options{})
	if ds.Failed(false) {
		left.Addf(w.Pos, "workflow %s cannot be written in DOT: %v", w.Name.Value, ds.Err(false))
		return left
	}
	if len(back.Nodes) != len(w.Nodes) || len(back.Edges) != len(w.Edges) {
		left.Addf(w.Pos, "workflow %s cannot be written in DOT: it has %d nodes and %d edges, and would have %d and %d: an edge to a node that is not there makes one",
			w.Name.Value, len(w.Nodes), len(w.Edges), len(back.Nodes), len(back.Edges))
		return left
	}
	for i, n := range w.Nodes {
		b := back.Nodes[i]
		failing := n.Kind.Value == managerType && b.Kind.Value == kindWorkflow
		if b.ID.Value != n.ID.Value || b.Kind.Value != n.Kind.Value && !failing {
			left.Addf(n.Pos, "node %s: kind %s cannot be written in DOT: it would be read as node %s of kind %s", n.ID.Value, n.Kind.Value, b.ID.Value, b.Kind.Value)
		}
	}
	for _, in := range w.Inputs {
		if !slices.ContainsFunc(back.Inputs, func(b core.InputDecl) bool { return b.Name.Value == in.Name.Value && b.Required == in.Required }) {
			left.Addf(in.Pos, "input %s: cannot be written in DOT: an input is a value that a prompt refers to, which every run must give", in.Name.Value)
		}
	}
	return left
}

type writer struct {
	b    strings.Builder
	left unwritten.List
	at   source.Position // of what is being written
}

func (w *writer) fail(format string, args ...any) { w.left.Addf(w.at, format, args...) }

// rejectIf records what is left out if cond is true. what names a feature that DOT cannot
// express.
func (w *writer) rejectIf(cond bool, subject, what string) {
	if cond {
		w.fail("%s: %s cannot be written in DOT", subject, what)
	}
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// attributeList is an attribute list under construction. Unset attributes are left out.
type attributeList struct {
	w       *writer
	subject string
	parts   []string
	keys    map[string]bool
}

func (w *writer) list(subject string) *attributeList {
	return &attributeList{w: w, subject: subject, keys: map[string]bool{}}
}

func (l *attributeList) put(key, value string) {
	if l.keys[key] {
		l.w.fail("%s: attribute %q would appear twice", l.subject, key)
	}
	l.keys[key] = true
	l.parts = append(l.parts, keyText(key)+"="+value)
}

func (l *attributeList) text(key string, t source.Text) {
	if t.Value != "" {
		l.put(key, l.w.text(l.subject, t.Value))
	}
}

// label adds a label, with dollar signs escaped.
func (l *attributeList) label(t source.Text) {
	l.text("label", source.Text{Value: escapeDollars(t.Value, "")})
}

func (l *attributeList) flag(key string, b bool) {
	if b {
		l.put(key, "true")
	}
}

func (l *attributeList) number(key string, n *source.Int) {
	if n != nil {
		l.put(key, fmt.Sprint(n.Value))
	}
}

func (l *attributeList) duration(key string, d *source.Located[time.Duration]) {
	if d != nil {
		l.put(key, durationText(d.Value))
	}
}

// value adds an attribute, or a key of a kind.
func (l *attributeList) value(key string, v any) {
	text, ok := l.w.scalar(l.subject, v)
	if !ok {
		l.w.fail("%s: %s: a value of type %s cannot be written in DOT", l.subject, key, value.TypeName(v))
		return
	}
	l.put(key, text)
}

// object adds attributes that were kept in their source form.
func (l *attributeList) object(o *value.Object) {
	for k, v := range o.All() {
		l.value(k, v)
	}
}

// String returns the list in brackets, with a leading space. It returns "" if the list
// is empty.
func (l *attributeList) String() string {
	if len(l.parts) == 0 {
		return ""
	}
	return " [" + strings.Join(l.parts, ", ") + "]"
}

func (w *writer) checkWorkflow(d *core.Workflow) {
	subject := "workflow " + d.Name.Value
	if d.Mode != core.ModeWalk {
		w.fail("%s: only walks can be written in DOT", subject)
	}
	if g := d.Walk; g != nil {
		w.rejectIf(g.Router.Value != "" && g.Router.Value != core.RouterOutcomes, subject, "router "+g.Router.Value)
		w.rejectIf(g.MaxSteps != nil, subject, "a limit of the visits of a run")
	}
	w.rejectIf(d.Name.Value == "", subject, "a graph without a name")
	w.rejectIf(len(d.Fields) > 0, subject, "fields of the state")
	w.rejectIf(len(d.Pipelines)+len(d.Loops) > 0, subject, "a pipeline or loop")
	w.rejectIf(len(d.RetryPolicies) > 0, subject, "retry policies of its own")
	w.rejectIf(len(d.Phases) > 0 || d.Version.Value != "" || d.Description.Value != "", subject, "a version, a description or phases")
	w.rejectIf(d.Incremental != nil, subject, "incremental")
	w.rejectIf(d.Runtime != core.Runtime{}, subject, "runtime")
}

func (w *writer) graph(d *core.Workflow) {
	l := w.list("workflow " + d.Name.Value)
	for _, in := range d.Inputs {
		if goal, ok := in.Default.(string); ok && in.Name.Value == core.InputGoal {
			l.put("goal", w.text(l.subject, goal))
		}
	}
	if g := d.Walk; g != nil {
		l.number("default_max_retries", g.MaxRetries)
		l.text("retry_target", g.RetryTarget)
		l.text("fallback_retry_target", g.FallbackRetryTarget)
		l.number("max_node_visits", g.MaxVisits)
		w.rejectIf(g.MaxJumps != nil, l.subject, "a limit of jumps")
		l.duration("stall_timeout", g.StallTimeout)
		l.number("loop_restart_signature_limit", g.RepeatLimit)
		l.text("default_fidelity", g.Fidelity)
		l.object(g.Attributes)
	}
	for _, p := range l.parts {
		w.line("  %s", p)
	}
	if len(l.parts) > 0 && len(d.Nodes) > 0 {
		w.line("")
	}
}

func (w *writer) node(n *core.Node) {
	w.at = n.Pos
	l := w.list(n.Subject())
	w.checkNode(n, l.subject)
	w.kindAttribute(n, l)
	l.label(n.Label)
	l.text("class", source.Text{Value: strings.Join(source.Strings(n.Classes), ",")})
	w.work(n, l)
	l.flag("goal_gate", n.GoalGate)
	l.flag("allow_partial", n.AllowPartial)
	l.flag("auto_status", n.AutoStatus)
	w.retry(n.OnError, l)
	l.text("retry_target", n.RetryTarget)
	l.text("fallback_retry_target", n.FallbackRetryTarget)
	if n.Kind.Value != kindScript || n.Timeout == nil || n.Timeout.Value != scriptTimeout {
		l.duration("timeout", n.Timeout)
	}
	l.text("pause", n.Pause)
	l.number("max_visits", n.MaxVisits)
	if n.Random {
		l.put("selection", "random")
	}
	l.text("fidelity", n.Fidelity)
	w.join(n, l)
	l.object(n.Attributes)
	w.line("  %s%s", nameText(n.ID.Value), l)
}

func (w *writer) checkNode(n *core.Node, subject string) {
	w.rejectIf(n.Handler != nil, subject, "a Go function without a name")
	w.rejectIf(n.ForEach != nil, subject, "a fan-out")
	w.rejectIf(len(n.Reads)+len(n.Writes) > 0 || n.HasWrites, subject, "what it reads and writes")
	w.rejectIf(n.Phase.Value != "" || n.Description.Value != "", subject, "a phase or description")
	w.rejectIf(n.Cache != nil, subject, "a cache")
	w.rejectIf(n.Priority.Value != 0 || n.Effects != nil, subject, "a priority or effects")
	w.rejectIf(n.Kind.Value != kindParallel && (n.Join != nil || n.Parallel != nil), subject, "a join of a node that is not parallel")
}

// kindAttribute writes the shape or type that selects the node's kind, unless the
// attributes that were kept include it.
func (w *writer) kindAttribute(n *core.Node, l *attributeList) {
	for _, key := range []string{"shape", "type", importType} {
		if _, ok := n.Attributes.Get(key); ok {
			return
		}
	}
	switch k := byName(n.Kind.Value); {
	case n.Kind.Value == managerType:
		l.put("shape", byName(kindWorkflow).shape)
	case k == nil:
		l.text("type", n.Kind)
	case k.kind != kindAgent:
		l.put("shape", k.shape)
	}
}

// work writes the configuration and arguments of a node.
func (w *writer) work(n *core.Node, l *attributeList) {
	for _, tree := range []*source.Value{n.Config, n.Args} {
		if tree == nil {
			continue
		}
		for i, key := range tree.Keys {
			v := tree.Values[i].Plain()
			text, isText := v.(string)
			d, err := time.ParseDuration(text)
			switch {
			case isText && tree == n.Config && templated(n.Kind.Value, key.Value):
				v = untemplate(text)
			case isText && tree == n.Config && n.Kind.Value == kindScript && key.Value == scriptFrom:
				v = "$" + text
			case isText && tree == n.Config && n.Kind.Value == kindScript && key.Value == scriptKeys[0] && onlyName.MatchString(text):
				v = "$" + strings.TrimSpace(text)
			case err == nil && n.Kind.Value == kindWait && key.Value == "duration":
				l.put(key.Value, durationText(d))
				continue
			}
			if words, ok := listText(n.Kind.Value, key.Value, v); ok {
				v = words
			}
			l.value(attributeOf(n, key.Value, tree == n.Args), v)
		}
	}
}

// listText formats a list of strings, separated by commas. ok is false if the result
// would not be parsed as the same list.
func listText(kind, key string, v any) (text string, ok bool) {
	k := byName(kind)
	list, isList := v.([]any)
	if k == nil || !isList || !slices.Contains(k.lists, key) {
		return "", false
	}
	words := make([]string, len(list))
	for i, e := range list {
		word, isText := e.(string)
		if !isText || word == "" || word != strings.TrimSpace(word) || strings.Contains(word, ",") {
			return "", false
		}
		words[i] = word
	}
	return strings.Join(words, ", "), true
}

// attributeOf returns the attribute that sets a key of a kind.
func attributeOf(n *core.Node, key string, argument bool) string {
	if n.Kind.Value == kindWorkflow && key == "file" {
		return childKeys[0]
	}
	if n.Kind.Value == kindScript && key == scriptFrom && !argument {
		return scriptKeys[0]
	}
	if k := byName(n.Kind.Value); k != nil && !argument {
		for _, c := range k.config {
			if c.key == key {
				return c.from[0]
			}
		}
	}
	return key
}

func (w *writer) retry(e *core.OnError, l *attributeList) {
	if e == nil {
		return
	}
	rest := *e
	rest.Policy, rest.Preset, rest.Attempts, rest.Pos = source.Text{}, source.Text{}, nil, source.Position{}
	preset := e.Preset.Value
	switch {
	case e.Policy.Value != "retry" || !isZeroRetry(rest) || !slices.Contains(presets, preset):
		w.fail("%s: on_error: only presets and the attempts of standard can be written in DOT", l.subject)
	case e.Attempts == nil:
		l.put("retry_policy", preset)
	case preset != "standard" || e.Attempts.Value < 1:
		w.fail("%s: on_error: %d attempts of preset %s cannot be written in DOT", l.subject, e.Attempts.Value, preset)
	default:
		l.put("max_retries", fmt.Sprint(e.Attempts.Value-1))
	}
}

// isZeroRetry reports whether no setting of e is set.
func isZeroRetry(e core.OnError) bool {
	return e.Backoff.Value == "" && e.Factor == nil && e.Base == nil && e.Max == nil && e.Jitter == nil && e.RetryOn.Value == "" && e.Then.Value == ""
}

func (w *writer) join(n *core.Node, l *attributeList) {
	if j := n.Join; j != nil {
		w.rejectIf(j.Race, l.subject, "a race")
		switch {
		case j.Word() == core.JoinKOfN && j.Count != nil:
			l.put("join_policy", fmt.Sprintf(`"%s(%d)"`, j.Word(), j.Count.Value))
		case j.Word() == core.JoinQuorum && j.Fraction != nil:
			l.put("join_policy", `"`+j.Word()+"("+floatText(j.Fraction.Value)+`)"`)
		default:
			l.text("join_policy", j.Policy)
		}
	}
	if p := n.Parallel; p != nil {
		l.number("max_parallel", p.MaxParallel)
		l.text("error_policy", p.ErrorPolicy)
	}
}

func (w *writer) edge(e *core.Edge) {
	w.at = e.Pos
	l := w.list("edge " + e.From.Value + " -> " + e.To.Value)
	w.rejectIf(e.Else || e.On.Value != "" || e.Handles != nil, l.subject, "on or else")
	w.rejectIf(e.When != nil && e.Parsed == nil, l.subject, "a condition that is an expression")
	l.label(e.Label)
	if e.When != nil {
		l.text("condition", *e.When)
	}
	if e.Weight.Value != 0 {
		l.number("weight", &e.Weight)
	}
	l.flag("loop_restart", e.LoopRestart)
	l.flag("freeform", e.Freeform)
	l.text("fidelity", e.Fidelity)
	l.object(e.Attributes)
	w.line("  %s -> %s%s", nameText(e.From.Value), nameText(e.To.Value), l)
}
