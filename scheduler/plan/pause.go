package plan

import (
	"cmp"
	"context"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// Pause says when each execution of a node waits until a person lets it continue.
type Pause uint8

// Pauses.
const (
	NoPause     Pause = iota
	PauseBefore       // before its first attempt
	PauseAfter        // after its last attempt
)

// String returns the value as written in documents, "" for NoPause.
func (p Pause) String() string { return [...]string{"", core.PauseBefore, core.PauseAfter}[p] }

// pause compiles the setting of a node.
func (c *compiler) pause(n *Node, d *core.Node, at place) {
	switch d.Pause.Value {
	case "":
		return
	case core.PauseBefore:
		n.Pause = PauseBefore
	case core.PauseAfter:
		n.Pause = PauseAfter
	default:
		c.ds.Errorf(source.CodeBadValue, d.Pause.Pos, "%s: pause: unknown word %q", at, d.Pause.Value).
			WithHint("%s", message.Near(d.Pause.Value, []string{core.PauseBefore, core.PauseAfter}))
		return
	}
	if n.AutoStatus {
		c.ds.Errorf(source.CodeBadValue, d.Pause.Pos, "%s: pause: auto_status would make the node a success although nobody let it continue", at)
	}
}

// pausers makes the nodes that ask a person.
func (c *compiler) pausers() {
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Pause == NoPause {
			continue
		}
		text := fmt.Sprintf("continue with %s?", cmp.Or(n.Decl.Label.Value, n.ID))
		if n.Pause == PauseAfter {
			text = fmt.Sprintf("%s has ended, continue?", cmp.Or(n.Decl.Label.Value, n.ID))
		}
		n.setRare().pauser = &Node{Handler: pauser{text}, ID: n.ID, Index: n.Index, Vertex: n.Vertex, Member: n.Member, Kind: n.Kind, Phase: n.Phase,
			Decl: n.Decl, Retry: once, Asks: true, Cancellable: n.Cancellable || n.MaxFailures >= 0, Concurrency: 1, MaxFailures: -1, Collect: -1, StreamTo: -1}
	}
}

// pauser is the handler that asks whether an execution may continue.
type pauser struct{ text string }

// maxPauses limits the number of times that a pause asks after answers without a match.
const maxPauses = 10

// Handle asks until the answer is the only choice. Without that answer the execution fails.
func (p pauser) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	ask := in.Shared().Ask
	if ask == nil {
		return core.Result{}, unpaused(fmt.Errorf("%w: the run has no person to ask", core.ErrUnanswered))
	}
	q := core.Question{Run: in.Run(), Node: in.Execution(), Visit: in.Visit(), Text: p.text,
		Choices: []core.Choice{{Key: "c", Label: "continue"}}}
	for range maxPauses {
		a, err := ask(ctx, q)
		switch {
		case ctx.Err() != nil:
			return core.Result{}, ctx.Err()
		case err != nil:
			return core.Result{}, unpaused(err)
		case len(q.Match(a)) == 1:
			return core.Result{}, nil
		}
		q.Again = fmt.Sprintf("%q is none of the choices", cmp.Or(a.Text, a.Choice.Label))
	}
	return core.Result{}, unpaused(fmt.Errorf("%w: asked %d times, and at last %s", core.ErrUnanswered, maxPauses, q.Again))
}

// unpaused returns the failure of an execution whose pause did not end with a decision
// to continue.
func unpaused(err error) error {
	return core.Categorized(core.Permanent(fmt.Errorf("pause: %w", err)), core.Deterministic)
}
