package plan

import (
	"errors"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/jsonpath"
)

// Source is a path to a value: an expression of our language or, if that cannot express it, a
// JSONPath. The value of a JSONPath is always the list of its matches.
type Source struct {
	Text    source.Text
	program *expressions.Program
	path    *jsonpath.Path
	field   int    // of path
	by      string // subject of messages about the path
	// declared lists the columns of the field that are declared, so that all rows may lack them.
	declared []string
	// aloneReads and aloneRefs are the results of Alone.
	aloneReads, aloneRefs []int32
}

// Alone returns the indexes of the Reads and NodeRefs of a fan-out that only its source refers to.
// The execution of an item does not see them.
func (s *Source) Alone() (reads, refs []int32) { return s.aloneReads, s.aloneRefs }

// Value evaluates the source. stop and the errors are as for jsonpath.Path.From, except that
// exceeding a limit is a core.Failure of class input, which is not retried.
func (s *Source) Value(env expressions.Env, stop func() bool) (any, error) {
	if s.program != nil {
		return s.program.Value(env), nil
	}
	v := env.Field(s.field)
	if value.IsMissing(v) {
		return v, nil
	}
	matches, err := s.path.From(v, stop)
	if limit, ok := errors.AsType[*jsonpath.LimitError](err); ok {
		return nil, &core.Failure{Class: core.ClassInput, Permanent: true, Message: limit.Error(), Cause: err}
	}
	return matches, err
}

// Absent returns an error if the filter of a JSONPath tests a column that no element of the array
// has, although it is not declared. It runs no user code.
func (s *Source) Absent(env expressions.Env) error {
	if s.path == nil {
		return nil
	}
	return s.path.Absent(env.Field(s.field), s.by, s.declared)
}

// Reads returns the fields and nodes that the source refers to.
func (s *Source) Reads() (fields, nodes []int) {
	if s.program != nil {
		return s.program.FieldSlots(), s.program.Nodes()
	}
	return []int{s.field}, nil
}

// Type returns the static type of the source, AnyType if it is not known.
func (s *Source) Type() value.TypeKind {
	if s.program != nil {
		return s.program.Type()
	}
	return value.ArrayType
}

// broken reports whether the source replaces one that could not be compiled.
func (s *Source) broken() bool { return s != nil && s.program == nil && s.path == nil }

// Whole returns the field whose whole value the source is, such as $.orders. ok is false for
// anything else.
func (s *Source) Whole() (field int, ok bool) {
	if s == nil || s.program == nil {
		return 0, false
	}
	path, ok := s.program.Tree().Path()
	if !ok || path.Root != expressions.RootState || len(path.Steps) != 1 {
		return 0, false
	}
	return s.program.FieldSlots()[0], true
}

// compileSource compiles a path. It returns nil after an error.
func (c *compiler) compileSource(text source.Text, scope expressions.Scope, at place, use *References) *Source {
	s := &Source{Text: text}
	tree, err := expressions.Parse(text.Value)
	if err != nil && isJSONPath(text.Value) {
		return c.jsonPath(s, at, use)
	}
	if err != nil {
		c.expression(text, scope, at, use) // reports the error
		return nil
	}
	if s.program = c.expressionTree(tree, text, scope, at, use); s.program == nil {
		return nil
	}
	return s
}

func (c *compiler) jsonPath(s *Source, at place, use *References) *Source {
	path, ds := jsonpath.Compile(c.openPath(s.Text))
	for i := range ds {
		ds[i].Message = at.String() + ": " + ds[i].Message
	}
	c.ds = append(c.ds, ds...)
	if path == nil {
		c.invalid.references = true
		return nil
	}
	i, ok := c.fieldIndex(source.At(path.Root(), rootPos(s.Text, path.Root())), at)
	if !ok {
		c.invalid.references = true
		return nil
	}
	t := c.p.Schema.Fields[i].Type
	known := c.columns(path.Root())
	for _, column := range path.Columns(t != nil && t.Kind == value.ObjectType) {
		switch {
		case !known.Closed:
			known.Read(source.ColumnRead{Column: column.Text, By: at.String(), HeaderOnly: column.HeaderOnly})
		case !known.Has(column.Value):
			expressions.NoColumn(&c.ds, column.Pos, at.String(), column.Value, known.Names)
		}
	}
	for _, member := range path.Members() {
		c.readAnywhere(path.Root(), source.ColumnRead{Column: member, By: at.String()})
	}
	s.path, s.field = path, int(i)
	s.by, s.declared = at.String(), slices.Concat(known.Names, known.Optional)
	use.Fields = append(use.Fields, i)
	return s
}

// rootPos returns the position in a path of the field that it begins with.
func rootPos(text source.Text, root string) source.Position {
	return source.Inside(text, max(0, strings.Index(text.Value, root)))
}

// isJSONPath reports whether a string that is not an expression looks like a JSONPath.
func isJSONPath(s string) bool {
	if !strings.HasPrefix(s, "$") {
		return false
	}
	return strings.Contains(s, "..") || strings.Contains(s, ".*") || strings.Contains(s, "[") && strings.ContainsAny(s, "*?:,")
}
