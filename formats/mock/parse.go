package mock

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Parse parses a mock file. It returns all findings at once, in the order of the file.
// It does not check whether the nodes and fields exist. The file is nil if the document
// cannot be parsed at all. If there are other errors, it holds what could be parsed.
func Parse(file string, data []byte) (*File, source.Diagnostics) {
	f := &File{}
	ds, ok := document.Decode(file, data, f)
	if !ok {
		return nil, ds.Sorted()
	}
	if f.Model != nil {
		for _, m := range f.Model.Run {
			if _, twice := f.Nodes.Get(m.Key.Value); twice {
				ds.Errorf(source.CodeDuplicate, m.Key.Pos, "model.run: node %q has its answers under nodes", m.Key.Value)
			}
		}
	}
	return f, ds.Sorted()
}

type answersPlain Answers

// DecodeValue decodes a list of at least one answer, or a single answer.
func (a *Answers) DecodeValue(v *source.Value) source.Diagnostics {
	ds := source.Decode(listOf(v), (*answersPlain)(a))
	if isEmpty(v) {
		ds.Errorf(source.CodeMissingKey, v.Pos, "want at least one answer").WithHint("write [{}] for a node that does nothing")
	}
	return ds
}

// listOf converts a single value to a list.
func listOf(v *source.Value) *source.Value {
	if v.Kind == source.ArrayValue || v.Kind == source.NullValue {
		return v
	}
	return &source.Value{Kind: source.ArrayValue, Pos: v.Pos, Items: []*source.Value{v}}
}

func isEmpty(v *source.Value) bool {
	return v.Kind == source.NullValue || v.Kind == source.ArrayValue && len(v.Items) == 0
}

type routesPlain Routes

// DecodeValue decodes a list of at least one decision, or a single decision.
func (r *Routes) DecodeValue(v *source.Value) source.Diagnostics {
	ds := source.Decode(listOf(v), (*routesPlain)(r))
	if isEmpty(v) {
		ds.Errorf(source.CodeMissingKey, v.Pos, "want at least one answer").WithHint("write %s when no condition holds", None)
	}
	return ds
}

type verdictsPlain Verdicts

// DecodeValue decodes a list of at least one answer of a condition, or a single one.
func (l *Verdicts) DecodeValue(v *source.Value) source.Diagnostics {
	ds := source.Decode(listOf(v), (*verdictsPlain)(l))
	if isEmpty(v) {
		ds.Errorf(source.CodeMissingKey, v.Pos, "want at least one answer")
	}
	return ds
}

// DecodeValue decodes true, false or panic.
func (d *Verdict) DecodeValue(v *source.Value) source.Diagnostics {
	d.Pos = v.Pos
	holds, ok := v.Scalar.(bool)
	if d.Holds, d.Panics = holds, v.Scalar == Panics; !ok && !d.Panics {
		return source.WrongType(v, "true, false or "+Panics)
	}
	return nil
}

type routePlain Route

// DecodeValue decodes the id of a node, none, a number, or a mapping.
func (r *Route) DecodeValue(v *source.Value) source.Diagnostics {
	r.Pos = v.Pos
	switch v.Kind {
	case source.StringValue:
		r.To = new(source.Text)
		return source.Decode(v, r.To)
	case source.IntValue:
		number, ds := count(v)
		r.Number = &number
		return ds
	case source.ObjectValue:
	default:
		return source.WrongType(v, "the id of a node, a number, none or a mapping")
	}
	ds := source.Decode(v, (*routePlain)(r))
	given := 0
	for _, is := range []bool{r.To != nil, r.Number != nil, r.Answer != nil, r.Error != nil} {
		if is {
			given++
		}
	}
	if given != 1 && len(ds) == 0 {
		ds.Errorf(source.CodeBadValue, v.Pos, "want one of to, number, answer and error, found %d of them", given)
	}
	return ds
}

type evalPlain Eval

// DecodeValue decodes true, false, or a mapping.
func (e *Eval) DecodeValue(v *source.Value) source.Diagnostics {
	e.Pos = v.Pos
	if pass, ok := v.Scalar.(bool); ok {
		e.Pass = pass
		return nil
	}
	if v.Kind != source.ObjectValue {
		return source.WrongType(v, "true, false or a mapping")
	}
	return source.Decode(v, (*evalPlain)(e))
}

// count decodes a number of at least 0.
func count(v *source.Value) (source.Int, source.Diagnostics) {
	n, ok := v.Scalar.(int64)
	if !ok || n < 0 {
		return source.Int{}, source.WrongType(v, "a whole number of at least 0")
	}
	return source.At(int(n), v.Pos), nil
}

