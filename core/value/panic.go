package value

import (
	"fmt"
	"reflect"
	"strings"
)

// MaxText is how many bytes of an error text, of the value of a panic or of a log line are
// kept.
const MaxText = 64 << 10

// CutText shortens a text to MaxText bytes and says how many are left out.
func CutText(s string) string {
	if len(s) <= MaxText {
		return s
	}
	head := strings.ToValidUTF8(s[:MaxText], "")
	return fmt.Sprintf("%s… (%d bytes are left out)", head, len(s)-len(head))
}

// PanicText words the value of a panic: the text of an error or of a fmt.Stringer, a value
// of a basic type as it is, and of any other value the type. Such a value may hold itself,
// and printing it would then never end. The method that gives the text is code of the user:
// its own panic is told, and not raised.
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
