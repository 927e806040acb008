package dot

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// unquotedValue parses an unquoted value; ok is false if the value needs quotes.
func unquotedValue(t token) (v attrValue, ok bool) {
	v.text.Value, v.text.Pos = t.text, t.pos
	_, isDuration := unitDuration(t.text)
	switch {
	case t.text == "true" || t.text == "false":
		v.kind = boolValue
		return v, true
	case isLetter(t.text[0]) || isDuration:
		v.kind = wordValue
		return v, true
	case !isNumber(t.text):
		return v, false
	}
	if n, err := strconv.ParseInt(t.text, 10, 64); err == nil {
		v.kind, v.integer = intValue, n
		return v, true
	}
	f, err := strconv.ParseFloat(t.text, 64)
	v.kind, v.float = floatValue, f
	return v, err == nil
}

// isNumber reports whether a string consists of digits with an optional minus sign and
// decimal point, such as 5, -0.5 or .5. A point at the end is not allowed.
func isNumber(s string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return isDigits(fraction) && isDigits(whole+fraction) || !point && isDigits(whole)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// units are the units of durations, ms before s.
var units = []struct {
	name string
	of   time.Duration
}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}}

// unitDuration parses a whole number with a unit, such as 250ms, 30s, 15m, 2h or 1d.
func unitDuration(s string) (time.Duration, bool) {
	for _, u := range units {
		if digits, ok := strings.CutSuffix(s, u.name); ok && isDigits(digits) {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || n > math.MaxInt64/int64(u.of) {
				return 0, false
			}
			return time.Duration(n) * u.of, true
		}
	}
	return 0, false
}

// asDuration converts the value to a duration. It accepts the syntax of unitDuration,
// Go's syntax (1h30m, quoted) and a number of seconds.
func (v attrValue) asDuration() (time.Duration, bool) {
	text := strings.TrimSpace(v.text.Value)
	if d, ok := unitDuration(text); ok {
		return d, true
	}
	if isNumber(text) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f < 0 || f > math.MaxInt64/float64(time.Second) {
			return 0, false
		}
		return time.Duration(math.Round(f * float64(time.Second))), true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// asBool converts the value to a boolean. The value may be quoted.
func (v attrValue) asBool() (b, ok bool) {
	text := strings.ToLower(strings.TrimSpace(v.text.Value))
	return text == "true", text == "true" || text == "false"
}

// asInt converts the value to an integer. The value may be quoted. Zeros after a
// decimal point are allowed.
func (v attrValue) asInt() (int, bool) {
	whole, behind, pointed := strings.Cut(strings.TrimSpace(v.text.Value), ".")
	if pointed && (behind == "" || strings.Trim(behind, "0") != "") {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 0)
	return int(n), err == nil
}

// describe formats the value for a message.
func (v attrValue) describe() string {
	switch v.kind {
	case boolValue, intValue, floatValue:
		return v.text.Value
	default:
		return "string " + quote(v.text.Value)
	}
}
