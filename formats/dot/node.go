package dot

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// scriptTimeout limits the duration of a script if the document sets no timeout.
const scriptTimeout = 10 * time.Minute

// presets are the names of retry policies.
var presets = []string{"none", "standard", "aggressive", "linear", "patient"}

func (l *loader) node(d *expandedNode, kind source.Text) *core.Node {
	s := l.settings(d.attributes, "node "+d.id.Value)
	n := &core.Node{ID: d.id, Kind: kind, Pos: d.id.Pos, Asks: kind.Value == kindHuman}
	l.humanNodes[d.id.Value] = n.Asks
	l.warnReserved(d.id)
	labels := len(l.labelUses)
	n.Label = l.labelText(s.subject, s.text("label"))
	if asksLabel(s, kind.Value) { // names in the label have values, or are reported as names in the question
		l.labelUses = l.labelUses[:labels]
	}
	n.Classes = classes(s.text("class"), d.classes)
	n.AllowPartial, n.AutoStatus, n.GoalGate = s.flag("allow_partial"), s.flag("auto_status"), s.flag("goal_gate")
	n.RetryTarget, n.FallbackRetryTarget = s.text("retry_target"), s.text("fallback_retry_target")
	n.MaxVisits = s.number("max_visits", 0, "0 (any number) or more")
	n.Timeout = s.duration("timeout")
	n.Pause = s.text("pause")
	n.OnError = l.retry(s)
	n.Random = l.selection(s)
	if n.Kind.Value == kindParallel {
		l.parallel(n, s)
	}
	l.work(n, s)
	l.recordToolless(n, s)
	if n.Kind.Value == kindScript && n.Timeout == nil && !s.invalid {
		n.Timeout = &source.Located[time.Duration]{Value: scriptTimeout, Pos: n.Pos}
	}
	if slices.Contains(models, n.Kind.Value) {
		n.Fidelity = l.fidelity(s)
		l.modelNodes[n.ID.Value] = true
	}
	if !implied(s, n.Kind.Value) {
		s.keep("shape")
		s.keep("type")
	}
	n.Attributes = s.attributes(&nodeTable, attributesOf(n))
	return n
}

// asksLabel reports whether the label is the question or prompt of a node of the kind,
// because it has no other.
func asksLabel(s *settings, kind string) bool {
	return kind == kindHuman && !s.isSet(questionKey) || slices.Contains(models, kind) && !s.isSet(promptKeys...)
}

// implied reports whether a node's kind already determines its shape and type.
func implied(s *settings, kind string) bool {
	typ, shape := s.text("type").Value, s.text("shape").Value
	if k := byName(kind); k != nil {
		return typ == "" && (shape == "" || shape == k.shape)
	}
	return typ == kind && shape == ""
}

// classes returns the classes of a node: first its own classes, then the classes of the
// groups that contain it.
func classes(ownClasses source.Text, groups []source.Text) []source.Text {
	var out []source.Text
	seen := map[string]bool{}
	add := func(c source.Text) {
		if c.Value != "" && !seen[c.Value] {
			seen[c.Value] = true
			out = append(out, c)
		}
	}
	at := 0
	for part := range strings.FieldsFuncSeq(ownClasses.Value, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		at += strings.Index(ownClasses.Value[at:], part)
		add(source.At(part, source.Inside(ownClasses, at)))
		at += len(part)
	}
	for _, c := range groups {
		add(c)
	}
	return out
}

// retry returns the retry policy of a node. It is the preset that the node names.
// Without one, max_retries sets the number of attempts after the first, with the delays
// of the preset standard. It is nil if the node sets neither, so that the policy of the
// graph applies.
func (l *loader) retry(s *settings) *core.OnError {
	policy, maxRetries := s.text("retry_policy"), s.anyNumber("max_retries")
	if policy.Value != "" {
		if slices.Contains(presets, policy.Value) {
			s.keep("max_retries")
			return &core.OnError{Policy: source.At("retry", policy.Pos), Preset: policy, Pos: policy.Pos}
		}
		l.ds.Warnf(source.CodeRetryPolicy, policy.Pos, "%s: there is no retry policy %s, it has no effect", s.subject, quote(policy.Value)).
			WithHint("%s", nearest(policy.Value, presets))
		s.keep("retry_policy")
	}
	if maxRetries == nil {
		return nil
	}
	attempts := source.At(max(maxRetries.Value, 0)+1, maxRetries.Pos)
	return &core.OnError{Policy: source.At("retry", maxRetries.Pos), Preset: source.At("standard", maxRetries.Pos), Attempts: &attempts, Pos: maxRetries.Pos}
}

