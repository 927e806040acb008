package transform

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// appendKey appends an encoding of a value. Two values have the same encoding exactly
// if value.Equal reports that they are equal; NaN is equal to itself. No encoding is a
// prefix of another, so the encodings of several values can be concatenated.
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
			return appendKey(buf, int64(v)) // 1.0 equals 1, -0.0 equals 0
		}
		if math.IsNaN(v) {
			v = math.NaN() // NaN has many bit patterns
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

// maxKey is the maximum length of a key that is stored unhashed, in bytes.
const maxKey = 256

// short replaces a long key by its SHA-256 hash, which is unique for all practical
// purposes. The rows of a table may share a large value, but each of their keys would
// hold a copy of it.
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

// appendObjectKey appends the encoding of an object. It sorts the members, because
// their order is not significant.
func appendObjectKey(buf []byte, o *value.Object) []byte {
	keys := slices.Sorted(slices.Values(o.Keys()))
	buf = binary.BigEndian.AppendUint32(append(buf, 'o'), uint32(len(keys)))
	for _, k := range keys {
		v, _ := o.Get(k)
		buf = appendKey(appendText(buf, k), v)
	}
	return buf
}
