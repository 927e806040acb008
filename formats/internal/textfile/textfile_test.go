package textfile

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRead(t *testing.T) {
	files := fstest.MapFS{"a.md": {Data: []byte("hello")}, "dir/b.md": {Data: []byte{0xff}}}
	if s, err := Read(files, "a.md"); s != "hello" || err != nil {
		t.Errorf("got %q, %v", s, err)
	}
	if _, err := Read(files, "c.md"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "c.md") {
		t.Errorf("got %v, want that it does not exist, without the path", err)
	}
	for _, name := range []string{"dir", "dir/b.md"} {
		if _, err := Read(files, name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if got := Near(files, "dir/bb.md"); got != `did you mean "b.md"?` {
		t.Errorf("got %q", got)
	}
	if got := Near(files, "nowhere/b.md"); got != "" {
		t.Errorf("got %q", got)
	}
}
