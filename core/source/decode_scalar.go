package source

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// Describe describes a value in a message by its shape and, if it is a scalar, its
// shortened text.
func (v *Value) Describe() string {
	if v == nil {
		return "nothing"
	}
	switch v.Kind {
	case NullValue:
		return "nothing"
	case ArrayValue:
		return "a list"
	case ObjectValue:
		return "a mapping"
	case StringValue:
		return "string " + strconv.Quote(shorten(v.Scalar.(string), 40))
	case BoolValue:
		return "boolean " + value.JSON(v.Scalar)
	default:
		return "number " + value.JSON(v.Scalar)
	}
}

// shorten truncates a string to at most n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-3]) + "..."
}

// WrongType returns the finding of an Unmarshaler whose value has the wrong type.
func WrongType(v *Value, want string) Diagnostics {
	var ds Diagnostics
	ds.Errorf(CodeWrongType, v.Pos, "want %s, found %s", want, v.Describe())
	return ds
}

// scalar decodes a bool, string or number.
func (d *decoder) scalar(v *Value, dst reflect.Value, at *place, key *Key) {
	switch {
	case dst.Kind() == reflect.Bool:
		b, ok := v.Scalar.(bool)
		if !ok {
			d.wrongType(v, at, "true or false")
			return
		}
		dst.SetBool(b)
	case dst.Kind() == reflect.String:
		d.text(v, dst, at, key)
	case dst.CanInt() || dst.CanUint():
		d.whole(v, dst, at, key)
	case dst.CanFloat():
		d.float(v, dst, at, key)
	default:
		panic(fmt.Sprintf("core.Decode: cannot decode into %s", dst.Type()))
	}
}

func (d *decoder) text(v *Value, dst reflect.Value, at *place, key *Key) {
	s, ok := v.Scalar.(string)
	if !ok {
		f := d.wrongType(v, at, wantText(key))
		if v.Kind == BoolValue || v.Kind == IntValue || v.Kind == FloatValue {
			f.WithHint("put it in quotes to make it a string")
		}
		return
	}
	if len(key.OneOf) > 0 && !slices.Contains(key.OneOf, s) {
		d.errorf(CodeBadValue, v.Pos, at, "%s is none of %s", strconv.Quote(shorten(s, 40)), strings.Join(key.OneOf, ", ")).
			WithHint("%s", DidYouMean(s, key.OneOf))
		return
	}
	if key.Fixed && strings.Contains(s, "{{") {
		d.errorf(CodeBadValue, v.Pos, at, "a template is not allowed here: %s is used as it is written", strconv.Quote(shorten(s, 40)))
		return
	}
	dst.SetString(s)
}

func wantText(key *Key) string {
	if len(key.OneOf) > 0 {
		return "one of " + strings.Join(key.OneOf, ", ")
	}
	return "a string"
}

func (d *decoder) whole(v *Value, dst reflect.Value, at *place, key *Key) {
	want := "a whole number" + bounds(key)
	n, ok := wholeNumber(v)
	if !ok {
		d.wrongType(v, at, want)
		return
	}
	fits := dst.CanInt() && !dst.OverflowInt(n) || dst.CanUint() && n >= 0 && !dst.OverflowUint(uint64(n))
	if !fits || !inside(n, key, parseInt) {
		d.errorf(CodeBadValue, v.Pos, at, "want %s, found %d", want, n)
		return
	}
	if dst.CanInt() {
		dst.SetInt(n)
		return
	}
	dst.SetUint(uint64(n))
}

// wholeNumber returns an integer, or a float without a fraction, which is an integer in
// JSON Schema, too.
func wholeNumber(v *Value) (int64, bool) {
	switch n := v.Scalar.(type) {
	case int64:
		return n, true
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<63 {
			return int64(n), true
		}
	}
	return 0, false
}

func (d *decoder) float(v *Value, dst reflect.Value, at *place, key *Key) {
	want := "a number" + bounds(key)
	f, ok := v.Scalar.(float64)
	if n, isInt := v.Scalar.(int64); isInt {
		f, ok = float64(n), true
	}
	if !ok {
		d.wrongType(v, at, want)
		return
	}
	if dst.OverflowFloat(f) || !inside(f, key, parseFloat) {
		d.errorf(CodeBadValue, v.Pos, at, "want %s, found %s", want, value.JSON(v.Scalar))
		return
	}
	dst.SetFloat(f)
}

// duration decodes a string such as "1.5s" or, with the option ms, a whole number of
// milliseconds. Without that option, a number is rejected, because its unit is not clear.
func (d *decoder) duration(v *Value, dst reflect.Value, at *place, key *Key) {
	want := `a duration such as "30s" or "1.5h"`
	if key.Millis {
		want = `a whole number of milliseconds or a duration such as "1.5s"`
	}
	var out time.Duration
	switch n := v.Scalar.(type) {
	case string:
		t, err := time.ParseDuration(n)
		if err != nil {
			d.errorf(CodeBadValue, v.Pos, at, "want %s, found %s", want, v.Describe())
			return
		}
		out = t
	case int64:
		if !key.Millis {
			d.wrongType(v, at, want).WithHint(`write "%ds" for seconds or "%dms" for milliseconds`, n, n)
			return
		}
		if n > math.MaxInt64/int64(time.Millisecond) || n < math.MinInt64/int64(time.Millisecond) {
			d.errorf(CodeBadValue, v.Pos, at, "%d milliseconds are too many", n)
			return
		}
		out = time.Duration(n) * time.Millisecond
	default:
		d.wrongType(v, at, want)
		return
	}
	if out < 0 && key.Min == "" || !inside(out, key, time.ParseDuration) {
		d.errorf(CodeBadValue, v.Pos, at, "want a duration%s, found %s", cmp.Or(bounds(key), " that is not negative"), v.Describe())
		return
	}
	dst.SetInt(int64(out))
}

// bounds formats the limits of a key for a message.
func bounds(key *Key) string {
	switch {
	case key.Min != "" && key.Max != "":
		return " from " + key.Min + " to " + key.Max
	case key.Min != "":
		return " of at least " + key.Min
	case key.Max != "":
		return " of at most " + key.Max
	default:
		return ""
	}
}

func parseInt(s string) (int64, error)     { return strconv.ParseInt(s, 10, 64) }
func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// inside reports whether n is within the limits of a key.
func inside[T cmp.Ordered](n T, key *Key, parse func(string) (T, error)) bool {
	limit := func(s string) T {
		t, err := parse(s)
		if err != nil {
			panic(fmt.Sprintf("core.Decode: key %q has a malformed limit %q", key.Name, s))
		}
		return t
	}
	return (key.Min == "" || n >= limit(key.Min)) && (key.Max == "" || n <= limit(key.Max))
}