// nearest suggests the word most similar to the given one, or lists all words.
func nearest(word string, words []string) string {
	if near := source.DidYouMean(word, words); near != "" {
		return near
	}
	return "there are " + strings.Join(words, ", ")
}

func (l *loader) selection(s *settings) bool {
	t := s.text("selection")
	switch t.Value {
	case "", "deterministic":
		return false
	case "random":
		return true
	}
	s.keep("selection")
	l.ds.Warnf(source.CodeSelection, t.Pos, "%s: there is no selection %s, it is deterministic", s.subject, quote(t.Value)).
		WithHint("%s", nearest(t.Value, []string{"deterministic", "random"}))
	return false
}

// work reads the configuration of a node's kind.
func (l *loader) work(n *core.Node, s *settings) {
	n.Config = &source.Value{Kind: source.ObjectValue, Pos: n.Pos}
	if a := s.find("import"); a >= 0 {
		l.imports(n, s)
		return
	}
	keys, registered := l.kindKeys(n.Kind.Value)
	k := byName(n.Kind.Value)
	if k == nil && !registered {
		n.Args = l.arguments(n, s)
		return
	}
	switch n.Kind.Value {
	case kindAgent, kindPrompt:
		l.prompt(n, s)
	case kindWait:
		l.wait(n, s)
	case kindWorkflow:
		l.child(n, s)
	}
	if k != nil {
		l.config(n, s, k, keys)
		l.style(n, cmp.Or(s.text("shape").Value, k.shape), keys)
	}
	for _, key := range keys {
		if n.Config.Get(key) != nil || ofAllNodes(key) || k != nil && slices.Contains(k.structured, key) {
			continue
		}
		if s.hasUnused(key) { // otherwise the attribute that sets it has been read
			a := s.take(key)
			if v := l.kindValue(s, k, a); v != nil {
				n.Config.Set(source.At(key, a.key.Pos), v)
			}
		}
	}
	if n.Kind.Value == kindScript {
		l.script(n, s)
	}
	n.Config.Lost = s.invalid
}

// ofAllNodes reports whether nodes of every kind have an attribute, so that it is not a
// key of a kind.
func ofAllNodes(key string) bool {
	row := nodeTable.find(key, "")
	return row != nil && row.kinds == nil
}

// attributesOf returns the kind that determines which attributes a node has. A
// sub-workflow whose file is missing still has the attributes of a sub-workflow.
func attributesOf(n *core.Node) string {
	if n.Kind.Value == managerType {
		return kindWorkflow
	}
	return n.Kind.Value
}

// kindValue returns the value of an attribute that is a key of a kind. k is the kind's
// entry in the table, or nil if it has none.
func (l *loader) kindValue(s *settings, k *kindEntry, a *attribute) *source.Value {
	v, key := a.value.tree(), a.key.Value
	switch {
	case k == nil:
	case slices.Contains(k.lists, key):
		list := listTree(v)
		if list == nil { // an empty list differs from an absent one: no variables are passed, or the agent needs no tools
			list = &source.Value{Kind: source.ArrayValue, Pos: v.Pos}
		}
		return list
	case slices.Contains(k.flags, key):
		if _, ok := a.value.asBool(); !ok && key == "context" { // other engines give context another meaning
			s.keep(key)
			l.ds.Warnf(source.CodeBadValue, a.value.text.Pos, "%s: context: want true or false, found %s, so it has no effect", s.subject, a.value.describe())
			return nil
		}
		return source.Tree(s.flag(key), a.value.text.Pos)
	case slices.Contains(k.numbers, key):
		if text := strings.TrimSpace(a.value.text.Value); isNumber(text) {
			n, _ := unquotedValue(token{text: text, pos: a.value.text.Pos})
			return n.tree()
		}
	case slices.Contains(k.templates, key) && v.Kind == source.StringValue && !fileWord.MatchString(strings.TrimSpace(a.value.text.Value)):
		return stringTree(l.template(s.subject, key, a.value.text))
	}
	return v
}

func (l *loader) kindKeys(kind string) (keys []string, ok bool) {
	if l.opts.Kinds == nil {
		return nil, false
	}
	return l.opts.Kinds(kind)
}

