// Package setting has the settings that many kinds share, such as sizes in bytes and the target
// of a node's result, and the findings about settings without an effect.
package setting

import (
	"math"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// Bytes is a number of bytes, at least 1. Documents write it as a whole number or as a string
// with a unit, such as "10MB". Units are powers of 1024.
type Bytes int

var _ source.Unmarshaler = (*Bytes)(nil)

// units lists the units; B is last, because the others end with it.
var units = []struct {
	ending string
	factor int64
}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"B", 1}}

// DecodeValue reads the number.
func (b *Bytes) DecodeValue(v *source.Value) source.Diagnostics {
	const want = `a number of bytes such as 4096 or "10MB"`
	n, ok := int64(0), false
	switch s := v.Scalar.(type) {
	case int64:
		n, ok = s, true
	case string:
		n, ok = parse(s)
	default:
		return source.WrongType(v, want)
	}
	if !ok || n < 1 || n > math.MaxInt32 {
		var ds source.Diagnostics
		ds.Errorf(source.CodeBadValue, v.Pos, "want %s, from 1 to 2GB, found %s", want, v.Describe())
		return ds
	}
	*b = Bytes(n)
	return nil
}

func parse(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	for _, u := range units {
		digits, ok := strings.CutSuffix(strings.ToUpper(s), u.ending)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
		return n * u.factor, err == nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
