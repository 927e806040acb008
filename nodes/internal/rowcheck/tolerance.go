package rowcheck

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// Tolerance limits the number of bad rows: it is a number, or a share of all rows such
// as "5%".
type Tolerance struct {
	Pos   source.Position
	count int64
	// millionths is the share in millionths of the rows, or -1 if a number was given.
	// Integers avoid rounding errors: 29 of 100 rows are never more than 29%.
	millionths int64
	text       string
}

var _ source.Unmarshaler = (*Tolerance)(nil)

// DecodeValue decodes an integer or a string such as "0.5%".
func (t *Tolerance) DecodeValue(v *source.Value) source.Diagnostics {
	const want = `a number of rows from 0, or a share such as "5%"`
	*t = Tolerance{Pos: v.Pos, millionths: -1}
	switch s := v.Scalar.(type) {
	case int64:
		if s >= 0 {
			t.count, t.text = s, strconv.FormatInt(s, 10)
			return nil
		}
	case string:
		number, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
		share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if ok && err == nil && share >= 0 && share <= 100 {
			t.millionths, t.text = int64(math.Round(share*10_000)), strings.TrimSpace(s)
			return nil
		}
	default:
		return source.WrongType(v, want)
	}
	var ds source.Diagnostics
	ds.Errorf(source.CodeBadValue, v.Pos, "want %s, found %s", want, v.Describe())
	return ds
}

// exceeded reports whether the limit is exceeded. A share can be checked only if all,
// the number of rows, is known.
func (t *Tolerance) exceeded(bad, all int64) bool {
	switch {
	case t == nil:
		return false
	case t.millionths < 0:
		return bad > t.count
	}
	return all > 0 && bad*1_000_000 > t.millionths*all
}

// share reports whether the tolerance is a share of the rows.
func (t *Tolerance) share() bool { return t != nil && t.millionths >= 0 }

// message returns the message for an exceeded limit.
func (t *Tolerance) message(bad, all int64) string {
	if t.share() {
		return fmt.Sprintf("%d of %d rows are bad, more than %s (max_failures)", bad, all, t.text)
	}
	return fmt.Sprintf("more than %s bad rows (max_failures)", t.text)
}
