package transform

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// appendKey appends bytes that are the same for two values exactly if value.Equal
// holds them equal, and that cannot run into those of a following value. NaN is
// equal to itself.
func appendKey(buf []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return append(buf, 't')
		}
		return append(buf, 'f')
	case int64:
		return binary.BigEndian.AppendUint64(append(buf, 'i'), uint64(v))
	case float64:
		if v == math.Trunc(v) && v >= -(1<<63) && v < 1<<63 {
			return appendKey(buf, int64(v)) // 1.0 is 1, -0.0 is 0
		}
		if math.IsNaN(v) {
			v = math.NaN() // there are many
		}
		return binary.BigEndian.AppendUint64(append(buf, 'd'), math.Float64bits(v))
	case string:
		return appendText(append(buf, 's'), v)
	case []any:
		buf = binary.BigEndian.AppendUint32(append(buf, 'a'), uint32(len(v)))
		for _, e := range v {
			buf = appendKey(buf, e)
		}
		return buf
	case *value.Object:
		return appendObjectKey(buf, v)
	}
	return append(buf, 'n')
}

// maxKey is the longest key that is kept as it is.
const maxKey = 256

// short replaces a long key by its SHA-256 sum, which no two keys share. The rows
// of a table may share a large value, but their keys would each hold a copy of it.
func short(key []byte) []byte {
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256(key)
	return append(append(key[:0], '#'), sum[:]...)
}

func appendText(buf []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(buf, uint32(len(s))), s...)
}

// appendObjectKey sorts the members: their order makes no difference.
func appendObjectKey(buf []byte, o *value.Object) []byte {
	keys := slices.Sorted(slices.Values(o.Keys()))
	buf = binary.BigEndian.AppendUint32(append(buf, 'o'), uint32(len(keys)))
	for _, k := range keys {
		v, _ := o.Get(k)
		buf = appendKey(appendText(buf, k), v)
	}
	return buf
}
