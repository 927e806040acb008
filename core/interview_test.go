package core

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	q := Question{}
	for _, label := range []string{"[A] Approve", "R) Revise", "10) Ten", "[Q] Quit", "Quit", "a - both", "[B] Both", "build"} {
		q.Choices = append(q.Choices, Choice{Key: Accelerator(label), Label: label, Target: "to " + label})
	}
	for _, tt := range []struct{ text, want string }{
		{"r", "R) Revise"},
		{" R\t", "R) Revise"},
		{"10", "10) Ten"},
		{"1", ""},
		{"approve", "[A] Approve"},
		{"[a] APPROVE ", "[A] Approve"},
		{"revise", "R) Revise"},
		{"10) ten", "10) Ten"},
		{"ten", ""},
		{"quit", "Quit"}, // as written comes before the normal form
		{"[q] quit", "[Q] Quit"},
		{"build", "build"},
		{"a", "[A] Approve, a - both"}, // a key of two choices
		{"q", "[Q] Quit, Quit"},
		{"b", "[B] Both, build"},
		{"both", "a - both, [B] Both"},
		{"b) both", ""}, // an accelerator that is typed counts
		{"", ""},
		{"  ", ""},
		{"to Quit", ""},
	} {
		var labels []string
		for _, c := range q.Match(Answer{Text: tt.text}) {
			labels = append(labels, c.Label)
		}
		if got := strings.Join(labels, ", "); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
	keys := Question{Choices: []Choice{{Key: "G", Label: "Go"}, {Key: "Go", Label: "[Go] Away"}}}
	if got := keys.Match(Answer{Text: "go"}); len(got) != 1 || got[0].Label != "[Go] Away" {
		t.Errorf("a key that is the label of another choice: got %v", got)
	}
	if got := q.Match(Answer{Text: "r", Choice: q.Choices[2]}); len(got) != 1 || got[0] != q.Choices[2] {
		t.Errorf("a choice: got %v", got)
	}
	if got := q.Match(Answer{Text: "r", Choice: Choice{Key: "R"}}); got != nil {
		t.Errorf("a choice that is not there: got %v", got)
	}
}
