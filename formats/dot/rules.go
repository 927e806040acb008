package dot

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// keptText reads a string that is checked and then kept in its source form.
func (s *settings) keptText(key string) source.Text {
	t := s.text(key)
	s.keep(key)
	return t
}

// graphRules checks attributes of the graph.
func (l *loader) graphRules(s *settings) {
	if dir := s.keptText("rankdir"); dir.Value != "" && !slices.Contains(directions, dir.Value) {
		l.ds.Warnf(source.CodeDirection, dir.Pos, "%s: there is no rankdir %s", s.subject, quote(dir.Value)).WithHint("%s", nearest(dir.Value, directions))
	}
	l.fullFidelity = s.text("default_fidelity").Value == "full"
	l.w.Walk.Fidelity = l.word(s, "default_fidelity")
	if sheet := s.keptText("model_stylesheet"); sheet.Value != "" {
		l.stylesheet(sheet)
	}
}

var (
	directions = []string{"TB", "LR", "BT", "RL"}
	reserved   = []string{"strict", "graph", "digraph", "node", "edge", "subgraph"}
)

// fidelity returns how much of the preceding conversation is passed to a node, or to
// the target of an edge. It also checks the attributes of conversations.
func (l *loader) fidelity(s *settings) source.Text {
	fidelity, thread := s.text("fidelity"), s.keptText("thread_id")
	if thread.Value != "" && fidelity.Value != "full" && !(fidelity.Value == "" && l.fullFidelity) {
		l.reported["thread_id"] = true
		l.ds.Warnf(source.CodeThreadFidelity, thread.Pos, "%s: attribute \"thread_id\" has no effect here, and elsewhere under fidelity=full only", s.subject).WithHint("%s", noSessions)
	}
	return l.word(s, "fidelity")
}

// word returns the fidelity that an attribute names. An unknown word is kept in its
// source form. A word that is treated as another one is reported once.
func (l *loader) word(s *settings, key string) source.Text {
	t := s.text(key)
	switch means := core.FidelityOf(t.Value); {
	case t.Value == "":
	case means == "":
		s.keep(key)
		l.ds.Warnf(source.CodeFidelity, t.Pos, "%s: there is no fidelity %s", s.subject, quote(t.Value)).WithHint("%s", nearest(t.Value, core.Fidelities()))
		return source.Text{}
	case means != t.Value && !l.reported[key+t.Value]:
		l.reported["fidelity"+t.Value], l.reported["default_fidelity"+t.Value] = true, true
		l.ds.Warnf(source.CodeFidelity, t.Pos, "%s: fidelity %s is taken for %s so far", s.subject, quote(t.Value), means)
	}
	return t
}

// warnReserved warns about a node whose id is a keyword of DOT.
func (l *loader) warnReserved(id source.Text) {
	if slices.Contains(reserved, strings.ToLower(id.Value)) {
		l.ds.Warnf(source.CodeReservedID, id.Pos, "node %s is called like a word of the language", id.Value).WithHint("give it another id, and a label for people")
	}
}

// scriptPlaceholder matches the placeholders that other engines replace with values.
var scriptPlaceholder = lazyregexp.New(`\{\{\s*(?:goal|inputs\.\w+)\s*\}\}`)

var absoluteDir = lazyregexp.New(`(?:^|[\s;&|(])cd\s+(["']?/)`)

// script checks the script of a node. Without a script, the node fails when it is
// visited.
func (l *loader) script(n *core.Node, s *settings) {
	v := n.Config.Get("script")
	if from := n.Config.Get(scriptFrom); from != nil {
		if a := l.graphAttribute(from.Scalar.(string)); a != nil { // the script that runs unless an input replaces it
			l.scriptText(s, a.value.text)
		}
		return
	}
	if v == nil {
		if !s.invalid && !l.broken {
			l.ds.Warnf(source.CodeScriptMissing, n.Pos, "%s has no script and will fail", s.subject).WithHint(`write script="..."`)
		}
		return
	}
	l.scriptText(s, source.At(v.Scalar.(string), v.Pos))
}

// shellName matches a script that is only a shell variable.
var shellName = lazyregexp.New(`^\s*\$\{(` + namePattern + `)\}\s*$`)

// scriptText checks the text of a script.
func (l *loader) scriptText(s *settings, text source.Text) {
	if m := absoluteDir.FindStringSubmatchIndex(text.Value); m != nil {
		l.ds.Warnf(source.CodeScriptDir, source.Inside(text, m[2]), "%s: the script changes into a folder with an absolute path", s.subject).
			WithHint("the script runs in the workflow's folder; a path below it works on other machines, too")
	}
	m := scriptPlaceholder.FindStringIndex(text.Value)
	if m == nil && s.text("language").Value != "python" {
		m = goalVariable(text.Value)
	}
	if m != nil {
		l.ds.Warnf(source.CodeIgnored, source.Inside(text, m[0]), "%s: nothing is put into a script, so %s stays as it is written", s.subject, text.Value[m[0]:m[1]]).
			WithHint("the goal is in its environment, WAVEFOLD_GOAL; stdin=json hands it the context")
	} else if m := shellName.FindStringSubmatchIndex(text.Value); m != nil {
		name := text.Value[m[2]:m[3]]
		l.ds.Warnf(source.CodeIgnored, source.Inside(text, m[2]-2), "%s: the script is a variable of the shell, which reads ${%s} from its environment", s.subject, name).
			WithHint(`script="$%s" runs what the graph, an input or the context has under that name`, name).Severity = source.Hint
	}
}

var (
	goalWord = lazyregexp.New(`\$goal\b|\$\{goal\}`)
	setsGoal = lazyregexp.New(`(?:^|[\s;&|(])(?:goal\+?=|(?:for|read|export|local|declare|getopts)\s(?:[^;&|\n]*\s)?goal\b)`)
)

// goalVariable returns the range of the shell variable goal in a script that does not
// set it, or nil if there is none. It ignores single-quoted strings and escaped
// dollar signs.
func goalVariable(script string) []int {
	if setsGoal.MatchString(script) {
		return nil
	}
	single, double := false, false
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case single:
			single = c != '\''
		case c == '\\':
			i++
		case c == '"':
			double = !double
		case c == '\'' && !double:
			single = true
		case strings.HasPrefix(script[i:], "$$"): // the process id of the shell
			i++
		case c == '$':
			if m := goalWord.FindStringIndex(script[i:]); m != nil && m[0] == 0 {
				return []int{i, i + m[1]}
			}
		}
	}
	return nil
}

// imports handles nodes that other engines replace with another graph.
func (l *loader) imports(n *core.Node, s *settings) {
	a := s.list[s.find("import")]
	n.Kind, n.Lacks = source.At(importType, a.key.Pos), "a graph cannot be put in place of a node"
	file, first := a.value.text.Value, ""
	if clean := path.Clean(file); !fs.ValidPath(clean) {
		file, first = path.Base(clean), "bring the file below this folder and "
	}
	l.ds.Warnf(source.CodeImport, a.value.text.Pos, "%s: a graph cannot be put in place of a node, it will fail", s.subject).
		WithHint("%srun it as a sub-workflow: shape=house, stack.child_workflow=%s", first, quotePath(file))
}
