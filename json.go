package wavefold

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// decode returns a run-time value as a T. A value that is a T already is returned as
// it is, shared with whoever holds it; anything else goes through JSON, as values do
// that come from documents, files or other programs.
func decode[T any](v any) (T, error) {
	if x, ok := v.(T); ok {
		return x, nil
	}
	var x T
	err := decodeInto(v, &x)
	return x, err
}

// decodeInto fills what into points to from a value's JSON form.
func decodeInto(v, into any) error {
	data, err := core.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s does not fit %s: %w", core.TypeName(v), reflect.TypeOf(into).Elem(), err)
	}
	return nil
}

// badInput makes an error about what a function was to be given. Another attempt would
// be given the same.
func badInput(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &core.Failure{Class: core.ClassInput, Permanent: true, Message: err.Error(), Cause: err}
}
