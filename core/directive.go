package core

import (
	"encoding/json"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// Members of an object in a reply that give the outcome of the node and the next node of
// the walk.
const (
	directiveOutcome = "outcome"
	directiveLabel   = "preferred_next_label"
	directiveNext    = "suggested_next_ids"
	directiveContext = "context_updates"
	directiveReason  = "failure_reason"
)

// maxDirectiveWork limits the number of bytes ParseDirective reads. Bytes that it reads
// again, because of braces that are never closed, count each time.
const maxDirectiveWork = 16 << 20

// ParseDirective extracts the outcome from the reply of a model or a program. It uses the
// last JSON object in the reply that has at least one of these members:
//
//	outcome               success, partial_success, fail, skipped or retry, or one of the
//	                      other names that StatusOf knows
//	preferred_next_label  the label of the edge to follow
//	suggested_next_ids    nodes to go to, best first
//	context_updates       values for the context, by key
//	failure_reason        why it failed
//
// ParseDirective ignores the rest of the reply, including other braces and objects nested
// in other objects. It also ignores members of the wrong type, entries of
// suggested_next_ids that are not strings, and a failure_reason next to an outcome other
// than fail. If the outcome is not a known word, the result is a success. ok reports
// whether there was such an object. Without one the result is the zero Result, a success.
//
// The reply is data: it can request nothing else, and a walk only follows edges of its
// graph. ParseDirective is a pure function, safe for concurrent use.
func ParseDirective(reply string) (r Result, ok bool) {
	found, _ := lastDirective(reply)
	if found == nil {
		return Result{}, false
	}
	return directive(found), true
}

// lastDirective returns the members of the last directive object, or nil if there is none,
// and the number of bytes that were read to find it.
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

// objectLength returns the length of the object at the beginning of s, from its opening
// brace to the matching closing brace. closed is false if there is no closing brace or the
// string cannot be an object; length is then the number of bytes that were read.
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
			if c == '\n' { // a JSON string ends on its line
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
	// Decode key by key, so that a value which the engine cannot represent does not affect
	// the other keys.
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
