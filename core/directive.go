package core

import (
	"encoding/json"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// Members of an object in a reply that say how the node ended and where its walk goes on.
const (
	directiveOutcome = "outcome"
	directiveLabel   = "preferred_next_label"
	directiveNext    = "suggested_next_ids"
	directiveContext = "context_updates"
	directiveReason  = "failure_reason"
)

// maxDirectiveWork bounds how many bytes ParseDirective looks at, those it looks at again
// included: braces that are never closed make it do so.
const maxDirectiveWork = 16 << 20

// ParseDirective reads what the reply of a model or a program says of its outcome: of the
// JSON objects in the text the last one that has one of the members
//
//	outcome               success, partial_success, fail, skipped or retry, or one of the
//	                      other names that StatusOf knows
//	preferred_next_label  the label of the edge to follow
//	suggested_next_ids    nodes to go to, best first
//	context_updates       values for the context, by key
//	failure_reason        why it failed
//
// Everything around it is text that nobody minds, braces too; objects inside of other
// objects do not count. A member that is not of its type says nothing, nor does an entry
// of suggested_next_ids that is no text, an outcome that is no known word, which leaves
// the result a success, and a failure_reason beside another outcome than fail. ok tells
// whether there was such an object; without one the result is the zero Result, a success.
//
// The text is data: it can ask for no more than that, and a walk follows edges that are
// there. It is a pure function, safe for concurrent use.
func ParseDirective(reply string) (r Result, ok bool) {
	found, _ := lastDirective(reply)
	if found == nil {
		return Result{}, false
	}
	return directive(found), true
}

// lastDirective returns the members of the object that counts, nil for none, and how many
// bytes were looked at to find it.
func lastDirective(reply string) (found map[string]json.RawMessage, work int) {
	for at := 0; at < len(reply) && work < maxDirectiveWork; {
		open := strings.IndexByte(reply[at:], '{')
		if open < 0 {
			break
		}
		at += open
		length, closed := objectLength(reply[at:])
		work += length
		var object map[string]json.RawMessage
		if !closed || json.Unmarshal([]byte(reply[at:at+length]), &object) != nil {
			at++
			continue
		}
		at += length
		if isDirective(object) {
			found = object
		}
	}
	return found, work
}

// objectLength returns how long the text is that begins with a brace and ends with the
// one that closes it. closed is false when there is none, or the text cannot be an object;
// length is then how much was looked at.
func objectLength(s string) (length int, closed bool) {
	if rest := strings.TrimLeft(s[1:], " \t\r\n"); rest == "" || rest[0] != '"' && rest[0] != '}' {
		return len(s) - len(rest), false
	}
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\n' { // a text of JSON ends in its line
				return i, false
			}
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(s), false
}

func isDirective(object map[string]json.RawMessage) bool {
	for _, name := range [...]string{directiveOutcome, directiveLabel, directiveNext, directiveContext, directiveReason} {
		if _, ok := object[name]; ok {
			return true
		}
	}
	return false
}

func directive(object map[string]json.RawMessage) Result {
	var (
		r       Result
		way     Routing
		next    []any
		updates map[string]json.RawMessage
	)
	member := func(name string) any {
		v, err := value.ParseJSON(object[name])
		if err != nil {
			return nil
		}
		return v
	}
	word, _ := member(directiveOutcome).(string)
	r.Status, _ = StatusOf(word)
	if reason, ok := member(directiveReason).(string); ok && r.Status == Fail {
		r.Note = reason
	}
	way.PreferredLabel, _ = member(directiveLabel).(string)
	next, _ = member(directiveNext).([]any)
	for _, e := range next {
		if id, ok := e.(string); ok {
			way.SuggestedNext = append(way.SuggestedNext, id)
		}
	}
	// Key by key, so that one value that this engine cannot hold costs no other.
	if json.Unmarshal(object[directiveContext], &updates) == nil && len(updates) > 0 {
		way.Context = make(map[string]any, len(updates))
		for key, raw := range updates {
			if v, err := value.ParseJSON(raw); err == nil {
				way.Context[key] = v
			}
		}
	}
	if way.PreferredLabel != "" || way.SuggestedNext != nil || way.Context != nil {
		r.Routing = &way
	}
	return r
}
