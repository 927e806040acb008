package llm

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
)

// ballotOf returns the ballot for edges to these nodes; the edge at index fallback has no
// number.
func ballotOf(fallback int, ids ...string) *ballot {
	b := &ballot{ids: ids}
	for i := range ids {
		if i != fallback {
			b.numbers = append(b.numbers, i)
		}
	}
	return b
}

const (
	none     = core.NoRoute
	noChoice = -2 // an unusable answer
)

func TestReadAnswer(t *testing.T) {
	plain := ballotOf(none, "fix", "fix_all", "pr", "fix-it")
	fallback := ballotOf(1, "deep", "out", "retry") // numbers: 1 deep, 2 retry
	twins := ballotOf(none, "pr", "pr", "stop")
	numeric := ballotOf(none, "2", "1", "3")
	odd := ballotOf(none, "a", "a.b", "größe", "step one")
	keys := ballotOf(none, "choice", "reason", "none")
	for _, tt := range []struct {
		name   string
		b      *ballot
		answer string
		want   int
	}{
		{"the answer that was asked for", plain, `{"reason": "because", "choice": 3}`, 2},
		{"rule 4: none can be said", plain, `{"choice": 0, "reason": "fix was tried"}`, none},
		{"rule 4: none in a word", plain, "None.", none},
		{"0 with a fallback is none: the engine takes the fallback", fallback, `{"choice": 0}`, none},
		{"numbers leave the fallback out", fallback, `{"choice": 2}`, 2},
		{"the number behind the last condition is none", fallback, `{"choice": 3}`, noChoice},
		{"the id of the fallback", fallback, "out", 1},
		{"the id of the fallback in the object", fallback, `{"choice": "out"}`, 1},
		{"rule 1: two edges to one node, by number", twins, `{"choice": 2}`, 1},
		{"rule 1: an id is the first edge to it", twins, "pr", 0},
		{"rule 1: an id said twice is one answer", twins, "pr, I say pr", 0},
		{"rule 5: a node that is not offered", plain, "deploy", noChoice},
		{"rule 5: a number that is not offered", plain, `{"choice": 5}`, noChoice},
		{"rule 5: a negative number", plain, `{"choice": -1}`, noChoice},
		{"rule 5: not offered, in the object", plain, `{"choice": "deploy", "reason": "fix is too small"}`, noChoice},
		{"rule 7: trimmed", plain, "  fix \n", 0},
		{"rule 7: quotes", plain, `"fix_all"`, 1},
		{"rule 7: other quotes", plain, "“fix_all”", 1},
		{"rule 7: exact first", odd, "a.b", 1},
		{"rule 7: in a sentence, longest first", plain, "the answer is fix_all", 1},
		{"rule 7: longest first where a full stop is part of an id", ballotOf(none, "a.b", "a"), "take a.b now", 0},
		{"rule 7: a dash is part of an id", plain, "take fix-it now", 3},
		{"rule 7: a full stop ends an id", plain, "Go to fix.", 0},
		{"rule 7: quotes and commas end an id", plain, "'fix', clearly", 0},
		{"rule 7: part of a word is not an id", plain, "prefix the prompt", noChoice},
		{"rule 7: nor with a digit beside it", plain, "fix2", noChoice},
		{"rule 7: ids of more than ASCII", odd, "die größe zählt", 2},
		{"rule 7: a longer word of more than ASCII", odd, "übergröße", noChoice},
		{"rule 7: ids with spaces", odd, "it is step one!", 3},
		{"rule 7: case counts", plain, "FIX", noChoice},
		{"rule 7: two different ids", plain, "fix or pr", noChoice},
		{"rule 7: two ids of which one begins the other", plain, "fix, then fix_all", noChoice},
		{"rule 7: two ids in the object", plain, `{"choice": "fix or pr"}`, noChoice},
		{"A2: an empty answer", plain, "", noChoice},
		{"an answer of blanks", plain, " \n\t", noChoice},
		{"an answer of quotes", plain, `""`, noChoice},
		{"A2: JSON that is cut off", plain, `{"reason": "fix is right", "choi`, noChoice},
		{"JSON that is broken", plain, `{"choice": fix}`, noChoice},
		{"JSON with a key twice", plain, `{"choice": 1, "choice": 2}`, noChoice},
		{"JSON without a choice", plain, `{"reason": "fix"}`, noChoice},
		{"a list", plain, `["fix"]`, noChoice},
		{"null is not a number", plain, `{"choice": null, "reason": "fix"}`, noChoice},
		{"half a number", plain, `{"choice": 1.5}`, noChoice},
		{"a number with a point", plain, `{"choice": 2.0}`, 1},
		{"a number as a text", plain, `{"choice": "2"}`, 1},
		{"a number alone", plain, "2", 1},
		{"a number with a full stop", plain, "2.", 1},
		{"a huge number", plain, `{"choice": 99999999999999999999}`, noChoice},
		{"ids that are numbers: the number of another one", numeric, "2", noChoice},
		{"ids that are numbers: the same by both", numeric, "3", 2},
		{"ids that are numbers: what was asked for", numeric, `{"choice": 2}`, 1},
		{"keys of the object are not ids", keys, `{"reason": "x", "cho`, noChoice},
		{"a node called none", keys, "none", 2},
		{"a code block", plain, "```json\n{\"choice\": 1}\n```", 0},
		{"an object in a sentence", plain, "Not fix. So:\n```\n{\"choice\": 3}\n```\nDone, fix.", 2},
		{"two objects", plain, `{"choice": 1} or {"choice": 2}`, noChoice},
		{"braces in prose", plain, "pr {it is ready}", 2},
		{"what was thought aloud", plain, "<think>fix or pr or {\"choice\": 1}</think>pr", 2},
		{"a thought without an answer", plain, "<think>fix</think>", noChoice},
		{"no choice at all", ballotOf(none), "fix", noChoice},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.b.read(tt.answer)
			got := r.choice
			if r.unusable {
				got = noChoice
			}
			if got != tt.want {
				t.Errorf("%q of %q: got %d, want %d", tt.answer, tt.b.ids, got, tt.want)
			}
		})
	}
}

