package dot

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// A $name in a prompt, a label or a question is a placeholder. Its value is the run's
// input of that name, else the graph's attribute, else the key in the context. The
// attribute is the default of the input. \$ and $$ are a literal dollar sign.

// namePattern matches a name.
const namePattern = `[A-Za-z_][A-Za-z0-9_]*`

var (
	onlyName        = lazyregexp.New(`^\s*\$(` + namePattern + `)\s*$`)
	escapedName     = lazyregexp.New(`^\s*(?:\$\$|\\\$)(` + namePattern + `)\s*$`) // a script that is only a shell variable
	namePlaceholder = lazyregexp.New(`^\{\{coalesce\(\$input\.(` + namePattern + `), \$\.context\.(` + namePattern + `), '\$(` + namePattern + `)'\)\}\}$`)
)

// contextNames are the context keys that any walk may have.
var contextNames = []string{core.ContextFailureClass, core.ContextPreferredLabel, "last_stage", "last_response"}

// placeholderOf returns the template placeholder for a name.
func placeholderOf(name string) string {
	if name == core.InputGoal {
		return goalPlaceholder
	}
	return "{{coalesce($input." + name + ", $.context." + name + ", '$" + name + "')}}"
}

// nameAt returns the name at the start of a string, or "" if there is none.
func nameAt(text string) string {
	n := 0
	for n < len(text) && (isLetter(text[n]) || n > 0 && isDigit(text[n])) {
		n++
	}
	return text[:n]
}

// use is an occurrence of a $name placeholder.
type use struct {
	name, subject, what string
	pos                 source.Position
}

// refer records a reference to a name, and reports whether the name can have a value.
func (l *loader) refer(u use) bool {
	switch u.name {
	case core.InputGoal:
		l.usesGoal = true
		return true
	case core.ContextField: // the context holds the values and has no value itself
		l.uses = append(l.uses, u)
		return false
	}
	l.named[u.name] = true
	l.uses = append(l.uses, u)
	if _, ok := l.inputs[u.name]; ok {
		return true
	}
	in := core.InputDecl{Name: source.At(u.name, u.pos), Type: &value.Type{Kind: value.StringType}, Default: value.Missing, Pos: u.pos}
	if a := l.graphAttribute(u.name); a != nil {
		in.Default, in.Name.Pos, in.Pos = a.value.text.Value, a.key.Pos, a.key.Pos
	}
	l.inputs[u.name] = len(l.w.Inputs)
	l.w.Inputs = append(l.w.Inputs, in)
	return true
}

// graphAttribute returns an attribute of the graph that is not a setting, or nil if
// there is none.
func (l *loader) graphAttribute(name string) *attribute {
	if !l.attributes.hasUnused(name) {
		return nil
	}
	return &l.attributes.list[l.attributes.find(name)]
}

// declare adds a required input for a name that follows "inputs.".
func (l *loader) declare(name string, pos source.Position) {
	in := core.InputDecl{Name: source.At(name, pos), Required: true, Default: value.Missing, Pos: pos}
	if i, ok := l.inputs[name]; ok {
		if !l.w.Inputs[i].Required {
			l.w.Inputs[i] = in
		}
		return
	}
	l.inputs[name] = len(l.w.Inputs)
	l.w.Inputs = append(l.w.Inputs, in)
}

// warnUnknownNames warns about names that have no value in the document, once for each
// name.
func (l *loader) warnUnknownNames() {
	for _, u := range l.uses {
		if i, ok := l.inputs[u.name]; ok && (l.w.Inputs[i].Required || !value.IsMissing(l.w.Inputs[i].Default)) ||
			slices.Contains(contextNames, u.name) || l.reported["$"+u.name] {
			continue
		}
		l.reported["$"+u.name] = true
		if u.name == core.ContextField {
			l.ds.Warnf(source.CodeVariable, u.pos, "%s: %s: $%s is the whole context and has no value of its own, so it stays as it is written", u.subject, u.what, u.name).
				WithHint("name a key of it")
			continue
		}
		l.ds.Warnf(source.CodeVariable, u.pos, "%s: %s: nothing in the graph is called %s, so $%s has a value only if the run or its context gives it one", u.subject, u.what, u.name, u.name).
			WithHint(`run it with --input %s=..., or write %s="..." in the graph`, u.name, u.name).Input = u.name
	}
}

// graphText returns the graph's value for a name, or "" if there is none.
func (l *loader) graphText(name string) string {
	if name == core.InputGoal && l.goalText != nil {
		return l.goalText.Value
	}
	if a := l.graphAttribute(name); a != nil {
		return a.value.text.Value
	}
	return ""
}

// labelText replaces the names in a label with the values of the graph. Labels are
// shown before anything runs, so inputs and the context are not considered.
func (l *loader) labelText(subject string, t source.Text) source.Text {
	if !strings.Contains(t.Value, "$") {
		return t
	}
	r := newRewriter(t)
	r.literal = true
	for at := strings.IndexByte(t.Value, '$'); at >= 0; {
		end := at + 1
		switch name := nameAt(t.Value[end:]); {
		case at > r.done && t.Value[at-1] == '\\':
			r.replace(at-1, end, "$")
		case strings.HasPrefix(t.Value[end:], "$"):
			end++
			r.replace(at, end, "$")
		case name != "":
			end += len(name)
			l.named[name] = true
			if value := l.graphText(name); strings.TrimSpace(value) != "" {
				r.replace(at, end, value)
			} else if name != core.InputGoal {
				l.labelUses = append(l.labelUses, use{name, subject, "label", source.Inside(t, at)})
			}
		}
		next := strings.IndexByte(t.Value[end:], '$')
		if at = next; next >= 0 {
			at += end
		}
	}
	return r.text()
}

// warnUnknownLabels warns about names in labels for which the graph has no attribute.
func (l *loader) warnUnknownLabels() {
	for _, u := range l.labelUses {
		if !l.reported["$"+u.name] {
			l.reported["$"+u.name] = true
			l.ds.Warnf(source.CodeVariable, u.pos, "%s: label: the graph has no attribute %s, so $%s is shown as it is written", u.subject, u.name, u.name).
				WithHint(`write %s="..." in the graph; $$%s is the word itself`, u.name, u.name)
		}
	}
}

// escapeDollars escapes the dollar signs of a string that would otherwise begin a
// placeholder. next is the string that follows in the document.
func escapeDollars(text, next string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		after := next
		if i+1 < len(text) {
			after = text[i+1:]
		}
		switch {
		case text[i] != '$':
			b.WriteByte(text[i])
		case i > 0 && text[i-1] == '\\':
			b.WriteString(`\$`)
		case nameAt(after) != "" || strings.HasPrefix(after, "$"):
			b.WriteString("$$")
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}