// config reads the configuration keys that the table lists for a kind and that the kind
// has.
func (l *loader) config(n *core.Node, s *settings, k *kindEntry, owned []string) {
	for _, c := range k.config {
		if owned != nil && !slices.Contains(owned, c.key) {
			continue
		}
		from := s.first(c.from...)
		switch name := onlyName.FindStringSubmatch(s.text(from).Value); {
		case c.key == questionKey && k.kind == kindHuman:
			l.question(n, s, from)
		case from == "":
		case c.key == scriptKeys[0] && name != nil:
			l.scriptName(n, s, name[1], from)
		case c.key == scriptKeys[0] && escapedName.MatchString(s.text(from).Value):
			t := s.text(from)
			t.Value = "$" + escapedName.FindStringSubmatch(t.Value)[1]
			n.Config.Set(source.At(scriptKeys[0], t.Pos), stringTree(t))
		default:
			l.configValue(n, s, c, from)
		}
	}
}

// question reads the question for a person: the attribute text, or the label if it
// contains placeholders.
func (l *loader) question(n *core.Node, s *settings, from string) {
	t, label := s.text(from), s.text("label")
	if t.Value == "" && strings.ContainsAny(label.Value, "${") {
		t = label
	}
	if t = l.template(s.subject, cmp.Or(from, "label"), t); t.Value != "" && (from != "" || t.Value != label.Value) {
		n.Config.Set(source.At(questionKey, t.Pos), stringTree(t))
	}
}

// scriptName reads a script that consists of a $name. The value of the name is the
// program to run.
func (l *loader) scriptName(n *core.Node, s *settings, name, from string) {
	t := s.text(from)
	at := source.Inside(t, strings.IndexByte(t.Value, '$'))
	if l.refer(use{name, s.subject, from, at}) {
		n.Config.Set(source.At(scriptFrom, at), stringTree(source.At(name, at)))
		return
	}
	n.Config.Set(source.At(scriptKeys[0], t.Pos), stringTree(t))
}

func (l *loader) configValue(n *core.Node, s *settings, c configKey, from string) {
	if c.integer {
		if v := s.anyNumber(from); v != nil {
			n.Config.Set(source.At(c.key, v.Pos), &source.Value{Kind: source.IntValue, Pos: v.Pos, Scalar: int64(v.Value)})
		}
		return
	}
	if t := s.text(from); t.Value != "" {
		n.Config.Set(source.At(c.key, t.Pos), stringTree(t))
	}
}

func stringTree(t source.Text) *source.Value {
	return &source.Value{Kind: source.StringValue, Pos: t.Pos, Scalar: t.Value}
}

// listTree splits a string at commas into a list. It returns nil if there are no words.
func listTree(v *source.Value) *source.Value {
	s, ok := v.Scalar.(string)
	if !ok {
		return v
	}
	out := &source.Value{Kind: source.ArrayValue, Pos: v.Pos}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out.Items = append(out.Items, stringTree(source.At(part, v.Pos)))
		}
	}
	if out.Items == nil {
		return nil
	}
	return out
}

// tree returns the value as a node of a configuration tree.
func (v attrValue) tree() *source.Value { return source.Tree(v.plain(), v.text.Pos) }

// arguments returns the attributes of a node whose type is a Go function, except those
// for drawing.
func (l *loader) arguments(n *core.Node, s *settings) *source.Value {
	args := &source.Value{Kind: source.ObjectValue, Pos: n.Pos}
	for i := range s.list {
		a := &s.list[i]
		key := a.key.Value
		if s.used != nil && s.used[i] || slices.Contains(graphvizKeys, key) || slices.Contains(conversationKeys, key) {
			continue
		}
		s.take(key)
		args.Set(a.key, a.value.tree())
	}
	if len(args.Keys) == 0 {
		return nil
	}
	return args
}

// conversationKeys are attributes about conversations, which are not passed to Go
// functions.
var conversationKeys = []string{"fidelity", "thread_id"}

func (l *loader) wait(n *core.Node, s *settings) {
	d := s.duration("duration")
	if d != nil {
		n.Config.Set(source.At("duration", d.Pos), &source.Value{Kind: source.StringValue, Pos: d.Pos, Scalar: d.Value.String()})
	} else if !s.invalid && !l.broken {
		l.ds.Warnf(source.CodeMissingKey, n.Pos, "%s has no duration and will fail", s.subject).WithHint("write duration=30s")
	}
}
