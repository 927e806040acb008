package mock

import (
	"regexp"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/document"
)

// Parse reads a mock file. All findings are returned at once, in the order of the
// file; whether the nodes and fields exist is not looked at. The file is nil when the
// text cannot be read at all; beside other errors it holds what could be read.
func Parse(file string, data []byte) (*File, core.Diagnostics) {
	f := &File{}
	ds, ok := document.Decode(file, data, f)
	if !ok {
		return nil, ds.Sorted()
	}
	return f, ds.Sorted()
}

type answersPlain Answers

// DecodeValue reads a list that holds at least one answer.
func (a *Answers) DecodeValue(v *core.Value) core.Diagnostics {
	ds := core.Decode(v, (*answersPlain)(a))
	if v.Kind == core.NullValue || v.Kind == core.ArrayValue && len(v.Items) == 0 {
		ds.Errorf(core.CodeMissingKey, v.Pos, "want at least one answer").WithHint("write [{}] for a node that does nothing")
	}
	return ds
}

type answerPlain Answer

// DecodeValue reads the mapping; a call that panics returns no error.
func (a *Answer) DecodeValue(v *core.Value) core.Diagnostics {
	ds := core.Decode(v, (*answerPlain)(a))
	if a.Item != nil && a.Visit != nil {
		ds.Errorf(core.CodeBadValue, a.Visit.Pos, "visit: a call cannot be both an item and a visit")
	}
	if a.Panic != nil && a.Error != nil {
		ds.Errorf(core.CodeBadValue, a.Panic.Pos, "panic: a call cannot both panic and return an error")
	}
	return ds
}

type errorPlain Error

// DecodeValue reads the mapping with its default.
func (e *Error) DecodeValue(v *core.Value) core.Diagnostics {
	e.Retryable = true
	ds := core.Decode(v, (*errorPlain)(e))
	if v.Kind == core.StringValue {
		ds[0].WithHint("write {message: %q}", v.Scalar)
	}
	return ds
}

var stepText = regexp.MustCompile(`^([^#\s]+)(?:#(0|[1-9][0-9]{0,8}))?$`)

// DecodeValue reads a text such as fetch or score#3.
func (s *Step) DecodeValue(v *core.Value) core.Diagnostics {
	text, ok := v.Scalar.(string)
	if !ok {
		return core.WrongType(v, "a text such as fetch or score#3")
	}
	m := stepText.FindStringSubmatch(text)
	if m == nil {
		var ds core.Diagnostics
		ds.Errorf(core.CodeBadValue, v.Pos, "want a node such as fetch, or a node and an index such as score#3, found %s", v.Describe())
		return ds
	}
	s.Node, s.Pos = m[1], v.Pos
	if m[2] != "" {
		index, _ := strconv.Atoi(m[2]) // at most nine digits
		s.Index = core.Nth(index)
	}
	return nil
}
