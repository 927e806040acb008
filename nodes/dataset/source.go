package dataset

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/lookup"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// source compiles the names of the files and finds their format; "" leaves it to
// the names of the moment.
func (b *builder) source() ([]*eval.Name, table.Format) {
	var names []*eval.Name
	for _, f := range b.Source.Files {
		name := b.scope.Input(f, "source")
		if name == nil {
			continue
		}
		names = append(names, name)
		if f.Value == standardInput {
			b.standardInput(f)
			continue
		}
		if name.Fixed() {
			b.inputs = append(b.inputs, f)
			b.find(f)
		}
	}
	return names, b.fileFormat(names)
}

// standardInput checks what cannot be done with standard input.
func (b *builder) standardInput(f core.Text) {
	if len(b.Source.Files) > 1 {
		b.scope.Errorf(core.CodeBadValue, f.Pos, "source", "standard input (-) cannot stand beside files")
	}
	b.ignored("standard input", "optional", "check")
}

// fileFormat returns the format the document gives or the names of the files end
// in.
func (b *builder) fileFormat(names []*eval.Name) table.Format {
	given := b.Format
	if s := b.Source.Format; s.Value != "" {
		if given.Value != "" && given.Value != s.Value {
			b.scope.Errorf(core.CodeBadValue, given.Pos, "format", "the source says %s", s.Value)
		}
		given = s
	}
	if given.Value != "" {
		return table.Format(given.Value)
	}
	var format table.Format
	for i, f := range b.Source.Files {
		this := formatOf(f.Value)
		fixed := i < len(names) && names[i].Fixed()
		switch {
		case this == "" && fixed && f.Value == standardInput:
			b.scope.Errorf(core.CodeMissingKey, f.Pos, "source", "standard input has no name that tells its format").
				WithHint("add format: csv, tsv, jsonl or json")
		case this == "" && fixed:
			b.scope.Errorf(core.CodeMissingKey, f.Pos, "source", "%q does not end in the name of a format", f.Value).
				WithHint("add format: csv, tsv, jsonl, json or parquet")
		case this != "" && format != "" && this != format:
			b.scope.Errorf(core.CodeBadValue, f.Pos, "source", "%q is %s and %q is %s; the files of one table have one format", b.Source.Files[0].Value, format, f.Value, this)
		}
		if this != "" {
			format = this
		}
	}
	return format
}

// formatOf returns the format of rows that a file name ends in, whether or not
// the file is compressed.
func formatOf(name string) table.Format {
	if strings.EqualFold(path.Ext(name), ".parquet") {
		return parquet.Format
	}
	inner, _ := table.Gzipped(name)
	if f := table.FormatOf(inner); f != table.Text {
		return f
	}
	return ""
}

// find looks for a file when the workflow is loaded, unless the document says
// that it may come later.
func (b *builder) find(name core.Text) {
	if !b.Check || b.Optional {
		return
	}
	pattern := files.IsPattern(name.Value)
	if _, err := path.Match(name.Value, ""); pattern && err != nil {
		b.scope.Errorf(core.CodeBadValue, name.Pos, "source", "%q is no pattern: %v", name.Value, err)
		return
	}
	if b.Outside {
		if b.env.Files != nil && !exists(files.Place{Dir: b.env.Dir, Outside: true}, name.Value) {
			b.missing(name, pattern)
		}
		return
	}
	f := lookup.Finder{Env: b.env, Subject: "node " + b.node.ID.Value}
	if pattern {
		clean, ok := f.Place(name, "source")
		if !ok {
			b.notFound(f)
			return
		}
		if found, _ := files.GlobFS(b.env.Files, clean); len(found) == 0 && !isFile(b.env.Files, clean) {
			b.missing(name, pattern).WithHint("if another node makes them, say check: false; if there may be none, optional: true")
		}
		return
	}
	f.File(name, "source")
	b.notFound(f)
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

func (b *builder) missing(name core.Text, pattern bool) *core.Diagnostic {
	if pattern {
		return b.scope.Errorf(core.CodeMissingFile, name.Pos, "source", "no file matches %q", name.Value)
	}
	return b.scope.Errorf(core.CodeMissingFile, name.Pos, "source", "there is no file %q", name.Value)
}

// notFound takes over what a finder found, with what to do about it.
func (b *builder) notFound(f lookup.Finder) {
	for i := range f.Found {
		if f.Found[i].Code == core.CodeBadValue {
			f.Found[i].WithHint("files must lie in the workflow's folder unless allow_outside is true")
		}
		if f.Found[i].Code == core.CodeMissingFile && f.Found[i].Hint == "" {
			f.Found[i].WithHint("if another node makes it, say check: false; if it may be absent, optional: true")
		}
	}
	b.scope.Found = append(b.scope.Found, f.Found...)
}

// exists reports whether a name or pattern means files that are there.
func exists(place files.Place, name string) bool {
	if files.IsPattern(name) {
		found, err := place.Glob(name)
		return err == nil && len(found) > 0
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(place.Dir, name)
	}
	_, err := os.Stat(name)
	return err == nil
}
