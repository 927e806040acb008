package plan

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/jsonpath"
)

// Args are the compiled arguments of a node: a tree of literals in which texts
// that were paths are looked up anew for each attempt.
type Args struct{ root argument }

// argument is one part of the tree. Exactly one of the fields decides.
type argument struct {
	literal any
	source  *Source
	keys    []string
	members []argument
	isList  bool
}

// Resolve returns the arguments with their paths replaced by values, which are
// shared with the state. A member whose path leads nowhere is left out; in a
// list it is null.
func (a *Args) Resolve(env expressions.Env) *core.Object {
	if a == nil {
		return nil
	}
	o, _ := a.root.resolve(env).(*core.Object)
	return o
}

func (a *argument) resolve(env expressions.Env) any {
	switch {
	case a.source != nil:
		return a.source.Value(env)
	case a.isList:
		out := make([]any, len(a.members))
		for i := range a.members {
			if v := a.members[i].resolve(env); !core.IsMissing(v) {
				out[i] = v
			}
		}
		return out
	case a.keys != nil:
		out := core.NewObject(len(a.keys))
		for i, k := range a.keys {
			if v := a.members[i].resolve(env); !core.IsMissing(v) {
				out.Set(k, v)
			}
		}
		return out
	}
	return a.literal
}

// compileArgs compiles the tree and collects what its paths read.
func (c *compiler) compileArgs(v *core.Value, scope expressions.Scope, subject string, use *uses) *Args {
	if v == nil || v.Kind != core.ObjectValue {
		return nil
	}
	return &Args{root: c.argument(v, scope, subject, use)}
}

func (c *compiler) argument(v *core.Value, scope expressions.Scope, subject string, use *uses) argument {
	switch v.Kind {
	case core.ObjectValue:
		a := argument{keys: []string{}}
		for i, k := range v.Keys {
			a.keys = append(a.keys, k.Value)
			a.members = append(a.members, c.argument(v.Values[i], scope, subject+"."+k.Value, use))
		}
		return a
	case core.ArrayValue:
		a := argument{isList: true}
		for _, e := range v.Items {
			a.members = append(a.members, c.argument(e, scope, subject, use))
		}
		return a
	case core.StringValue:
		return c.textArgument(v, scope, subject, use)
	}
	return argument{literal: v.Plain()}
}

func (c *compiler) textArgument(v *core.Value, scope expressions.Scope, subject string, use *uses) argument {
	text := v.Scalar.(string)
	if rest, ok := strings.CutPrefix(text, "$$"); ok {
		return argument{literal: "$" + rest}
	}
	if !isPath(text) {
		return argument{literal: text}
	}
	return argument{source: c.compileSource(core.At(text, v.Pos), scope, subject, use)}
}

// pathRoots are the beginnings that make a text in args a path.
var pathRoots = []string{"$.", "$..", "$[", "$item", "$index", "$nodes.", "$input.", "$iter", "$loop"}

// isPath reports whether a text is exactly a path: it begins with a root and
// holds no blank, so that ordinary sentences stay literal.
func isPath(s string) bool {
	for _, root := range pathRoots {
		if rest, ok := strings.CutPrefix(s, root); ok {
			last := root[len(root)-1]
			wordEnds := last == '.' || last == '[' || rest == "" || rest[0] == '.' || rest[0] == '['
			return wordEnds && (strings.ContainsAny(s, "?(*'\"") || !strings.ContainsAny(s, " \t\n"))
		}
	}
	return false
}

// Source is a path to a value: an expression of our language or, where that
// does not reach, a JSONPath. A JSONPath always gives the list of its matches.
type Source struct {
	Text    core.Text
	program *expressions.Program
	path    *jsonpath.Path
	field   int // of path
}

// Value looks the source up.
func (s *Source) Value(env expressions.Env) any {
	if s.program != nil {
		return s.program.Value(env)
	}
	v := env.Field(s.field)
	if core.IsMissing(v) {
		return v
	}
	return s.path.All(core.ObjectOf(s.path.Root(), v))
}

// Type returns the static type of the source, AnyType when it is not known.
func (s *Source) Type() core.TypeKind {
	if s.program != nil {
		return s.program.Type()
	}
	return core.ArrayType
}

// compileSource compiles a path; after an error it returns nil.
func (c *compiler) compileSource(text core.Text, scope expressions.Scope, subject string, use *uses) *Source {
	s := &Source{Text: text}
	if isJSONPath(text.Value) {
		path, ds := jsonpath.Compile(text)
		c.ds = append(c.ds, ds...)
		if ds.Failed(false) {
			return nil
		}
		i, ok := c.fieldIndex(core.At(path.Root(), text.Pos), subject)
		if !ok {
			return nil
		}
		s.path, s.field = path, i
		use.field(int32(i))
		return s
	}
	p, ds := expressions.Compile(text, scope, subject)
	c.ds = append(c.ds, ds...)
	if ds.Failed(false) {
		return nil
	}
	s.program = p
	use.program(p)
	return s
}

// isJSONPath reports whether a text needs the full grammar of JSONPath.
func isJSONPath(s string) bool {
	return strings.HasPrefix(s, "$") && (strings.Contains(s, "..") || strings.Contains(s, "[*]") ||
		strings.Contains(s, ".*") || strings.Contains(s, "[?") || strings.Contains(s, ":"))
}
