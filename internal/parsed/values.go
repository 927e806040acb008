package parsed

import (
	"fmt"
	"math"
	"reflect"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// What a position has besides its line and column.
const (
	otherFile = 1 << iota // the name of its file, which is not that of the document
	inSegments
)

func encodePosition(e *encoder, v reflect.Value) {
	p := v.Interface().(source.Position)
	segments := p.Segments()
	var has uint64
	if p.File != e.file {
		has |= otherFile
	}
	if segments != nil {
		has |= inSegments
	}
	e.uint(has)
	if has&otherFile != 0 {
		e.string(p.File)
	}
	e.lines(p.Line, p.Column)
	if segments == nil {
		return
	}
	e.uint(uint64(len(segments)))
	for _, s := range segments {
		e.int(int64(s.Offset))
		e.lines(s.Line, s.Column)
	}
}

func decodePosition(d *decoder, v reflect.Value) {
	has := d.uint()
	p := source.Position{File: d.file}
	if has&otherFile != 0 {
		p.File = d.string()
	}
	p.Line, p.Column = d.lines()
	if has&inSegments != 0 {
		list := make([]source.Segment, d.length())
		for i := range list {
			list[i].Offset = int32(d.int())
			list[i].Line, list[i].Column = d.lines()
		}
		p = p.Written(list)
	}
	*v.Addr().Interface().(*source.Position) = p
}

// lines writes a line, as the distance to the one before it, and a column.
func (e *encoder) lines(line, column int32) {
	e.int(int64(line) - int64(e.line))
	e.int(int64(column))
	e.line = line
}

func (d *decoder) lines() (line, column int32) {
	d.line += int32(d.int())
	return d.line, int32(d.int())
}

// Kinds of values.
const (
	nullValue = iota
	missingValue
	falseValue
	trueValue
	intValue
	floatValue
	stringValue
	arrayValue
	nilArray
	objectValue
)

func encodeAny(e *encoder, v reflect.Value) { e.value(v.Interface()) }

func decodeAny(d *decoder, v reflect.Value) {
	switch x := d.value().(type) {
	case nil:
	case *value.Object:
		v.Set(reflect.ValueOf(x))
	default:
		if v.Kind() != reflect.Interface {
			d.fail() // a field of objects
			return
		}
		v.Set(reflect.ValueOf(x))
	}
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case nil:
		e.uint(nullValue)
	case bool:
		if v {
			e.uint(trueValue)
		} else {
			e.uint(falseValue)
		}
	case int64:
		e.uint(intValue)
		e.int(v)
	case float64:
		e.uint(floatValue)
		e.uint(math.Float64bits(v))
	case string:
		e.uint(stringValue)
		e.string(v)
	case []any:
		if v == nil {
			e.uint(nilArray)
			return
		}
		e.uint(arrayValue)
		e.uint(uint64(len(v)))
		for _, x := range v {
			e.value(x)
		}
	case *value.Object:
		e.uint(objectValue)
		e.uint(uint64(v.Len()))
		for k, x := range v.All() {
			e.string(k)
			e.value(x)
		}
	default:
		if value.IsMissing(v) {
			e.uint(missingValue)
			return
		}
		e.fail(fmt.Errorf("a value of %T has no parsed form", v))
	}
}

func (d *decoder) value() any {
	switch d.uint() {
	case nullValue:
		return nil
	case missingValue:
		return value.Missing
	case falseValue:
		return false
	case trueValue:
		return true
	case intValue:
		return d.int()
	case floatValue:
		return math.Float64frombits(d.uint())
	case stringValue:
		return d.string()
	case nilArray:
		return []any(nil)
	case arrayValue:
		list := make([]any, d.length())
		for i := range list {
			if !d.enter() {
				return nil
			}
			list[i] = d.value()
			d.depth--
		}
		return list
	case objectValue:
		n := d.length()
		o := value.NewObject(n)
		for range n {
			k := d.string()
			if !d.enter() {
				return nil
			}
			o.Set(k, d.value())
			d.depth--
		}
		return o
	}
	d.fail()
	return nil
}
