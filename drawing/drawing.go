// Package drawing draws graphs: as a tree of text, as a Mermaid flowchart, as a Graphviz
// graph or as an SVG file. It is a separate package so that programs that draw nothing do
// not link it.
package drawing

import (
	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/internal/draw"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Text draws a tree by levels. Below each node of a dag are its predecessors, and below each
// node of a walk by steps is where the walk continues, in the order in which it is tried.
// Text and the other functions return the error of Graph.Compile.
func Text(g *wavefold.Graph) (string, error) { return drawn(g, draw.Text) }

// Mermaid draws a flowchart in the language of Mermaid.
func Mermaid(g *wavefold.Graph) (string, error) { return drawn(g, draw.Mermaid) }

// DOT draws a graph in the language of Graphviz. It is not the format of documents.
func DOT(g *wavefold.Graph) (string, error) { return drawn(g, draw.DOT) }

// SVG draws a picture that needs no other program.
func SVG(g *wavefold.Graph) (string, error) { return drawn(g, draw.SVG) }

func drawn(g *wavefold.Graph, with func(*plan.Description, draw.Options) string) (string, error) {
	p, err := g.Plan()
	if err != nil {
		return "", err
	}
	return with(p.Describe(), draw.Options{}), nil
}