// FuzzReadAnswer checks that every answer is read as an offered choice or none, and that an
// id is chosen only if the answer contains it and, outside of JSON, no other id.
func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{"fix", `{"choice": 1}`, "```\n{}\n```", "fix_all or b", "</think>0", "“é”", "{\"choice\":\"fix\"}"} {
		f.Add(s, "fix", "fix_all", "b", 1)
	}
	f.Fuzz(func(t *testing.T, answer, x, y, z string, fallback int) {
		b := ballotOf(fallback, x, y, z)
		r := b.read(answer)
		if r.choice < none || r.choice >= len(b.ids) || r.unusable && r.choice != none {
			t.Fatalf("%q: %+v", answer, r)
		}
		if again := b.read(answer); again != r {
			t.Fatalf("%q is read as %+v and %+v", answer, r, again)
		}
		if r.choice == none || strings.ContainsAny(answer, "{0123456789") {
			return
		}
		if !strings.Contains(answer, b.ids[r.choice]) {
			t.Fatalf("%q is read as %q", answer, b.ids[r.choice])
		}
		for at := range answer {
			id := b.idAt(answer, at)
			if id != "" && !strings.Contains(b.ids[r.choice], id) && !strings.Contains(answer, "</think>") && utf8.ValidString(answer+x+y+z) {
				t.Fatalf("%q is read as %q, and there is %q", answer, b.ids[r.choice], id)
			}
		}
	})
}

func TestUnfenced(t *testing.T) {
	for answer, want := range map[string]string{
		" {} ":                      `{}`,
		"```json\n{}\n```":          `{}`,
		"\n```\n{}```\n":            `{}`,
		"```{}```":                  "```{}```",
		"Here:\n```\n{}\n```":       "Here:\n```\n{}\n```",
		"```\n{}\n":                 "```\n{}",
		"```\n\"a ```b``` c\"\n```": "\"a ```b``` c\"",
	} {
		if got := Unfenced(answer); got != want {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
}
