package mock

import (
	"regexp"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/document"
)

// Parse parses a mock file. It returns all findings at once, in the order of the file.
// It does not check whether the nodes and fields exist. The file is nil if the document
// cannot be parsed at all. If there are other errors, it holds what could be parsed.
func Parse(file string, data []byte) (*File, core.Diagnostics) {
	f := &File{}
	ds, ok := document.Decode(file, data, f)
	if !ok {
		return nil, ds.Sorted()
	}
	if f.Model != nil {
		for _, m := range f.Model.Run {
			if _, twice := f.Nodes.Get(m.Key.Value); twice {
				ds.Errorf(core.CodeDuplicate, m.Key.Pos, "model.run: node %q has its answers under nodes", m.Key.Value)
			}
		}
	}
	return f, ds.Sorted()
}

type answersPlain Answers

// DecodeValue decodes a list of at least one answer, or a single answer.
func (a *Answers) DecodeValue(v *core.Value) core.Diagnostics {
	ds := core.Decode(listOf(v), (*answersPlain)(a))
	if isEmpty(v) {
		ds.Errorf(core.CodeMissingKey, v.Pos, "want at least one answer").WithHint("write [{}] for a node that does nothing")
	}
	return ds
}

// listOf converts a single value to a list.
func listOf(v *core.Value) *core.Value {
	if v.Kind == core.ArrayValue || v.Kind == core.NullValue {
		return v
	}
	return &core.Value{Kind: core.ArrayValue, Pos: v.Pos, Items: []*core.Value{v}}
}

func isEmpty(v *core.Value) bool {
	return v.Kind == core.NullValue || v.Kind == core.ArrayValue && len(v.Items) == 0
}

type routesPlain Routes

// DecodeValue decodes a list of at least one decision, or a single decision.
func (r *Routes) DecodeValue(v *core.Value) core.Diagnostics {
	ds := core.Decode(listOf(v), (*routesPlain)(r))
	if isEmpty(v) {
		ds.Errorf(core.CodeMissingKey, v.Pos, "want at least one answer").WithHint("write %s when no condition holds", None)
	}
	return ds
}

type routePlain Route

// DecodeValue decodes the id of a node, none, a number, or a mapping.
func (r *Route) DecodeValue(v *core.Value) core.Diagnostics {
	r.Pos = v.Pos
	switch v.Kind {
	case core.StringValue:
		r.To = new(core.Text)
		return core.Decode(v, r.To)
	case core.IntValue:
		number, ds := count(v)
		r.Number = &number
		return ds
	case core.ObjectValue:
	default:
		return core.WrongType(v, "the id of a node, a number, none or a mapping")
	}
	ds := core.Decode(v, (*routePlain)(r))
	given := 0
	for _, is := range []bool{r.To != nil, r.Number != nil, r.Answer != nil, r.Error != nil} {
		if is {
			given++
		}
	}
	if given != 1 && len(ds) == 0 {
		ds.Errorf(core.CodeBadValue, v.Pos, "want one of to, number, answer and error, found %d of them", given)
	}
	return ds
}

type evalPlain Eval

// DecodeValue decodes true, false, or a mapping.
func (e *Eval) DecodeValue(v *core.Value) core.Diagnostics {
	e.Pos = v.Pos
	if pass, ok := v.Scalar.(bool); ok {
		e.Pass = pass
		return nil
	}
	if v.Kind != core.ObjectValue {
		return core.WrongType(v, "true, false or a mapping")
	}
	return core.Decode(v, (*evalPlain)(e))
}

// count decodes a number of at least 0.
func count(v *core.Value) (core.Int, core.Diagnostics) {
	n, ok := v.Scalar.(int64)
	if !ok || n < 0 {
		return core.Int{}, core.WrongType(v, "a whole number of at least 0")
	}
	return core.At(int(n), v.Pos), nil
}

// DecodeValue decodes a number or a mapping of numbers.
func (c *Counts) DecodeValue(v *core.Value) core.Diagnostics {
	if v.Kind != core.ObjectValue {
		n, ds := count(v)
		if ds == nil {
			*c = Counts{{Key: core.At(Total, v.Pos), Value: n}}
		}
		return ds
	}
	ds := core.Decode(v, (*core.Members[core.Int])(c))
	for _, m := range *c {
		if m.Value.Value < 0 {
			ds.Errorf(core.CodeBadValue, m.Value.Pos, "%s: want a whole number of at least 0, found %d", m.Key.Value, m.Value.Value)
		}
	}
	return ds
}

type answerPlain Answer

// DecodeValue decodes the mapping and rejects combinations of keys that contradict each
// other.
func (a *Answer) DecodeValue(v *core.Value) core.Diagnostics {
	ds := core.Decode(v, (*answerPlain)(a))
	if a.Output != nil && (a.Delta != nil || a.EdgeOutput != nil) {
		ds.Errorf(core.CodeBadValue, a.Output.Pos, "output: it says what is written and sent; delta and edge_output do, too")
	}
	if a.Item != nil && a.Visit != nil {
		ds.Errorf(core.CodeBadValue, a.Visit.Pos, "visit: a call cannot be both an item and a visit")
	}
	if c := a.Category; c.Value != "" && a.Status.Value != core.Fail.String() && len(ds) == 0 {
		ds.Errorf(core.CodeBadValue, c.Pos, "category: only a call with status: fail has one").
			WithHint("an error has its own: error: {message: text, category: %s}", c.Value)
	}
	if a.Panic != nil && a.Error != nil {
		ds.Errorf(core.CodeBadValue, a.Panic.Pos, "panic: a call cannot both panic and return an error")
	}
	return ds
}

type errorPlain Error

// DecodeValue decodes the mapping, with Retryable true by default.
func (e *Error) DecodeValue(v *core.Value) core.Diagnostics {
	e.Retryable = true
	ds := core.Decode(v, (*errorPlain)(e))
	if v.Kind == core.StringValue {
		ds[0].WithHint("write {message: %q}", v.Scalar)
	}
	return ds
}

var stepText = regexp.MustCompile(`^([^#\s]+)(?:#(0|[1-9][0-9]{0,8}))?$`)

// DecodeValue decodes a string such as fetch or score#3.
func (s *Step) DecodeValue(v *core.Value) core.Diagnostics {
	text, ok := v.Scalar.(string)
	if !ok {
		return core.WrongType(v, "a string such as fetch or score#3")
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
