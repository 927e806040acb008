package transform

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// config is the configuration of the node in the document.
type config struct {
	From  source.Text  `wavefold:"from" doc:"the table: a field, or an expression such as $.report.rows; by default the only declared read"`
	Into  source.Text  `wavefold:"into" doc:"the field for the result; by default the only declared write"`
	Steps []stepConfig `wavefold:"steps" doc:"what is done to the table, one step after the other"`
	simple
	Stream    bool          `wavefold:"stream" doc:"make a stream: one other node pulls the rows, which are never in the state"`
	MaxHeld   *source.Int   `wavefold:"max_held,min=1,max=2000000000" doc:"how many rows, groups or keys a step may hold back (default 10000000)"`
	MaxMemory setting.Bytes `wavefold:"max_memory" doc:"about how much memory a step may take for them, such as 512MB (default 1GB)"`
}

// simple holds the steps that are also allowed on the node itself. Lists and mappings
// that are present are not nil, even if they are empty.
type simple struct {
	Filter *source.Text                `wavefold:"filter" doc:"keep the rows for which the condition holds"`
	Map    source.Members[expr]        `wavefold:"map" doc:"make new rows of these columns: {name: expression}"`
	Derive source.Members[expr]        `wavefold:"derive" doc:"add or replace columns: {name: expression}"`
	Select []source.Text               `wavefold:"select,fixed" doc:"keep these columns, in this order"`
	Drop   []source.Text               `wavefold:"drop,fixed" doc:"leave these columns out"`
	Rename source.Members[source.Text] `wavefold:"rename,fixed" doc:"rename columns: {old: new}"`
	Group  *groupConfig                `wavefold:"group" doc:"one row for each group: {by: [columns], aggregate: {name: function}}"`
	Window *windowConfig               `wavefold:"window" doc:"add columns over the rows before: {by: [columns], columns: {name: function}}"`
	Sort   []source.Text               `wavefold:"sort,fixed" doc:"order by these columns; -column for descending"`
	Limit  *source.Int                 `wavefold:"limit,min=0" doc:"keep the first rows"`
	Dedupe []source.Text               `wavefold:"dedupe,fixed" doc:"keep the first of the rows that are equal in these columns; [] for all columns"`
	rowcheck.Options
	AllowEmpty bool `wavefold:"allow_empty" doc:"with checks: all rows may be bad"`
}

// stepConfig is one element of steps. A join is only allowed here, because on the node
// the key join has another meaning.
type stepConfig struct {
	simple
	Join *joinConfig     `wavefold:"join" doc:"add columns of another table: {with, on, kind, prefix, take}"`
	Lost source.Lost     `wavefold:",lost"`
	Pos  source.Position `wavefold:",pos"`
}

type groupConfig struct {
	By        []source.Text               `wavefold:"by,fixed" doc:"the columns whose values make a group; none for one group of all rows"`
	Aggregate source.Members[source.Text] `wavefold:"aggregate,required" doc:"the columns of a group: {name: count}, {name: sum(column)} ..."`
	Pos       source.Position             `wavefold:",pos"`
}

type windowConfig struct {
	By      []source.Text               `wavefold:"by,fixed" doc:"the columns whose values make a partition; none for one of all rows"`
	Columns source.Members[source.Text] `wavefold:"columns,required" doc:"the columns that are added: {name: row_number}, {name: lag(column)}, {name: sum(column, rows)} ..."`
}

type joinConfig struct {
	With    source.Text     `wavefold:"with,required" doc:"the field that holds the other table"`
	On      onColumns       `wavefold:"on,required" doc:"the columns that must be equal: a name, a list, or {left: right}"`
	Kind    source.Text     `wavefold:"kind,oneof=inner|left" doc:"inner (default): only rows with a match; left: all rows"`
	Prefix  source.Text     `wavefold:"prefix,fixed" doc:"put before the names of the other table's columns"`
	Take    *takenColumns   `wavefold:"take" doc:"the columns of the other table: a list, or {column: name}; by default all but those of on"`
	Match   source.Text     `wavefold:"match,oneof=all|first|one" doc:"of several matches take all (default) or the first; one: there must not be several"`
	MaxRows *source.Int     `wavefold:"max_rows,min=1" doc:"how many rows it may add (default 10000000)"`
	Pos     source.Position `wavefold:",pos"`
}

// expr is the source of an expression. A number, boolean or null is an expression for
// that value.
type expr struct{ source.Text }

// DecodeValue decodes the expression.
func (e *expr) DecodeValue(v *source.Value) source.Diagnostics {
	switch v.Kind {
	case source.StringValue:
		e.Text = source.At(v.Scalar.(string), v.Pos)
	case source.ArrayValue, source.ObjectValue:
		return source.WrongType(v, "an expression")
	default:
		e.Text = source.At(value.JSON(v.Plain()), v.Pos)
	}
	return nil
}

// takenColumns lists columns and their names in the result. to is nil if the columns
// were given as a list.
type takenColumns struct{ from, to []source.Text }

// DecodeValue decodes a list of columns, or a mapping from columns to names.
func (t *takenColumns) DecodeValue(v *source.Value) source.Diagnostics {
	const want = "a list of columns, or a mapping {column: name}"
	var ds source.Diagnostics
	switch v.Kind {
	case source.ArrayValue:
		var list []source.Text
		ds = append(source.Decode(v, &list), source.Fixed(list...)...)
		t.from = list
	case source.ObjectValue:
		t.from = v.Keys
		ds = append(ds, source.Fixed(v.Keys...)...)
		for _, name := range v.Values {
			s, ok := name.Scalar.(string)
			if !ok || s == "" {
				ds = append(ds, source.WrongType(name, "a name")...)
			}
			ds = append(ds, source.Fixed(source.At(s, name.Pos))...)
			t.to = append(t.to, source.At(s, name.Pos))
		}
	default:
		return source.WrongType(v, want)
	}
	return ds
}

// onColumns lists pairs of columns that must be equal.
type onColumns struct{ left, right []source.Text }

// DecodeValue decodes a name, a list of names, or a mapping from left to right.
func (o *onColumns) DecodeValue(v *source.Value) source.Diagnostics {
	const want = "a column, a list of columns, or a mapping {left: right}"
	var ds source.Diagnostics
	add := func(left source.Text, v *source.Value) {
		right, ok := v.Scalar.(string)
		if !ok || right == "" {
			ds = append(ds, source.WrongType(v, want)...)
			return
		}
		if left.Value == "" {
			left = source.At(right, v.Pos)
		}
		ds = append(ds, source.Fixed(left)...)
		if left.Value != right {
			ds = append(ds, source.Fixed(source.At(right, v.Pos))...)
		}
		o.left, o.right = append(o.left, left), append(o.right, source.At(right, v.Pos))
	}
	switch {
	case v.Kind == source.StringValue:
		add(source.Text{}, v)
	case v.Kind == source.ArrayValue && len(v.Items) > 0:
		for _, e := range v.Items {
			add(source.Text{}, e)
		}
	case v.Kind == source.ObjectValue && len(v.Keys) > 0:
		for i, k := range v.Keys {
			add(k, v.Values[i])
		}
	default:
		return source.WrongType(v, want)
	}
	return ds
}
