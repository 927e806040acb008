// Command refine-until-good shortens a headline step by step until it fits, at most six
// times, and prints the graph and what happened.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/drawing"
)

func main() {
	if err := run(context.Background(), "We are really very happy to finally announce that walks can now be built in Go", os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Headline is a headline and how it was judged.
type Headline struct {
	Text   string `json:"text"`
	Length int    `json:"length"`
}

var (
	long     = wavefold.NewField[string]("long")
	headline = wavefold.NewField[Headline]("headline")
	printed  = wavefold.NewField[string]("printed")
)

const maxLength = 30

// build returns the walk.
func build() *wavefold.Graph {
	fits := wavefold.CondOutput(func(h Headline) bool { return h.Length <= maxLength })
	return wavefold.NewWalk("headline",
		wavefold.Map("draft", long, headline, draft, wavefold.Entry()),
		wavefold.Map("refine", headline, headline, refine),
		wavefold.Map("print", headline, printed, layOut)).
		Sequential("draft", "refine").
		LoopUntil("refine", "print", fits.Named("fits"), 6).
		Graph()
}

func run(ctx context.Context, text string, out io.Writer) error {
	g := build()
	picture, err := drawing.Text(g)
	if err != nil {
		return err
	}
	r, err := g.Run(ctx, long.Is(text))
	fmt.Fprintf(out, "%s\npath: %s\n%s\n", picture, strings.Join(r.Path, " -> "), printed.Get(r))
	return err
}

func draft(_ context.Context, text string) (Headline, error) { return Headline{text, len(text)}, nil }

// fillers are what a headline can do without, the least important first.
var fillers = []string{"really ", "very ", "finally ", "now ", "We are happy to announce that "}

// refine removes one filler.
func refine(_ context.Context, h Headline) (Headline, error) {
	for _, f := range fillers {
		if before, after, ok := strings.Cut(h.Text, f); ok {
			return Headline{before + after, h.Length - len(f)}, nil
		}
	}
	return h, nil
}

func layOut(_ context.Context, h Headline) (string, error) {
	return fmt.Sprintf("%s\n%s", h.Text, strings.Repeat("=", h.Length)), nil
}
