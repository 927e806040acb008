package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	parquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// converter converts a value that is not null to the value of a row. reason says why it
// cannot be converted.
type converter func(v parquet.Value) (made any, reason string)

// converterOf returns the type of a leaf's values in rows, and their converter.
// declared is the type that the document declares, AnyType if there is none.
func converterOf(e *format.SchemaElement, declared value.TypeKind) (value.TypeKind, converter, error) {
	kind, convert, err := natural(e)
	switch {
	case err != nil:
		return kind, nil, err
	case declared == value.StringType && isBytes(e):
		return kind, texts(), nil
	case declared == value.AnyType, declared == kind, kind == value.AnyType:
		return kind, convert, nil
	case declared == value.StringType && kind != value.ArrayType && kind != value.ObjectType:
		return declared, asText(convert), nil
	case declared == value.NumberType && kind == value.IntegerType:
		return declared, asNumber(convert), nil
	case declared == value.NumberType && isDecimal(e):
		return declared, decimalNumber(convert), nil
	case declared == value.IntegerType && isDecimal(e) && e.Scale.V == 0:
		return declared, decimalInteger(convert), nil
	}
	return kind, nil, wrongType(kind.String(), declared)
}

func isDecimal(e *format.SchemaElement) bool {
	_, logical := e.LogicalType.Value.(*format.DecimalType)
	return logical || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal
}

// isBytes reports whether a leaf holds bytes without an annotation.
func isBytes(e *format.SchemaElement) bool {
	k := parquet.Kind(e.Type.V)
	return e.LogicalType.Value == nil && !e.ConvertedType.Valid && (k == parquet.ByteArray || k == parquet.FixedLenByteArray)
}

// natural is converterOf without a declared type.
func natural(e *format.SchemaElement) (value.TypeKind, converter, error) {
	switch t := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType:
		return value.StringType, texts(), nil
	case *format.JsonType:
		return value.AnyType, fromJSON, nil
	case *format.BsonType:
		return value.StringType, encoded, nil
	case *format.UUIDType:
		return value.StringType, uuid, nil
	case *format.Float16Type:
		return value.NumberType, float16, nil
	case *format.NullType:
		return value.AnyType, func(parquet.Value) (any, string) { return nil, "" }, nil
	case *format.DecimalType:
		return value.StringType, decimals(t.Scale), nil
	case *format.DateType:
		return value.StringType, dates(), nil
	case *format.TimeType:
		return value.StringType, times(t.Unit.Value), nil
	case *format.TimestampType:
		return value.StringType, timestamps(t.Unit.Value, t.IsAdjustedToUTC), nil
	case *format.IntType:
		return value.IntegerType, integers(!t.IsSigned), nil
	case *format.VariantType, *format.GeometryType, *format.GeographyType:
		return value.AnyType, nil, fmt.Errorf("the type %s is not read; select the other columns", t)
	}
	if e.ConvertedType.Valid {
		if kind, convert := converted(e); convert != nil {
			return kind, convert, nil
		}
	}
	return physical(e)
}

// converted handles the annotations of older files.
func converted(e *format.SchemaElement) (value.TypeKind, converter) {
	milli, micro := &format.MilliSeconds{}, &format.MicroSeconds{}
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum:
		return value.StringType, texts()
	case deprecated.Json:
		return value.AnyType, fromJSON
	case deprecated.Bson:
		return value.StringType, encoded
	case deprecated.Decimal:
		return value.StringType, decimals(e.Scale.V)
	case deprecated.Date:
		return value.StringType, dates()
	case deprecated.TimeMillis:
		return value.StringType, times(milli)
	case deprecated.TimeMicros:
		return value.StringType, times(micro)
	case deprecated.TimestampMillis:
		return value.StringType, timestamps(milli, true)
	case deprecated.TimestampMicros:
		return value.StringType, timestamps(micro, true)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return value.IntegerType, integers(true)
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return value.IntegerType, integers(false)
	}
	return value.AnyType, nil
}

