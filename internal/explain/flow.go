package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Entry is an entry of the log of a flow about one visit, in one line.
type Entry struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// String returns the type and the text.
func (e Entry) String() string { return e.Type + prefixed(": ", e.Text) }

// maxEntry limits the text of an entry.
const maxEntry = 120

// EntryOf returns the entry of the log of a flow that an event is, in one line. A long content is cut.
func EntryOf(e *core.Event) Entry {
	text := e.Log
	switch e.Step {
	case core.LogSubagentStart, core.LogSubagentEnd, core.LogSubagentError:
		text = subagentText(e.Log)
	}
	return Entry{e.Step, clip(strings.Join(strings.Fields(text), " "), maxEntry)}
}

// dropUnasked removes the accounts of approvals that were not asked before the run ended. Nothing happened
// there but the arrival of tokens.
func (s *Run) dropUnasked() {
	s.order = slices.DeleteFunc(s.order, func(id string) bool {
		a := s.accounts[id]
		a.Visits = slices.DeleteFunc(a.Visits, func(v Visit) bool { return v.Attempts == 0 })
		unasked := a.Waits == laterText && len(a.Visits) == 0
		if unasked {
			delete(s.accounts, id)
		}
		return unasked
	})
}

// laterText is what an approval waits for that is asked after others.
const laterText = "it is asked after other approvals"

// subagentText describes the call of a sub-agent, whose event is JSON.
func subagentText(content string) string {
	var call struct {
		SubagentName, SubagentNodeID, Message string
		Depth                                 int
	}
	if err := json.Unmarshal([]byte(content), &call); err != nil {
		return content
	}
	text := call.SubagentNodeID
	if call.SubagentName != "" && call.SubagentName != text {
		text += " (" + call.SubagentName + ")"
	}
	if call.Depth > 1 {
		text += fmt.Sprintf(", depth %d", call.Depth)
	}
	return text + prefixed(": ", call.Message)
}

// logged adds an entry of the log of a flow to the visit that it is about. The first entry about an
// approval that is asked later comes before the start of its visit.
func (s *Run) logged(a *Account, e *core.Event) {
	if e.Visit == 0 {
		return
	}
	v := s.visitAt(a, e)
	v.Log = append(v.Log, EntryOf(e))
	if v.Attempts == 0 {
		a.Waits = laterText
	}
}

// token numbers a step that is a token of a flow with the visit of its target. The tokens that arrive at a
// node are its visits, in order. The first token of a flow has no source.
func (s *Run) token(w *Step) {
	if s.arrivals == nil {
		s.arrivals, s.arrived = map[string]int{}, map[arrival]*Step{}
		s.arrivals[w.From] = 1
	}
	s.arrivals[w.To]++
	s.arrived[arrival{w.To, s.arrivals[w.To]}] = w
}

// arrival names a visit of a node of a flow.
type arrival struct {
	node  string
	visit int
}

// Arrived returns the steps of tokens of a flow that have led to a node, in order.
func (s *Run) Arrived(node string) (steps []*Step) {
	for i := 1; i <= s.arrivals[node]; i++ {
		if w := s.arrived[arrival{node, i}]; w != nil {
			steps = append(steps, w)
		}
	}
	return steps
}
