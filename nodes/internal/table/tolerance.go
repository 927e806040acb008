package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// Tolerance is how many bad rows are tolerated: a number, or a share of all rows
// such as "5%".
type Tolerance struct {
	Pos   source.Position
	count int64
	// millionths is the share, in millionths of the rows; -1 when a number was
	// given. Whole numbers keep 29 of 100 from being more than 29%.
	millionths int64
	text       string
}

var _ source.Unmarshaler = (*Tolerance)(nil)

// DecodeValue reads a whole number or a text such as "0.5%".
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

// exceeded reports whether so many bad rows among all are too many. A share is
// known at the end only, all then being the number of rows.
func (t *Tolerance) exceeded(bad, all int64) bool {
	switch {
	case t == nil:
		return false
	case t.millionths < 0:
		return bad > t.count
	}
	return all > 0 && bad*1_000_000 > t.millionths*all
}

// share reports whether the tolerance is a share.
func (t *Tolerance) share() bool { return t != nil && t.millionths >= 0 }

// refuse says that there were too many.
func (t *Tolerance) refuse(bad, all int64) string {
	if t.share() {
		return fmt.Sprintf("%d of %d rows are bad, more than %s (max_failures)", bad, all, t.text)
	}
	return fmt.Sprintf("more than %s bad rows (max_failures)", t.text)
}