// DecodeValue decodes a number or a mapping of numbers.
func (c *Counts) DecodeValue(v *source.Value) source.Diagnostics {
	if v.Kind != source.ObjectValue {
		n, ds := count(v)
		if ds == nil {
			*c = Counts{{Key: source.At(Total, v.Pos), Value: n}}
		}
		return ds
	}
	ds := source.Decode(v, (*source.Members[source.Int])(c))
	for _, m := range *c {
		if m.Value.Value < 0 {
			ds.Errorf(source.CodeBadValue, m.Value.Pos, "%s: want a whole number of at least 0, found %d", m.Key.Value, m.Value.Value)
		}
	}
	return ds
}

type answerPlain Answer

// DecodeValue decodes the mapping and rejects combinations of keys that contradict each
// other.
func (a *Answer) DecodeValue(v *source.Value) source.Diagnostics {
	ds := source.Decode(v, (*answerPlain)(a))
	a.Keys = v.Keys
	if a.Output != nil && (a.Delta != nil || a.EdgeOutput != nil) {
		ds.Errorf(source.CodeBadValue, a.Output.Pos, "output: it says what is written and sent; delta and edge_output do, too")
	}
	if a.Item != nil && a.Visit != nil {
		ds.Errorf(source.CodeBadValue, a.Visit.Pos, "visit: a call cannot be both an item and a visit")
	}
	if c := a.Category; c.Value != "" && a.Status.Value != core.Fail.String() && len(ds) == 0 {
		ds.Errorf(source.CodeBadValue, c.Pos, "category: only a call with status: fail has one").
			WithHint("an error has its own: error: {message: text, category: %s}", c.Value)
	}
	if a.Panic != nil && a.Error != nil {
		ds.Errorf(source.CodeBadValue, a.Panic.Pos, "panic: a call cannot both panic and return an error")
	}
	if len(ds) == 0 {
		ds = a.dropped()
	}
	return ds
}

// dropped reports keys that have no effect because another one decides the outcome.
func (a *Answer) dropped() (ds source.Diagnostics) {
	key, why := "", "a call that fails has no result"
	switch {
	case a.Human != nil:
		key, why = "human", "the gate makes its result of the answer of the person"
	case a.Error != nil:
		key = "error"
	case a.Panic != nil:
		key = "panic"
	default:
		return nil
	}
	with := []string{key, "item", "visit", "sleep"}
	for _, k := range a.Keys {
		if !slices.Contains(with, k.Value) {
			ds.Errorf(source.CodeBadValue, k.Pos, "%s: it has no effect next to %s: %s", k.Value, key, why)
		}
	}
	return ds
}

type mutationPlain Mutation

// DecodeValue decodes the mapping and rejects keys that the action does not have.
func (m *Mutation) DecodeValue(v *source.Value) source.Diagnostics {
	ds := source.Decode(v, (*mutationPlain)(m))
	if len(ds) > 0 {
		return ds
	}
	keys := []string{"from", "to"}
	switch m.Action.Value {
	case core.MutationAddNode:
		keys = []string{"config"}
	case core.MutationRemoveNode:
		keys = []string{"node"}
	}
	for _, k := range v.Keys {
		if k.Value != "action" && !slices.Contains(keys, k.Value) {
			ds.Errorf(source.CodeBadValue, k.Pos, "%s: %s has the keys action, %s", k.Value, m.Action.Value, strings.Join(keys, ", "))
		}
	}
	for _, key := range keys {
		if v.Get(key) == nil {
			ds.Errorf(source.CodeMissingKey, v.Pos, "%s needs the key %s", m.Action.Value, key)
		}
	}
	if m.Config != nil && m.Config.Kind != source.ObjectValue {
		return append(ds, source.WrongType(m.Config, "a mapping such as {name: extra, type: prompt}")...)
	}
	return ds
}

type errorPlain Error

// DecodeValue decodes the mapping, with Retryable true by default.
func (e *Error) DecodeValue(v *source.Value) source.Diagnostics {
	e.Retryable = true
	ds := source.Decode(v, (*errorPlain)(e))
	if v.Kind == source.StringValue {
		ds[0].WithHint("write {message: %q}", v.Scalar)
	}
	return ds
}

var stepText = lazyregexp.New(`^([^#\s]+)(?:#(0|[1-9][0-9]{0,8}))?$`)

// DecodeValue decodes a string such as fetch or score#3.
func (s *Step) DecodeValue(v *source.Value) source.Diagnostics {
	text, ok := v.Scalar.(string)
	if !ok {
		return source.WrongType(v, "a string such as fetch or score#3")
	}
	m := stepText.FindStringSubmatch(text)
	if m == nil {
		var ds source.Diagnostics
		ds.Errorf(source.CodeBadValue, v.Pos, "want a node such as fetch, or a node and an index such as score#3, found %s", v.Describe())
		return ds
	}
	s.Node, s.Pos = m[1], v.Pos
	if m[2] != "" {
		index, _ := strconv.Atoi(m[2]) // at most nine digits
		s.Index = core.Nth(index)
	}
	return nil
}
