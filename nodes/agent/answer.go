package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
)

// read parses an answer. wrong lists what is wrong with it; it is nil if the answer is valid.
func (r *runner) read(answer string) (v any, wrong []string) {
	switch {
	case r.lenient:
		return data(answer, r.schema != nil)
	case r.schema == nil && r.choices != "":
		return chosen(answer), nil
	case r.schema == nil:
		return answer, nil
	}
	v, err := value.ParseJSON([]byte(llm.Unfenced(answer)))
	if err != nil {
		return nil, []string{"it is not JSON: " + err.Error()}
	}
	return v, r.schema.check(v)
}

// data makes an object of any answer. The object has the members of the JSON object in the
// answer and, if there is other text, the whole answer as "summary". If wanted is set, an
// answer without a JSON object is invalid.
func data(answer string, wanted bool) (*value.Object, []string) {
	if v, err := value.ParseJSON([]byte(llm.Unfenced(answer))); err == nil {
		if o, ok := v.(*value.Object); ok {
			return o, nil
		}
	}
	out := value.ObjectOf("summary", answer)
	if block, ok := lastBlock(answer); ok {
		if v, err := value.ParseJSON([]byte(block)); err == nil {
			if o, ok := v.(*value.Object); ok {
				for k, e := range o.All() {
					out.Set(k, e)
				}
				return out, nil
			}
		}
	}
	if wanted {
		return out, []string{"it holds no JSON object"}
	}
	return out, nil
}

const fence = "```"

// lastBlock returns the content of the last fenced block of an answer. If there is none, it
// returns the text from the first brace to the last.
func lastBlock(answer string) (string, bool) {
	if parts := strings.Split(answer, fence); len(parts) >= 3 {
		if _, rest, ok := strings.Cut(parts[len(parts)/2*2-1], "\n"); ok && strings.Contains(rest, "{") {
			return rest, true
		}
	}
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return "", false
	}
	return answer[from : to+1], true
}

// withError returns an answer that was rejected, with the reason.
func withError(v any, reason string) *value.Object {
	o, ok := v.(*value.Object)
	if !ok {
		o = value.ObjectOf("answer", v)
	}
	o = o.Copy(1)
	o.Set("error", reason)
	return o
}

// cut shortens a string to limit bytes and marks where it was cut.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	shown := truncate(s, limit)
	return fmt.Sprintf("%s… [cut: %d of %d bytes are shown]", shown, len(shown), len(s))
}

// truncate returns at most the first limit bytes of a string.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
