package value

import (
	"fmt"
	"reflect"
	"strings"
)

// MaxText limits the length, in bytes, of an error message, of the text of a panic and of a
// log line.
const MaxText = 64 << 10

// CutText truncates a string to MaxText bytes and appends the number of bytes that were
// left out.
func CutText(s string) string {
	if len(s) <= MaxText {
		return s
	}
	head := strings.ToValidUTF8(s[:MaxText], "")
	return fmt.Sprintf("%s… (%d bytes are left out)", head, len(s)-len(head))
}

// PanicText formats the value of a panic: the message of an error, the string of a
// fmt.Stringer, or a value of a basic type. For any other value it returns the type,
// because printing a value that contains itself would never end. Error and String methods
// are user code: if they panic, the text says so.
func PanicText(p any) (text string) {
	defer func() {
		if again := recover(); again != nil {
			text = fmt.Sprintf("a value of type %T, whose string cannot be printed because the method panics, too", p)
		}
	}()
	switch p := p.(type) {
	case nil:
		return "nil"
	case error:
		return CutText(p.Error())
	case fmt.Stringer:
		return CutText(p.String())
	}
	switch v := reflect.ValueOf(p); v.Kind() {
	case reflect.String:
		return CutText(v.String())
	case reflect.Bool:
		return fmt.Sprint(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprint(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprint(v.Uint())
	case reflect.Float32, reflect.Float64:
		return fmt.Sprint(v.Float())
	case reflect.Complex64, reflect.Complex128:
		return fmt.Sprint(v.Complex())
	}
	return fmt.Sprintf("a value of type %T", p)
}
