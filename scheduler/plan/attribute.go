package plan

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// attribute completes the findings about a workflow. It sets Node and Edge if they are not set,
// from the subject that the message begins with: "node ID", "nodes ID, ..." or "edge FROM -> TO". A
// finding without a position gets the position of its node, or else of the workflow. Codes are
// replaced by the codes of the workflow's format.
func attribute(ds source.Diagnostics, w *core.Workflow) {
	if len(ds) == 0 {
		return
	}
	ds.Recode(w.Codes)
	nodes := make(map[string]*core.Node, len(w.Nodes))
	for _, n := range w.Nodes {
		nodes[n.ID.Value] = n
	}
	for i := range ds {
		d := &ds[i]
		setSubject(d, nodes)
		if n := nodes[d.Node]; n != nil && !d.Pos.IsValid() {
			d.Pos = n.Pos.WithoutSegments()
		}
		if !d.Pos.IsValid() {
			d.Pos = w.Pos.WithoutSegments()
		}
	}
}

// setSubject sets Node or Edge of a finding whose message begins with a node or an edge.
func setSubject(d *source.Diagnostic, nodes map[string]*core.Node) {
	if d.Node != "" || d.Edge != (source.EdgeRef{}) {
		return
	}
	if rest, ok := cutSubject(d.Message, "node ", "nodes "); ok {
		d.Node = idAt(rest, nodes)
		return
	}
	rest, _ := cutSubject(d.Message, "edge ")
	from, to, ok := strings.Cut(rest, " -> ")
	if !ok || from == "" {
		return
	}
	id := idAt(to, nodes)
	if id == "" { // the edge leads to a node that does not exist
		id, _, _ = strings.Cut(to, ": ")
	}
	d.Edge = source.EdgeRef{From: from, To: id}
}

func cutSubject(message string, words ...string) (rest string, ok bool) {
	for _, word := range words {
		if rest, ok = strings.CutPrefix(message, word); ok {
			return rest, true
		}
	}
	return "", false
}

// idAt returns the longest node id that is a prefix of the string and ends at the end of a word.
func idAt(text string, nodes map[string]*core.Node) string {
	best := ""
	for end := range len(text) + 1 {
		ends := end == len(text) || strings.IndexByte(" ,:[.\n", text[end]) >= 0
		if ends && nodes[text[:end]] != nil {
			best = text[:end]
		}
		if end > maxSubject {
			break
		}
	}
	return best
}

// maxSubject limits how much of a message is searched for its subject, in bytes.
const maxSubject = 1000
