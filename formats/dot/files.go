package dot

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/internal/textfile"
)

// fileRef returns the file name in a reference of the form @name.
func fileRef(text string) (string, bool) {
	name, ok := strings.CutPrefix(strings.TrimSpace(text), "@")
	return name, ok && name != "" && !strings.ContainsAny(name, " \t\r\n") && !strings.Contains(name, "{{")
}

// textFile returns the content of the file that an attribute refers to, below the
// document's folder. Positions in the result refer to that file. If the file cannot be
// read, textFile reports an error and returns the reference itself, so that the graph
// can still be drawn.
func (l *loader) textFile(s *settings, key string, t source.Text, name string) source.Text {
	bad := func(why string) *source.Diagnostic {
		return l.ds.Errorf(source.CodeUnresolvedFile, t.Pos, "%s: %s: %s: %s", s.subject, key, quotePath(t.Value), why)
	}
	clean := path.Clean(name)
	switch {
	case l.opts.Files == nil:
		bad("there is no folder to look for the file in").WithHint("the document was not read from a file")
		return t
	case !fs.ValidPath(clean):
		bad("the path leads out of the document's folder").WithHint("files must lie in the folder of the document")
		return t
	}
	text, err := textfile.Read(l.opts.Files, clean)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		bad("there is no such file").WithHint("%s", textfile.Near(l.opts.Files, clean))
		return t
	case err != nil:
		bad(err.Error())
		return t
	}
	file := filepath.Join(filepath.Dir(t.Pos.File), filepath.FromSlash(clean))
	return source.At(text, source.Position{File: file, Line: 1, Column: 1})
}
