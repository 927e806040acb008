package cli

import (
	"os/exec"
	"testing"
)

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"gate": "gate", "outer/gate": "outer/gate", "gate[0]": "'gate[0]'", "": "''", "it's": `'it'\''s'`, "a b": "'a b'", "$x": "'$x'", "é": "'é'", "-x": "-x",
	} {
		got := shellWord(word)
		if got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+got).Output(); word != "-x" && (err != nil || string(out) != word) {
			t.Errorf("%q: a shell reads %s as %q, %v", word, got, out, err)
		}
	}
}
