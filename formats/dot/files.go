package dot

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/internal/textfile"
)

// fileRef returns the file that a text @name stands for.
func fileRef(text string) (string, bool) {
	name, ok := strings.CutPrefix(strings.TrimSpace(text), "@")
	return name, ok && name != "" && !strings.ContainsAny(name, " \t\r\n") && !strings.Contains(name, "{{")
}

// textFile reads an attribute from a file below the document's folder. Positions in it
// are those of the file. One that cannot be read is reported and remains a name: who only
// looks at a graph does without.
func (l *loader) textFile(s *settings, key string, t core.Text, name string) core.Text {
	bad := func(why string) *core.Diagnostic {
		return l.ds.Errorf(core.CodeUnresolvedFile, t.Pos, "%s: %s: %s: %s", s.subject, key, quotePath(t.Value), why)
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
	return core.At(text, core.Position{File: file, Line: 1, Column: 1})
}
