package plan

import (
	"cmp"
	"encoding/hex"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// memberWords are the names that people know for members of the canonical form of a part. A member
// that is not listed has the name that documents use.
var memberWords = map[string]string{
	"source": "for_each.source", "collect": "for_each.collect", "declared": "reads", "nested": "outputs of its workflow", "wait": "duration",
	"fail_exhausted": "on_exhausted", "loop": "kind",
	// of nodes in walks
	"gate": "goal_gate", "visits": "max_visits", "shown": "context", "targets": "retry_target", "name": "label",
}

// membersOf returns the names of the members of a part and a short hash of each, one a line. Members
// that have no value are left out, so that a new one does not make older records differ.
func membersOf(form []byte) string {
	v, err := value.ParseJSON(form)
	what, ok := v.(*value.Object)
	if err != nil || !ok {
		return "" // a value has no JSON form
	}
	lines, buf := make([]string, 0, 16), make([]byte, 0, 256)
	always := func(name string, v any) {
		buf = canonical(buf[:0], v)
		sum := crc32.ChecksumIEEE(buf)
		buf = append(hex.AppendEncode(buf[:0], []byte{byte(sum >> 8), byte(sum)}), ' ')
		lines = append(lines, string(append(buf, name...)))
	}
	add := func(name string, v any) {
		if !isZero(v) {
			always(name, v)
		}
	}
	word := func(key string) string { return cmp.Or(memberWords[key], key) }
	for key, v := range what.All() {
		switch key {
		case "in", "out":
			for _, e := range v.([]any) {
				from, _ := e.(*value.Object).Get("from")
				to, _ := e.(*value.Object).Get("to")
				add("edge "+from.(string)+" -> "+to.(string), e)
			}
		case "members": // of a pipeline or loop
			name := "stages"
			if loop, _ := what.Get("loop"); loop == true {
				name = "body"
			}
			add(name, v)
		case "config", "files", "reads", "walk":
			o, _ := v.(*value.Object) // there may be no configuration
			for k, member := range o.All() {
				switch key {
				case "files":
					add("file "+k, member)
				case "reads":
					always("writers of "+k, member) // a field that is read may have none
				case "walk":
					add(word(k), member)
				default:
					add(k, member)
				}
			}
		default:
			add(word(key), v)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// isZero reports whether a member has no value.
func isZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case []any:
		return len(v) == 0
	case *value.Object:
		return v.Len() == 0
	}
	return false
}

// differingMembers returns the names of the members that differ, sorted. It leaves out the writers
// of a field that is read only before or only after the change, which follow from the reads. Of a part
// of another kind it returns only that, and nothing if the members are not known.
func differingMembers(then, now string) []string {
	if then == "" || now == "" {
		return nil
	}
	a, b := parseMembers(then), parseMembers(now)
	all := maps.Clone(a)
	maps.Copy(all, b)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] == b[name] || strings.HasPrefix(name, "writers of ") && (a[name] == "" || b[name] == "") {
			continue
		}
		if name == "kind" {
			return []string{name}
		}
		list = append(list, name)
	}
	return list
}

// parseMembers returns the hashes of members by name. A name may occur more than once, such as two
// edges between the same nodes.
func parseMembers(text string) map[string]string {
	members := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if sum, name, ok := strings.Cut(line, " "); ok {
			members[name] += sum
		}
	}
	return members
}
