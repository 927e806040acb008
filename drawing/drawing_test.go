package drawing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/drawing"
)

func idle(context.Context) error { return nil }

// article is a walk with all that decides where a walk by steps continues.
func article() *wavefold.Graph {
	return wavefold.NewWalk("article",
		wavefold.Do("write", idle, wavefold.Entry(), wavefold.Critical()),
		wavefold.Do("refine", idle),
		wavefold.Do("review", idle, wavefold.MaxVisits(3), wavefold.Transition("approve", "publish"), wavefold.Transition("stop", wavefold.End), wavefold.DefaultNext("refine")),
		wavefold.Do("publish", idle)).
		Sequential("write", "refine").
		LoopUntil("refine", "review", wavefold.CondExpr("$output.score >= 8"), 4).
		OnError("review", "write", wavefold.Priority(3), wavefold.Label("broken")).
		When("review", "publish", wavefold.CondExpr("$visits > 2"), wavefold.Priority(5)).Graph()
}

func TestText(t *testing.T) {
	got, err := drawing.Text(article())
	want := `
article: a walk of 4 nodes
├── 0 from the start
│   └── write (tool): critical
│       └── to refine
├── 1 from the start
│   └── refine (tool): at most 4 visits
│       ├── to review, exit_loop: $output.score >= 8 (priority 10)
│       ├── to refine, loop
│       └── to review after 4 visits
├── 2 from the start
│   └── review (tool): at most 3 visits
│       ├── to publish, $visits > 2 (priority 5)
│       ├── to write, broken: error (priority 3)
│       ├── to publish, transition: output.approve
│       ├── to __end__, transition: output.stop
│       └── to refine, default
└── 3 from the start
    └── publish (tool)
`
	if err != nil || "\n"+got != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

func TestMermaid(t *testing.T) {
	got, err := drawing.Mermaid(article())
	want := `
flowchart TD
    write(["write<br/>tool<br/>critical"])
    refine["refine<br/>tool<br/>at most 4 visits"]
    review["review<br/>tool<br/>at most 3 visits"]
    publish["publish<br/>tool"]
    __end__(["__end__"])
    write --> refine
    review -. "broken: error (priority 3)" .-> write
    review -. "$visits #gt; 2 (priority 5)" .-> publish
    refine -. "exit_loop: $output.score #gt;= 8 (priority 10)" .-> review
    refine -- "loop" --> refine
    review -. "transition: output.approve" .-> publish
    review -. "transition: output.stop" .-> __end__
    review -- "default" --> refine
`
	if err != nil || "\n"+got != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

// Every format draws every node of a walk and of a dag, and reports what Compile reports.
func TestFormats(t *testing.T) {
	n := wavefold.NewField[int]("n")
	dag := wavefold.New("dag", wavefold.Source("first", n, func(context.Context) (int, error) { return 1, nil }), wavefold.Sink("last", n, func(context.Context, int) error { return nil }))
	for name, draw := range map[string]func(*wavefold.Graph) (string, error){"text": drawing.Text, "mermaid": drawing.Mermaid, "dot": drawing.DOT, "svg": drawing.SVG} {
		for g, nodes := range map[*wavefold.Graph][]string{article(): {"write", "refine", "review", "publish", "__end__"}, dag: {"first", "last"}} {
			got, err := draw(g)
			for _, id := range nodes {
				if err != nil || !strings.Contains(got, id) {
					t.Errorf("%s: node %s is not in %v\n%s", name, id, err, got)
				}
			}
		}
		if got, err := draw(wavefold.NewWalk("w").Graph()); err == nil || got != "" {
			t.Errorf("%s draws a walk without an entry: %s", name, got)
		}
	}
}
