package table

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// writes is a pipe to which these strings are written one after the other.
type writes []string

func (w *writes) Read(p []byte) (int, error) {
	if len(*w) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*w)[0])
	*w = (*w)[1:]
	return n, nil
}

// Rows of a file that is still being written are returned as soon as they are
// available. Rows of other files are returned in full batches.
func TestLiveRowsGoOn(t *testing.T) {
	for _, c := range []struct {
		format Format
		live   bool
		texts  writes
		want   string
	}{
		{CSV, true, writes{"n\n1\n", "2\n3\n4", "5\n", "6"}, "1|2 3|45|6"},
		{CSV, true, writes{"n\n1\n2", "\n\"3", "\"\n"}, "1|2|3"},
		{CSV, false, writes{"n\n1\n", "2\n3\n"}, "1 2 3"},
		{JSONL, true, writes{"{\"n\":1}\n{\"n\":", "2}\n", "{\"n\":3}"}, "1|2|3"},
		{JSONL, false, writes{"{\"n\":1}\n", "{\"n\":2}\n"}, "1 2"},
	} {
		r, err := NewReader(One(File{Name: "f", Reader: &c.texts}), ReadOptions{Format: c.format, Live: c.live, Types: Types{{Name: "n", Kind: value.IntegerType}}})
		if err != nil {
			t.Fatal(err)
		}
		var batches []string
		for {
			b, err := r.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil || len(b.Bad) > 0 {
				t.Fatal(err, b.Bad)
			}
			var batch []string
			for _, row := range b.Rows {
				v, _ := row.(*value.Object).Get("n")
				batch = append(batch, fmt.Sprint(v))
			}
			batches = append(batches, strings.Join(batch, " "))
		}
		if got := strings.Join(batches, "|"); got != c.want {
			t.Errorf("%s, live %v: %s, want %s", c.format, c.live, got, c.want)
		}
	}
}