// physical handles values without an annotation.
func physical(e *format.SchemaElement) (value.TypeKind, converter, error) {
	switch parquet.Kind(e.Type.V) {
	case parquet.Boolean:
		return value.BooleanType, func(v parquet.Value) (any, string) { return v.Boolean(), "" }, nil
	case parquet.Int32, parquet.Int64:
		return value.IntegerType, integers(false), nil
	case parquet.Int96:
		return value.StringType, int96, nil
	case parquet.Float:
		return value.NumberType, func(v parquet.Value) (any, string) { return number(float64(v.Float())) }, nil
	case parquet.Double:
		return value.NumberType, func(v parquet.Value) (any, string) { return number(v.Double()) }, nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return value.StringType, encoded, nil
	}
	return value.AnyType, nil, fmt.Errorf("the type %v is not read; select the other columns", parquet.Kind(e.Type.V))
}

// number returns a float. NaN, which means a missing value in many files, becomes null.
func number(f float64) (any, string) {
	switch {
	case math.IsNaN(f):
		return nil, ""
	case math.IsInf(f, 0):
		return nil, "infinity is not a number here"
	}
	return f, ""
}

func float16(v parquet.Value) (any, string) {
	b := v.ByteArray()
	if len(b) != 2 {
		return nil, "a FLOAT16 has two bytes"
	}
	bits := binary.LittleEndian.Uint16(b)
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	f := 0.0
	switch exponent {
	case 31:
		if f = math.Inf(1); fraction != 0 {
			f = math.NaN()
		}
	case 0:
		f = math.Ldexp(fraction, -24)
	default:
		f = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		f = -f
	}
	return number(f)
}

// integers converts integers. Repeated values are allocated once.
func integers(unsigned bool) converter {
	var memo table.Memo
	return func(v parquet.Value) (any, string) {
		n := int64(0)
		switch {
		case v.Kind() == parquet.Int64:
			n = v.Int64()
			if unsigned && n < 0 {
				return nil, strconv.FormatUint(uint64(n), 10) + " does not fit 64 bits with a sign"
			}
		case unsigned:
			n = int64(uint32(v.Int32()))
		default:
			n = int64(v.Int32())
		}
		return memo.Integer(n), ""
	}
}

// texts converts strings. Repeated strings are allocated once.
func texts() converter {
	var memo table.Memo
	return func(v parquet.Value) (any, string) {
		b := v.ByteArray()
		if !utf8.Valid(b) {
			return nil, "the text is not UTF-8"
		}
		return memo.Bytes(b), ""
	}
}

func encoded(v parquet.Value) (any, string) {
	return base64.StdEncoding.EncodeToString(v.ByteArray()), ""
}

func uuid(v parquet.Value) (any, string) {
	b := v.ByteArray()
	if len(b) != 16 {
		return nil, "a UUID has 16 bytes"
	}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], ""
}

func fromJSON(v parquet.Value) (any, string) {
	made, err := table.ParseJSON(v.ByteArray())
	if err != nil {
		return nil, "the JSON cannot be read: " + err.Error()
	}
	return made, ""
}

