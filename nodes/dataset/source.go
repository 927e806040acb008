package dataset

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// source compiles the names of the files and determines their format. The format is "" if
// it depends on names that are known only when the node runs.
func (b *builder) source() ([]*filename.Name, table.Format) {
	var names []*filename.Name
	var fixed []source.Text
	for _, f := range b.Source.Files {
		name := filename.Input(b.scope, f, "source")
		if name == nil {
			continue
		}
		names = append(names, name)
		switch {
		case f.Value == standardInput:
			b.standardInput(f)
		case name.Fixed():
			fixed = append(fixed, f)
		}
	}
	format := b.fileFormat(names)
	if b.Optional && !b.stdin() {
		b.ignored("files that are optional", "check")
	} else if len(fixed) == 0 && !b.stdin() && len(names) == len(b.Source.Files) {
		b.ignored("files whose names are known only in a run", "check")
	}
	for _, f := range fixed {
		b.inputs = append(b.inputs, inputsOf(files.Place{Dir: b.env.Dir}, f, format)...)
		b.find(f, format)
	}
	return names, format
}

// endings lists the endings of the names of files in a format, without compression.
var endings = map[table.Format][]string{
	table.CSV: {".csv"}, table.TSV: {".tsv", ".tab"}, table.JSONL: {".jsonl", ".ndjson"}, table.JSON: {".json"}, parquet.Format: {".parquet"},
}

// inputsOf returns the files that a name, a pattern or a folder means, for checks of which
// nodes read and write the same file.
func inputsOf(place files.Place, f source.Text, format table.Format) []core.Target {
	if !isFolder(f.Value) {
		t := place.Target(f)
		t.Pattern = files.IsPattern(f.Value)
		return []core.Target{t}
	}
	var out []core.Target
	for _, ending := range endings[format] {
		for _, compressed := range []string{"", ".gz"} {
			t := place.Target(source.At(f.Value+"[^._]*"+ending+compressed, f.Pos))
			t.Name, t.Pattern = f, true
			out = append(out, t)
		}
	}
	return out
}

// standardInput reports settings that standard input does not support.
func (b *builder) standardInput(f source.Text) {
	if len(b.Source.Files) > 1 {
		b.scope.Errorf(source.CodeBadValue, f.Pos, "source", "standard input (-) cannot be combined with files")
	}
	b.ignored("standard input", "optional", "check", "allow_outside")
}

// fileFormat returns the format in the document, or else the format in which the names of
// the files end.
func (b *builder) fileFormat(names []*filename.Name) table.Format {
	given := b.Format
	if s := b.Source.Format; s.Value != "" {
		if given.Value != "" && given.Value != s.Value {
			b.scope.Errorf(source.CodeBadValue, given.Pos, "format", "the source says %s", s.Value)
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
			b.scope.Errorf(source.CodeMissingKey, f.Pos, "source", "standard input has no name, so its format is unknown").
				WithHint("add format: csv, tsv, jsonl or json")
		case isFolder(f.Value):
		case this == "" && fixed:
			b.scope.Errorf(source.CodeMissingKey, f.Pos, "source", "%q does not end in the name of a format", f.Value).
				WithHint("add format: csv, tsv, jsonl, json or parquet")
		case this != "" && format != "" && this != format:
			b.scope.Errorf(source.CodeBadValue, f.Pos, "source", "%q is %s and %q is %s; the files of one table have one format", b.Source.Files[0].Value, format, f.Value, this)
		}
		if this != "" {
			format = this
		}
	}
	for i, f := range b.Source.Files {
		if isFolder(f.Value) && format == "" && i < len(names) && names[i].Fixed() {
			b.scope.Errorf(source.CodeMissingKey, f.Pos, "source", "%q is a folder, which has files of any format", f.Value).
				WithHint("add format: csv, tsv, jsonl, json or parquet")
		}
	}
	return format
}

// formatOf returns the format of rows that a file name ends in, whether or not the file is
// compressed.
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

// find looks for files when the workflow is loaded, unless the document says that they may
// be created later.
func (b *builder) find(name source.Text, format table.Format) {
	if files.IsPattern(name.Value) {
		if err := files.CheckPattern(name.Value); err != nil {
			b.scope.Errorf(source.CodeBadValue, name.Pos, "source", "%v", err)
			return
		}
	}
	if !b.Check || b.Optional || b.node.Lost.Any("check", "optional", "allow_outside", "format") {
		return
	}
	if b.Outside {
		if b.env.Files != nil && !b.exists(name.Value, format) {
			b.missing(name)
		}
		return
	}
	f := files.Finder{Env: b.env, Subject: b.node.Subject()}
	switch {
	case files.IsPattern(name.Value):
		clean, ok := f.Place(name, "source")
		if !ok {
			break
		}
		if found, _ := files.GlobFS(context.Background(), b.env.Files, clean); len(found) == 0 && !isFile(b.env.Files, clean) {
			b.missing(name)
		}
	case isFolder(name.Value):
		clean, ok := f.Folder(name, "source")
		if !ok || len(f.Found) > 0 {
			break
		}
		if found, _ := files.FolderFS(b.env.Files, clean, hasFormat(format)); len(found) == 0 {
			b.missing(name)
		}
	default:
		f.File(name, "source")
	}
	b.notFound(f)
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// missing reports that there are no files.
func (b *builder) missing(name source.Text) {
	message := "there is no file %q"
	switch {
	case files.IsPattern(name.Value):
		message = "no file matches %q"
	case isFolder(name.Value):
		message = "there is no file of the format in the folder %q"
	}
	if b.env.Resumed {
		b.scope.Found.Hintf(source.CodeMissingFile, name.Pos, "%s: source: "+message+" any more", b.node.Subject(), name.Value)
		return
	}
	d := b.scope.Errorf(source.CodeMissingFile, name.Pos, "source", message, name.Value)
	if files.IsPattern(name.Value) || isFolder(name.Value) {
		d.WithHint("if another node makes them, say check: false; if there may be none, optional: true")
	}
}

// notFound adds the findings of a finder, with hints.
func (b *builder) notFound(f files.Finder) {
	for i := range f.Found {
		if f.Found[i].Code == source.CodeBadValue {
			f.Found[i].WithHint("files must lie in the workflow's folder unless allow_outside is true")
		}
		if strings.HasSuffix(f.Found[i].Message, "is not a regular file") {
			f.Found[i].WithHint("a folder is named with a slash at its end")
		}
		if f.Found[i].Code == source.CodeMissingFile && f.Found[i].Hint == "" && !b.env.Resumed {
			f.Found[i].WithHint("if another node makes it, say check: false; if it may be absent, optional: true")
		}
	}
	b.scope.Found = append(b.scope.Found, f.Found...)
}

// exists reports whether a name, pattern or folder outside of the workflow's folder matches
// existing files.
func (b *builder) exists(name string, format table.Format) bool {
	place := files.Place{Dir: b.env.Dir, Outside: true}
	var found []string
	var err error
	switch {
	case files.IsPattern(name):
		found, err = place.Glob(context.Background(), name)
	case isFolder(name):
		found, err = place.Folder(name, hasFormat(format))
	default:
		_, err = place.Stat(name)
		return err == nil
	}
	return err == nil && len(found) > 0
}
