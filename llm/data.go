package llm

import (
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
)

// DataJSON writes an object as JSON for a model to read, a member a line, no member longer
// than each bytes and all of them together not longer than total, or little more. What is
// too long is cut: of texts the end, of arrays and objects the last elements, the longest
// parts first, so that short values stay whole beside a long one. A text in place of it
// says how much is missing. Equal objects are cut alike.
func DataJSON(o *core.Object, each, total int) ([]byte, error) {
	members := make([][]byte, o.Len())
	sizes := make([]int, o.Len())
	for i := range members {
		_, v := o.At(i)
		b, err := core.AppendJSON(nil, v)
		if err != nil {
			return nil, err
		}
		members[i], sizes[i] = b, min(len(b), each)
	}
	share := fairShare(sizes, total)
	out := []byte{'{'}
	for i, b := range members {
		if limit := min(each, share); len(b) > limit {
			v, err := core.ParseJSON(b) // what a node sent may be of a Go type
			if err != nil {
				return nil, err
			}
			if b, err = core.AppendJSON(nil, shortened(v, limit)); err != nil {
				return nil, err
			}
			members[i] = b
		}
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := o.At(i)
		out = append(out, '\n')
		out, _ = core.AppendJSON(out, name) // texts have a form
		out = append(append(out, ": "...), members[i]...)
	}
	return append(out, "\n}"...), nil
}

// fairShare returns the largest share such that parts of these sizes, each cut to it, fit
// into a total.
func fairShare(sizes []int, total int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		if size*(len(sorted)-i) > total {
			return max(total, 0) / (len(sorted) - i)
		}
		total -= size
	}
	return int(^uint(0) >> 1)
}

// minShare is the least room that an element of an array or a member of an object gets;
// elements for which that much is not left are left out. marker is the room for the text
// that says how much is missing.
const (
	minShare = 64
	marker   = 40
)

// shortened returns a value whose JSON text takes about limit bytes at most.
func shortened(v any, limit int) any {
	switch v := v.(type) {
	case string:
		return shortText(v, limit)
	case []any:
		sizes := make([]int, len(v))
		for i := range v {
			sizes[i] = size(v[i]) + 1
		}
		keep, share := room(sizes, limit-marker)
		out := make([]any, 0, keep+1)
		for i := range keep {
			out = append(out, fitted(v[i], sizes[i], share))
		}
		if keep < len(v) {
			out = append(out, leftOut(len(v)-keep, "elements"))
		}
		return out
	case *core.Object:
		sizes := make([]int, v.Len())
		for i := range sizes {
			key, member := v.At(i)
			sizes[i] = size(key) + size(member) + 2
		}
		keep, share := room(sizes, limit-marker)
		out := core.NewObject(keep + 1)
		for i := range keep {
			key, member := v.At(i)
			if sizes[i] > share {
				key = shortText(key, share/2)
				member = shortened(member, share-size(key)-2)
			}
			out.Set(key, member)
		}
		if keep < v.Len() {
			out.Set("…", leftOut(v.Len()-keep, "members"))
		}
		return out
	}
	return v
}

// room returns how many of the first parts get room and how much each of them may take.
func room(sizes []int, limit int) (keep, share int) {
	if share = fairShare(sizes, limit); share >= minShare {
		return len(sizes), share
	}
	most := min(len(sizes), max(limit, 0)) // a part takes a byte at least
	keep = sort.Search(most, func(n int) bool { return fairShare(sizes[:n+1], limit) < minShare })
	return keep, fairShare(sizes[:keep], limit)
}

func fitted(v any, size, share int) any {
	if size <= share {
		return v
	}
	return shortened(v, share)
}

func leftOut(n int, what string) string {
	return "… " + strconv.Itoa(n) + " more " + what + " left out"
}

// shortText cuts a text to a beginning whose JSON text takes about limit bytes, together
// with what says how much is missing.
func shortText(s string, limit int) string {
	if len(s) <= limit && size(s) <= limit {
		return s
	}
	limit = max(limit-marker, 0)
	keep := min(len(s), limit)
	for keep > 0 && size(s[:keep]) > limit {
		// An escaped character takes up to six times its bytes.
		keep = max(0, keep-max(1, (size(s[:keep])-limit)/6))
	}
	for keep > 0 && keep < len(s) && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return s[:keep] + leftOut(len(s)-keep, "bytes")
}

// size is the length of the JSON text of a value that has one.
func size(v any) int {
	b, _ := core.AppendJSON(nil, v)
	return len(b)
}