// decimals formats decimals with all their digits.
func decimals(scale int32) converter {
	return func(v parquet.Value) (any, string) {
		n := new(big.Int)
		switch v.Kind() {
		case parquet.Int32:
			n.SetInt64(int64(v.Int32()))
		case parquet.Int64:
			n.SetInt64(v.Int64())
		default: // two's complement, most significant byte first
			b := v.ByteArray()
			n.SetBytes(b)
			if len(b) > 0 && b[0] >= 0x80 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		if scale <= 0 || scale > 1000 {
			return n.String(), ""
		}
		digits := new(big.Int).Abs(n).String()
		if short := int(scale) + 1 - len(digits); short > 0 {
			digits = strings.Repeat("0", short) + digits
		}
		point := len(digits) - int(scale)
		sign := ""
		if n.Sign() < 0 {
			sign = "-"
		}
		return sign + digits[:point] + "." + digits[point:], ""
	}
}

// recent caches formatted dates and times by their number, because a table has many
// rows of the same day.
type recent struct {
	numbers [256]int64
	texts   [256]any
}

func (r *recent) text(n int64, write func(n int64) string) any {
	slot := uint64(n) * 0x9e3779b97f4a7c15 >> 56
	if r.texts[slot] == nil || r.numbers[slot] != n {
		r.numbers[slot], r.texts[slot] = n, write(n)
	}
	return r.texts[slot]
}

func dates() converter {
	var r recent
	return func(v parquet.Value) (any, string) {
		return r.text(int64(v.Int32()), func(days int64) string { return time.Unix(days*86400, 0).UTC().Format(time.DateOnly) }), ""
	}
}

// unitsOf returns the number of time units in a second.
func unitsOf(u format.TimeUnitValue) int64 {
	if u == nil {
		return int64(time.Second / time.Microsecond)
	}
	return int64(time.Second / u.Duration())
}

func times(u format.TimeUnitValue) converter {
	var r recent
	units := unitsOf(u)
	return func(v parquet.Value) (any, string) {
		n := v.Int64()
		if v.Kind() == parquet.Int32 {
			n = int64(v.Int32())
		}
		return r.text(n, func(n int64) string { return moment(n, units).Format("15:04:05.999999999") }), ""
	}
}

// timestamps formats points in time with a Z, and local times without.
func timestamps(u format.TimeUnitValue, utc bool) converter {
	var r recent
	units, layout := unitsOf(u), "2006-01-02T15:04:05.999999999"
	if utc {
		layout += "Z"
	}
	return func(v parquet.Value) (any, string) {
		return r.text(v.Int64(), func(n int64) string { return moment(n, units).Format(layout) }), ""
	}
}

// moment returns the time that is n units after the start of 1970; units is the number
// of units in a second.
func moment(n, units int64) time.Time {
	seconds, rest := n/units, n%units
	if rest < 0 {
		seconds, rest = seconds-1, rest+units
	}
	return time.Unix(seconds, rest*(int64(time.Second)/units)).UTC()
}

// int96 converts the timestamps of old files: the nanoseconds of the day, and the
// Julian day number.
func int96(v parquet.Value) (any, string) {
	const epoch = 2440588 // 1970-01-01
	i := v.Int96()
	nanos := int64(i[1])<<32 | int64(i[0])
	return time.Unix((int64(i[2])-epoch)*86400, nanos).UTC().Format(time.RFC3339Nano), ""
}

// asText formats numbers and booleans as strings.
func asText(convert converter) converter {
	return func(v parquet.Value) (any, string) {
		made, reason := convert(v)
		if made == nil {
			return nil, reason
		}
		return value.JSON(made), ""
	}
}

// asNumber converts integers to floats, if a float can hold them exactly.
func asNumber(convert converter) converter {
	return func(v parquet.Value) (any, string) {
		made, reason := convert(v)
		n, ok := made.(int64)
		if !ok {
			return nil, reason
		}
		if f := float64(n); f < 1<<63 && int64(f) == n {
			return f, ""
		}
		return nil, fmt.Sprintf("no number holds %d exactly; declare the column as integer", n)
	}
}

func decimalNumber(convert converter) converter {
	return func(v parquet.Value) (any, string) {
		made, _ := convert(v)
		f, err := strconv.ParseFloat(made.(string), 64)
		if err != nil {
			return nil, err.Error()
		}
		return f, ""
	}
}

func decimalInteger(convert converter) converter {
	return func(v parquet.Value) (any, string) {
		made, _ := convert(v)
		n, err := strconv.ParseInt(made.(string), 10, 64)
		if err != nil {
			return nil, err.Error()
		}
		return n, ""
	}
}
