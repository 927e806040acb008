package transform

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// config is the configuration as it stands in a document.
type config struct {
	From  core.Text    `wavefold:"from" doc:"the table: a field, or an expression such as $.report.rows; by default the only declared read"`
	Into  core.Text    `wavefold:"into" doc:"the field for the result; by default the only declared write"`
	Steps []stepConfig `wavefold:"steps" doc:"what is done to the table, one step after the other"`
	simple
	Stream    bool          `wavefold:"stream" doc:"make a stream: one other node pulls the rows, which are never in the state"`
	MaxHeld   *core.Int     `wavefold:"max_held,min=1,max=2000000000" doc:"how many rows, groups or keys a step may hold back (default 10000000)"`
	MaxMemory setting.Bytes `wavefold:"max_memory" doc:"about how much memory a step may take for them, such as 512MB (default 1GB)"`
}

// simple holds the steps that may also stand on the node itself. A list or
// mapping that is there is not nil, even when it is empty.
type simple struct {
	Filter *core.Text              `wavefold:"filter" doc:"keep the rows for which the condition holds"`
	Map    core.Members[expr]      `wavefold:"map" doc:"make new rows of these columns: {name: expression}"`
	Derive core.Members[expr]      `wavefold:"derive" doc:"add or replace columns: {name: expression}"`
	Select []core.Text             `wavefold:"select,fixed" doc:"keep these columns, in this order"`
	Drop   []core.Text             `wavefold:"drop" doc:"leave these columns out"`
	Rename core.Members[core.Text] `wavefold:"rename,fixed" doc:"rename columns: {old: new}"`
	Group  *groupConfig            `wavefold:"group" doc:"one row for each group: {by: [columns], aggregate: {name: function}}"`
	Window *windowConfig           `wavefold:"window" doc:"add columns over the rows before: {by: [columns], columns: {name: function}}"`
	Sort   []core.Text             `wavefold:"sort" doc:"order by these columns; -column for descending"`
	Limit  *core.Int               `wavefold:"limit,min=0" doc:"keep the first rows"`
	Dedupe []core.Text             `wavefold:"dedupe" doc:"keep the first of the rows that are equal in these columns; [] for all columns"`
	table.CheckOptions
	AllowEmpty bool `wavefold:"allow_empty" doc:"with checks: all rows may be bad"`
}

// stepConfig is one element of steps. A join cannot stand on the node, where the
// key has another meaning.
type stepConfig struct {
	simple
	Join *joinConfig   `wavefold:"join" doc:"add columns of another table: {with, on, kind, prefix, take}"`
	Pos  core.Position `wavefold:",pos"`
}

type groupConfig struct {
	By        []core.Text             `wavefold:"by,fixed" doc:"the columns whose values make a group; none for one group of all rows"`
	Aggregate core.Members[core.Text] `wavefold:"aggregate,required" doc:"the columns of a group: {name: count}, {name: sum(column)} ..."`
	Pos       core.Position           `wavefold:",pos"`
}

type windowConfig struct {
	By      []core.Text             `wavefold:"by,fixed" doc:"the columns whose values make a partition; none for one of all rows"`
	Columns core.Members[core.Text] `wavefold:"columns,required" doc:"the columns that are added: {name: row_number}, {name: lag(column)}, {name: sum(column, rows)} ..."`
}

type joinConfig struct {
	With    core.Text     `wavefold:"with,required" doc:"the field that holds the other table"`
	On      onColumns     `wavefold:"on,required" doc:"the columns that must be equal: a name, a list, or {left: right}"`
	Kind    core.Text     `wavefold:"kind,oneof=inner|left" doc:"inner (default): only rows with a match; left: all rows"`
	Prefix  core.Text     `wavefold:"prefix,fixed" doc:"put before the names of the other table's columns"`
	Take    *takenColumns `wavefold:"take" doc:"the columns of the other table: a list, or {column: name}; by default all but those of on"`
	Match   core.Text     `wavefold:"match,oneof=all|first|one" doc:"of several matches take all (default) or the first; one: there must not be several"`
	MaxRows *core.Int     `wavefold:"max_rows,min=1" doc:"how many rows it may add (default 10000000)"`
	Pos     core.Position `wavefold:",pos"`
}

// expr is the text of an expression. A number, boolean or null stands for
// itself.
type expr struct{ core.Text }

// DecodeValue reads the text.
func (e *expr) DecodeValue(v *core.Value) core.Diagnostics {
	switch v.Kind {
	case core.StringValue:
		e.Text = core.At(v.Scalar.(string), v.Pos)
	case core.ArrayValue, core.ObjectValue:
		return core.WrongType(v, "an expression")
	default:
		e.Text = core.At(core.JSON(v.Plain()), v.Pos)
	}
	return nil
}

// takenColumns are columns and their names in the result.
type takenColumns struct{ from, to []core.Text }

// DecodeValue reads a list of columns, or a mapping from columns to names.
func (t *takenColumns) DecodeValue(v *core.Value) core.Diagnostics {
	const want = "a list of columns, or a mapping {column: name}"
	var ds core.Diagnostics
	switch v.Kind {
	case core.ArrayValue:
		var list []core.Text
		ds = core.Decode(v, &list)
		t.from = list
	case core.ObjectValue:
		t.from = v.Keys
		for _, name := range v.Values {
			s, ok := name.Scalar.(string)
			if !ok || s == "" {
				ds = append(ds, core.WrongType(name, "a name")...)
			}
			t.to = append(t.to, core.At(s, name.Pos))
		}
	default:
		return core.WrongType(v, want)
	}
	return ds
}

// onColumns are pairs of columns that must be equal.
type onColumns struct{ left, right []core.Text }

// DecodeValue reads a name, a list of names, or a mapping from left to right.
func (o *onColumns) DecodeValue(v *core.Value) core.Diagnostics {
	const want = "a column, a list of columns, or a mapping {left: right}"
	var ds core.Diagnostics
	add := func(left core.Text, v *core.Value) {
		right, ok := v.Scalar.(string)
		if !ok || right == "" {
			ds = append(ds, core.WrongType(v, want)...)
			return
		}
		if left.Value == "" {
			left = core.At(right, v.Pos)
		}
		o.left, o.right = append(o.left, left), append(o.right, core.At(right, v.Pos))
	}
	switch {
	case v.Kind == core.StringValue:
		add(core.Text{}, v)
	case v.Kind == core.ArrayValue && len(v.Items) > 0:
		for _, e := range v.Items {
			add(core.Text{}, e)
		}
	case v.Kind == core.ObjectValue && len(v.Keys) > 0:
		for i, k := range v.Keys {
			add(k, v.Values[i])
		}
	default:
		return core.WrongType(v, want)
	}
	return ds
}
