package plan

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
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
// list it is null. stop and the errors are those of Source.Value.
func (a *Args) Resolve(env expressions.Env, stop func() bool) (*core.Object, error) {
	if a == nil {
		return nil, nil
	}
	v, err := a.root.resolve(env, stop)
	if err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	o, _ := v.(*core.Object)
	return o, nil
}

func (a *argument) resolve(env expressions.Env, stop func() bool) (any, error) {
	switch {
	case a.source != nil:
		return a.source.Value(env, stop)
	case a.isList:
		out := make([]any, len(a.members))
		for i := range a.members {
			v, err := a.members[i].resolve(env, stop)
			if err != nil {
				return nil, err
			}
			if !core.IsMissing(v) {
				out[i] = v
			}
		}
		return out, nil
	case a.keys != nil:
		out := core.NewObject(len(a.keys))
		for i, k := range a.keys {
			v, err := a.members[i].resolve(env, stop)
			if err != nil {
				return nil, err
			}
			if !core.IsMissing(v) {
				out.Set(k, v)
			}
		}
		return out, nil
	}
	return a.literal, nil
}

// compileArgs compiles the tree and collects what its paths read.
func (c *compiler) compileArgs(v *core.Value, at place, use *uses) *Args {
	if v == nil || v.Kind != core.ObjectValue {
		return nil
	}
	return &Args{root: c.argument(v, at, use)}
}

func (c *compiler) argument(v *core.Value, at place, use *uses) argument {
	switch v.Kind {
	case core.ObjectValue:
		a := argument{keys: make([]string, len(v.Keys)), members: make([]argument, len(v.Keys))}
		for i, k := range v.Keys {
			a.keys[i], a.members[i] = k.Value, c.argument(v.Values[i], at.sub(k.Value), use)
		}
		return a
	case core.ArrayValue:
		a := argument{isList: true, members: make([]argument, len(v.Items))}
		for i, e := range v.Items {
			a.members[i] = c.argument(e, at, use)
		}
		return a
	case core.StringValue:
		return c.textArgument(v, at, use)
	}
	return argument{literal: v.Plain()}
}

func (c *compiler) textArgument(v *core.Value, at place, use *uses) argument {
	text := v.Scalar.(string)
	if rest, ok := strings.CutPrefix(text, "$"); ok && (strings.HasPrefix(rest, "$.") || isPath(rest)) {
		return argument{literal: rest}
	}
	if !isPath(text) {
		return argument{literal: text}
	}
	scope := c.scope(c.nodeRoots)
	scope.ItemColumns = c.nodeItem.All()
	return argument{source: c.compileSource(core.At(text, v.Pos), scope, at, use)}
}

// pathRoots are the beginnings that make a text in args a path.
var pathRoots = []string{"$.", "$..", "$[", "$item", "$index", "$nodes.", "$input.", "$iter", "$loop"}

// isPath reports whether a text is exactly a path: it begins with a root and
// holds no blank, so that ordinary sentences stay literal; and it is not an
// expression made of more than a path, which stays literal too.
func isPath(s string) bool {
	for _, root := range pathRoots {
		if rest, ok := strings.CutPrefix(s, root); ok {
			last := root[len(root)-1]
			wordEnds := last == '.' || last == '[' || rest == "" || rest[0] == '.' || rest[0] == '['
			if !wordEnds || strings.ContainsAny(s, " \t\n") && !strings.ContainsAny(s, "?(*'\"") {
				return false
			}
			t, err := expressions.Parse(s)
			if err != nil {
				return true // a JSONPath, or a slip that is worth an error
			}
			_, ok := t.Path()
			return ok
		}
	}
	return false
}
