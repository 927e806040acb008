// Package formatstest runs the table tests of the formats: archives of documents with the
// findings expected for each, and a check that positions are correct.
package formatstest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

var update = flag.Bool("update", false, "write the findings that were got into the archives")

// Findings parses every document of the archives that match pattern. An archive is a
// comment followed by files, each of them after a line "-- name --". A file NAME.want after
// the document NAME.yaml lists its findings in the order of their positions, one per line,
// as formatted by Line; without it the document must have none. The flag -update rewrites
// the lists: review the difference before committing it.
func Findings(t *testing.T, pattern string, parse func(file string, data []byte) source.Diagnostics) {
	t.Helper()
	archives, err := filepath.Glob(pattern)
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archive matches %s: %v", pattern, err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			runArchive(t, path, parse)
		})
	}
}

// AddDocuments adds every document of the archives that match pattern to the seeds of a
// fuzz test.
func AddDocuments(f *testing.F, pattern string) {
	f.Helper()
	archives, err := filepath.Glob(pattern)
	if err != nil || len(archives) == 0 {
		f.Fatalf("no archive matches %s: %v", pattern, err)
	}
	for _, a := range archives {
		text, err := os.ReadFile(a)
		if err != nil {
			f.Fatal(err)
		}
		_, files := Split(string(text))
		for _, file := range files {
			f.Add([]byte(file.Data))
		}
	}
}

func runArchive(t *testing.T, path string, parse func(file string, data []byte) source.Diagnostics) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	comment, files := Split(string(text))
	out := comment
	for i, f := range files {
		name, isWant := strings.CutSuffix(f.Name, ".want")
		if isWant {
			if i == 0 || !strings.HasPrefix(files[i-1].Name, name+".") {
				t.Errorf("%s does not stand behind its document", f.Name)
			}
			continue
		}
		name = strings.TrimSuffix(f.Name, filepath.Ext(f.Name))
		want := ""
		if i+1 < len(files) && files[i+1].Name == name+".want" {
			want = files[i+1].Data
		}
		got := Lines(parse(f.Name, []byte(f.Data)))
		out += "-- " + f.Name + " --\n" + f.Data
		if got != "" {
			out += "-- " + name + ".want --\n" + got
		}
		t.Run(name, func(t *testing.T) {
			if got != want && !*update {
				t.Errorf("%s\n%s\ngot:\n%swant:\n%s", f.Name, f.Data, got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// File is one file of an archive.
type File struct{ Name, Data string }

// Split returns the comment and the files of an archive.
func Split(archive string) (comment string, files []File) {
	for line := range strings.SplitAfterSeq(archive, "\n") {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		name, end := strings.CutSuffix(name, " --")
		switch {
		case ok && end:
			files = append(files, File{Name: name})
		case len(files) == 0:
			comment += line
		default:
			files[len(files)-1].Data += line
		}
	}
	return comment, files
}

// Lines formats findings in the order of their positions, one per line.
func Lines(ds source.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds.Sorted() {
		b.WriteString(Line(d) + "\n")
	}
	return b.String()
}

// Line formats a finding as "line:column [severity] CODE message (hint)"; the severity of
// errors is omitted.
func Line(d source.Diagnostic) string {
	d.Pos.File = ""
	s := d.Pos.String() + " "
	if d.Severity != source.Error {
		s += d.Severity.String() + " "
	}
	s += string(d.Code) + " " + d.Message
	if d.Hint != "" {
		s += " (" + d.Hint + ")"
	}
	return strings.ReplaceAll(s, "\n", `\n`)
}

// CheckPositions returns an error if a key or scalar of a tree is not at its position in
// the document. It checks only tokens that are written unquoted: identifiers and integers.
func CheckPositions(data []byte, v *source.Value) error {
	lines := strings.SplitAfter(string(data), "\n")
	check := func(text string, pos source.Position) error {
		if int(pos.Line) > len(lines) || int(pos.Column) > len(lines[pos.Line-1])+1 || pos.Line < 1 || pos.Column < 1 {
			return fmt.Errorf("%q has the position %v outside of the text", text, pos)
		}
		if rest := lines[pos.Line-1][pos.Column-1:]; !strings.HasPrefix(rest, text) {
			return fmt.Errorf("%q does not stand at %v but %q does", text, pos, strings.TrimSpace(rest))
		}
		return nil
	}
	return walk(v, check)
}

func walk(v *source.Value, check func(text string, pos source.Position) error) error {
	switch {
	case v.Kind == source.StringValue && isWord(v.Scalar.(string)), v.Kind == source.IntValue:
		if err := check(fmt.Sprint(v.Scalar), v.Pos); err != nil {
			return err
		}
	}
	for i, k := range v.Keys {
		if isWord(k.Value) {
			if err := check(k.Value, k.Pos); err != nil {
				return err
			}
		}
		if err := walk(v.Values[i], check); err != nil {
			return err
		}
	}
	for _, e := range v.Items {
		if err := walk(e, check); err != nil {
			return err
		}
	}
	return nil
}

func isWord(s string) bool {
	for _, r := range s {
		if r != '_' && (r < 'a' || r > 'z') {
			return false
		}
	}
	return s != ""
}
