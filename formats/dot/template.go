package dot

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/template"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Placeholders and escapes in the template syntax of this engine.
const (
	goalPlaceholder = "{{$input.goal}}"
	literalBraces   = "{{'{{'}}"
	literalBrace    = "{{'{'}}"
)

const (
	// maxBadPlaceholders limits the number of invalid placeholders in one string that
	// are examined. After that, only placeholders of at most shortPlaceholder bytes are
	// found.
	maxBadPlaceholders = 100
	shortPlaceholder   = 200
)

var (
	goalRef = lazyregexp.New(`^\{\{\s*(?:goal|inputs\.goal)\s*\}\}$`)
	input   = lazyregexp.New(`^\{\{\s*inputs\.([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*\}\}$`)
	name    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$`)
)

// template converts the placeholders $name, {{ goal }} and {{ inputs.x }} of a string
// to the placeholders of a template. what names the string in messages. Other valid
// placeholders are not changed. Invalid ones become literal text, with a warning.
func (l *loader) template(subject, what string, t source.Text) source.Text {
	if at := strings.Index(t.Value, "{%"); at >= 0 {
		l.ds.Warnf(source.CodeExprSyntax, source.Inside(t, at), "%s: %s: {%% ... %%} has no meaning here, so it stays as it is written", subject, what)
	}
	r := newRewriter(t)
	word, braces := finder{text: t.Value, what: "$"}, finder{text: t.Value, what: "{{"}
	for at := 0; ; {
		dollar, open := word.from(at), braces.from(at)
		switch {
		case open < dollar:
			at = l.doubleBraces(subject, what, r, open)
		case dollar == len(t.Value):
			return r.text()
		default:
			at = l.dollar(subject, what, r, at, dollar)
		}
	}
}

// finder finds the occurrences of a substring, from left to right.
type finder struct {
	text, what string
	at         int
	found      bool // at is a known occurrence
}

// from returns the first occurrence at or after an offset, or the length of the string
// if there is none.
func (f *finder) from(offset int) int {
	if f.found && f.at >= offset {
		return f.at
	}
	f.found, f.at = true, len(f.text)
	if n := strings.Index(f.text[offset:], f.what); n >= 0 {
		f.at = offset + n
	}
	return f.at
}

// dollar handles a dollar sign, which may begin a name, and returns the offset at which
// to continue. The string before from has been handled.
func (l *loader) dollar(subject, what string, r *rewriter, from, at int) int {
	text, end := r.src.Value, at+1
	switch name := nameAt(text[end:]); {
	case at > from && text[at-1] == '\\':
		r.replace(at-1, end, "$")
	case strings.HasPrefix(text[end:], "$"):
		end++
		r.replace(at, end, "$")
	case name != "":
		end += len(name)
		if l.refer(use{name, subject, what, source.Inside(r.src, at)}) {
			r.replace(at, end, placeholderOf(name))
		}
	}
	return end
}

// doubleBraces handles double braces and returns the offset at which to continue.
func (l *loader) doubleBraces(subject, what string, r *rewriter, from int) int {
	written := r.placeholder(from)
	end := from + len(written)
	if goalRef.MatchString(written) {
		l.usesGoal = true
		r.replace(from, end, goalPlaceholder)
		return end
	}
	if m := input.FindStringSubmatch(written); m != nil {
		l.declare(m[1], source.Inside(r.src, from))
		r.replace(from, end, "{{$input."+m[1]+m[2]+"}}")
		return end
	}
	if m := namePlaceholder.FindStringSubmatch(written); m != nil && m[1] == m[2] && m[1] == m[3] && m[1] != core.ContextField {
		l.refer(use{m[1], subject, what, source.Inside(r.src, from)})
		return end
	}
	if r.bad < maxBadPlaceholders {
		why, hint := placeholderProblem(written)
		if why == "" {
			return end
		}
		l.ds.Warnf(source.CodeExprSyntax, source.Inside(r.src, from), "%s: %s: %s, so it stays as it is written", subject, what, why).WithHint("%s", hint)
		if r.bad++; written == "" {
			r.bad = maxBadPlaceholders
		}
	}
	r.replace(from, from+2, literalBraces)
	return from + 2
}

var inputPlaceholder = lazyregexp.New(`^\{\{\$input\.([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\}\}$`)

// untemplate is the inverse of template. It writes the placeholder of a name as $name,
// unless the result would then be read as the name of a file.
func untemplate(text string) string {
	written := writtenTemplate(text, writtenName)
	if _, file := fileRef(written); file {
		return writtenTemplate(text, func(place, _, _ string) string { return place })
	}
	return written
}

func writtenTemplate(text string, name func(place, before, after string) string) string {
	var out strings.Builder
	for {
		n := strings.Index(text, "{{")
		written := ""
		if n >= 0 {
			written = placeholderAt(text[n:min(len(text), n+expressions.MaxLength)])
		}
		if written == "" {
			out.WriteString(escapeDollars(text, ""))
			return out.String()
		}
		before := text[:n]
		text = text[n+len(written):]
		place := written
		switch m := inputPlaceholder.FindStringSubmatch(written); {
		case written == goalPlaceholder:
			place = "{{ goal }}"
		case m != nil:
			place = "{{ inputs." + m[1] + " }}"
		default:
			place = name(written, before, text)
		}
		out.WriteString(escapeDollars(before, place))
		out.WriteString(place)
	}
}

// writtenName returns $name for the placeholder of a name, unless the surrounding
// string would change the meaning of $name.
func writtenName(written, before, after string) string {
	m := namePlaceholder.FindStringSubmatch(written)
	if m == nil || m[1] != m[2] || m[1] != m[3] || m[1] == core.InputGoal || strings.HasSuffix(before, `\`) ||
		after != "" && (isLetter(after[0]) || isDigit(after[0])) {
		return written
	}
	return "$" + m[1]
}

// placeholderProblem says why double braces are not a valid placeholder. It returns ""
// if they are.
func placeholderProblem(written string) (why, hint string) {
	inside := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(written, "{{"), "}}"))
	if written == "" {
		return `"{{" is never closed`, ""
	}
	if name.MatchString(inside) {
		root, _, dotted := strings.Cut(inside, ".")
		switch {
		case root == core.ContextField:
			return "", ""
		case !dotted:
			hint = "an input is {{ inputs." + inside + " }}"
		}
		return "nothing is called " + quote(inside), hint
	}
	_, ds := template.Compile(source.At(written, source.Position{}), expressions.Scope{}, "")
	if i := slices.IndexFunc(ds, func(d source.Diagnostic) bool { return d.Severity == source.Error }); i >= 0 {
		return ds[i].Message, ds[i].Hint
	}
	return "", ""
}

// placeholder returns the placeholder at an offset, "" if it is never closed or is longer
// than any expression. After maxBadPlaceholders invalid ones, only short placeholders
// are found.
func (r *rewriter) placeholder(from int) string {
	longest := expressions.MaxLength
	if r.bad == maxBadPlaceholders {
		longest = shortPlaceholder
	}
	return placeholderAt(r.src.Value[from:min(len(r.src.Value), from+longest)])
}

// placeholderAt returns the placeholder at the start of a string, "" if it is never
// closed.
func placeholderAt(text string) string {
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 || strings.Contains(text[i:i+1+n], "\n") {
				if n = strings.Index(text[i:], "}}"); n < 0 {
					return ""
				}
				return text[:i+n+2]
			}
			i += n + 1
		case strings.HasPrefix(text[i:], "}}"):
			return text[:i+2]
		}
	}
	return ""
}
