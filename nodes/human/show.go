package human

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rootfs"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Limits on the values that are shown, in bytes.
const (
	maxQuestion = 4 << 10
	maxShown    = 16 << 10 // of one value or file
)

// shown is a compiled entry of show: a template for a field or an expression, or a file.
type shown struct {
	name string
	text *templates.Template // nil for a file
	file string
}

// showList is the value of show: a list of entries, or one string with commas between the
// entries, as in an attribute of DOT.
type showList []source.Text

// DecodeValue reads a list of strings, or one string.
func (l *showList) DecodeValue(v *source.Value) source.Diagnostics {
	s, ok := v.Scalar.(string)
	if !ok {
		return source.Decode(v, (*[]source.Text)(l))
	}
	at := 0
	for _, part := range entries(s) {
		if name := strings.TrimSpace(part); name != "" {
			*l = append(*l, source.At(name, source.Inside(source.At(s, v.Pos), at+strings.Index(part, name))))
		}
		at += len(part) + 1
	}
	if len(*l) == 0 { // reported as an empty entry
		*l = append(*l, source.At("", v.Pos))
	}
	return nil
}

// entries splits a string at the commas outside of brackets and quotes.
func entries(s string) []string {
	var out []string
	depth, quote, from := 0, rune(0), 0
	for i, c := range s {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			out, from = append(out, s[from:i]), i+1
		}
	}
	return append(out, s[from:])
}

// shows compiles the entries of show. An entry that begins with $ is an expression, context.KEY
// is a value of the walk's context, the name of a field is that field, and anything else is the
// name of a file.
func (b *builder) shows() []shown {
	var out []shown
	for _, e := range b.Show {
		name := strings.TrimSpace(e.Value)
		s := shown{name: name}
		expression := ""
		key, inContext := strings.CutPrefix(name, core.ContextField+".")
		switch {
		case name == "":
			b.ds.Errorf(source.CodeBadValue, e.Pos, "%s: show: an entry is empty", b.node.Subject())
			continue
		case inContext && strings.TrimSpace(key) == "":
			b.ds.Errorf(source.CodeBadValue, e.Pos, "%s: show: %q names no key of the context", b.node.Subject(), name)
			continue
		case strings.HasPrefix(name, "$"):
			expression = name
		case inContext:
			expression = "$." + core.ContextField + "['" + strings.ReplaceAll(key, "'", `\'`) + "']"
		case b.isField(name):
			expression = "$." + name
		default:
			s.file = b.fileName(e, strings.TrimPrefix(name, "@"))
		}
		if expression != "" {
			if s.text = b.texts.Template(source.At("{{"+expression+"}}", e.Pos), "show"); s.text == nil {
				continue
			}
		} else if s.file == "" {
			continue
		}
		out = append(out, s)
	}
	return out
}

func (b *builder) isField(name string) bool {
	if b.env.Schema == nil {
		return false
	}
	return slices.Contains(b.env.Schema.FieldNames(), name)
}

// fileName checks the name of a file, which need not exist yet. It returns "" after an error.
func (b *builder) fileName(e source.Text, name string) string {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		b.ds.Errorf(source.CodeBadValue, e.Pos, "%s: show: the file %q does not lie below the workflow's folder", b.node.Subject(), name)
		return ""
	}
	clean := path.Clean(filepath.ToSlash(name))
	if clean == "." {
		b.ds.Errorf(source.CodeBadValue, e.Pos, "%s: show: %q is a folder, not a file", b.node.Subject(), name)
		return ""
	}
	if b.env.Files != nil {
		if info, err := fs.Stat(b.env.Files, clean); err == nil && !info.Mode().IsRegular() {
			b.ds.Errorf(source.CodeBadValue, e.Pos, "%s: show: %q is not a regular file", b.node.Subject(), name)
			return ""
		}
	}
	if strings.ContainsAny(name, "{}") || !strings.ContainsAny(name, "./") {
		b.ds.Warnf(source.CodeMissingFile, e.Pos, "%s: show: %q is taken for a file", b.node.Subject(), name).
			WithHint("a value of the context is context.%s, an expression begins with $", name)
	}
	return clean
}

// render returns the question and the values that are shown with it.
func (g *gate) render(in core.Input) (question string, list []core.Shown) {
	question = g.text
	if g.template != nil {
		question = g.template.RenderLenient(in)
	}
	question, left := cut(question, maxQuestion)
	if left > 0 {
		question += fmt.Sprintf(" … (%d more bytes)", left)
	}
	for _, s := range g.shows {
		list = append(list, g.show(&s, in))
	}
	return question, list
}

func (g *gate) show(s *shown, in core.Input) core.Shown {
	out := core.Shown{Name: s.name}
	content, err := "", error(nil)
	if s.text != nil {
		if content, err = s.text.Render(in); err != nil {
			out.Missing = "there is no value"
			return out
		}
		out.Text, out.Left = cut(content, maxShown)
		return out
	}
	size := int64(0)
	if content, size, err = g.read(s.file); err != nil {
		out.Missing = err.Error()
		return out
	}
	out.Text, _ = cut(content, maxShown)
	out.Left = int(size) - len(out.Text)
	return out
}

// read returns the beginning of a file and the size of the file.
func (g *gate) read(name string) (content string, size int64, err error) {
	if g.files == nil {
		return "", 0, errors.New("the workflow has no folder")
	}
	noFile := &fs.PathError{Op: "read", Path: name, Err: errors.New("it is not a regular file")}
	if info, err := fs.Stat(g.files, name); err == nil && !info.Mode().IsRegular() { // opening a named pipe would wait for a writer
		return "", 0, noFile
	}
	f, err := g.files.Open(name)
	if err != nil {
		return "", 0, rootfs.Describe(name, g.dir, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, rootfs.Describe(name, g.dir, err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, noFile
	}
	data, err := io.ReadAll(io.LimitReader(f, maxShown))
	if err != nil {
		return "", 0, rootfs.Describe(name, g.dir, err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), max(info.Size(), int64(len(data))), nil
}

// cut returns at most the first n bytes of a string and the number of bytes that it left out.
// It does not split a character.
func cut(s string, n int) (string, int) {
	if len(s) <= n {
		return s, 0
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], len(s) - n
}
