package llm

import (
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// DataJSON encodes an object as JSON for a model to read, with one member on each line. No
// member takes more than each bytes, and all of them together take no more than about total
// bytes. Values that are too long are cut, strings at their end, arrays and objects by
// dropping their last elements; the longest parts are cut first, so that short values next
// to a long one stay whole. A note in place of the missing part gives its size. Equal
// objects are cut alike.
func DataJSON(o *value.Object, each, total int) ([]byte, error) {
	members := make([][]byte, o.Len())
	sizes := make([]int, o.Len())
	for i := range members {
		_, v := o.At(i)
		b, err := value.AppendJSON(nil, v)
		if err != nil {
			return nil, err
		}
		members[i], sizes[i] = b, min(len(b), each)
	}
	share := fairShare(sizes, total)
	out := []byte{'{'}
	for i, b := range members {
		if limit := min(each, share); len(b) > limit {
			v, err := value.ParseJSON(b) // the output of a node may have any Go type
			if err != nil {
				return nil, err
			}
			if b, err = value.AppendJSON(nil, shortened(v, limit)); err != nil {
				return nil, err
			}
			members[i] = b
		}
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := o.At(i)
		out = append(out, '\n')
		out, _ = value.AppendJSON(out, name) // strings can always be encoded
		out = append(append(out, ": "...), members[i]...)
	}
	return append(out, "\n}"...), nil
}

// fairShare returns the largest share such that parts of the given sizes, each cut to the
// share, fit into total.
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

// minShare is the least number of bytes that an element of an array or a member of an
// object gets; elements with less are left out. marker is the space reserved for the note
// that gives the size of the missing part.
const (
	minShare = 64
	marker   = 40
)

// shortened returns a value whose JSON encoding takes at most about limit bytes.
func shortened(v any, limit int) any {
	switch v := v.(type) {
	case string:
		return shortText(v, limit)
	case []any:
		sizes := make([]int, len(v))
		for i := range v {
			sizes[i] = size(v[i]) + 1
		}
		keep, share := allocate(sizes, limit-marker)
		out := make([]any, 0, keep+1)
		for i := range keep {
			out = append(out, fitted(v[i], sizes[i], share))
		}
		if keep < len(v) {
			out = append(out, leftOut(len(v)-keep, "elements"))
		}
		return out
	case *value.Object:
		sizes := make([]int, v.Len())
		for i := range sizes {
			key, member := v.At(i)
			sizes[i] = size(key) + size(member) + 2
		}
		keep, share := allocate(sizes, limit-marker)
		out := value.NewObject(keep + 1)
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

// allocate returns the number of leading parts to keep and the share of each of them.
func allocate(sizes []int, limit int) (keep, share int) {
	if share = fairShare(sizes, limit); share >= minShare {
		return len(sizes), share
	}
	maxCount := min(len(sizes), max(limit, 0)) // each part takes at least one byte
	keep = sort.Search(maxCount, func(n int) bool { return fairShare(sizes[:n+1], limit) < minShare })
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

// shortText cuts a string to a prefix whose JSON encoding, together with the note about the
// missing part, takes about limit bytes.
func shortText(s string, limit int) string {
	if len(s) <= limit && size(s) <= limit {
		return s
	}
	limit = max(limit-marker, 0)
	keep := min(len(s), limit)
	for keep > 0 && size(s[:keep]) > limit {
		// Escaping makes a character up to six times as long.
		keep = max(0, keep-max(1, (size(s[:keep])-limit)/6))
	}
	for keep > 0 && keep < len(s) && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return s[:keep] + leftOut(len(s)-keep, "bytes")
}

// size returns the length of the JSON encoding of a value that has one.
func size(v any) int {
	b, _ := value.AppendJSON(nil, v)
	return len(b)
}
