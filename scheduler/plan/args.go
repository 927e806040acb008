package plan

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/jsonpath"
)

// Args are the compiled arguments of a node: a tree of literals and of paths that are looked up
// again for each attempt.
type Args struct{ root argument }

// argument is a node of the tree. Exactly one of source, isList, keys and literal applies.
type argument struct {
	literal any
	source  *Source
	keys    []string
	members []argument
	isList  bool
}

// Resolve returns the arguments with the paths replaced by their values, which are shared with the
// state. If a path has no value, the member is left out of an object, and is null in a list. stop
// and the errors are as for Source.Value.
func (a *Args) Resolve(env expressions.Env, stop func() bool) (*value.Object, error) {
	if a == nil {
		return nil, nil
	}
	v, err := a.root.resolve(env, stop)
	if err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	o, _ := v.(*value.Object)
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
			if !value.IsMissing(v) {
				out[i] = v
			}
		}
		return out, nil
	case a.keys != nil:
		out := value.NewObject(len(a.keys))
		for i, k := range a.keys {
			v, err := a.members[i].resolve(env, stop)
			if err != nil {
				return nil, err
			}
			if !value.IsMissing(v) {
				out.Set(k, v)
			}
		}
		return out, nil
	}
	return a.literal, nil
}

// compileArgs compiles the tree and adds what its paths read to use.
func (c *compiler) compileArgs(v *source.Value, at place, use *References) *Args {
	if v == nil || v.Kind != source.ObjectValue {
		return nil
	}
	return &Args{root: c.argument(v, at, use)}
}

func (c *compiler) argument(v *source.Value, at place, use *References) argument {
	switch v.Kind {
	case source.ObjectValue:
		a := argument{keys: make([]string, len(v.Keys)), members: make([]argument, len(v.Keys))}
		for i, k := range v.Keys {
			a.keys[i], a.members[i] = k.Value, c.argument(v.Values[i], at.sub(k.Value), use)
		}
		return a
	case source.ArrayValue:
		a := argument{isList: true, members: make([]argument, len(v.Items))}
		for i, e := range v.Items {
			a.members[i] = c.argument(e, at, use)
		}
		return a
	case source.StringValue:
		return c.textArgument(v, at, use)
	}
	return argument{literal: v.Plain()}
}

func (c *compiler) textArgument(v *source.Value, at place, use *References) argument {
	text := v.Scalar.(string)
	if rest, ok := strings.CutPrefix(text, "$"); ok && beginsWithRoot(rest) {
		if path, doubtful := isPath(rest); path || doubtful || strings.HasPrefix(rest, "$.") {
			return argument{literal: rest}
		}
	}
	path, doubtful := isPath(text)
	if doubtful {
		c.ds.Warnf(source.CodeExprSyntax, v.Pos, "%s: %q begins like a path but is not one, so it is passed on as a string", at, text).
			WithHint(`correct what is in the brackets, or write "$%s" for the string`, text)
	}
	if !path {
		return argument{literal: text}
	}
	scope := c.scope(c.nodeRoots)
	scope.Item = c.nodeItem
	return argument{source: c.compileSource(source.At(text, v.Pos), scope, at, use)}
}

// pathRoots are the prefixes that make a string in args a path.
var pathRoots = []string{"$.", "$..", "$[", "$item", "$index", "$nodes.", "$input.", "$iter", "$loop"}

// isPath reports whether a string in args is a path. A path begins with a root and has no space
// outside brackets, so ordinary sentences stay literal, as do expressions that consist of more than
// a path. A string that was probably meant as a path but does not parse counts as a path, so that
// it is reported as an error. It is only doubtful if its brackets contain a space or are never
// closed.
func isPath(s string) (path, doubtful bool) {
	if !beginsWithRoot(s) {
		return false, false
	}
	blank, closed := brackets(s)
	if blank == outside {
		return false, false
	}
	t, err := expressions.Parse(s)
	if err == nil {
		_, ok := t.Path()
		return ok, false
	}
	if closed && (blank == nowhere || strings.Contains(s, "[?")) { // filters do not appear in prose
		return true, false
	}
	if path, _ := jsonpath.Compile(source.Text{Value: s}); path != nil && isJSONPath(s) {
		return true, false
	}
	return false, true
}

func beginsWithRoot(s string) bool {
	for _, root := range pathRoots {
		if rest, ok := strings.CutPrefix(s, root); ok {
			last := root[len(root)-1]
			return last == '.' || last == '[' || rest == "" || rest[0] == '.' || rest[0] == '['
		}
	}
	return false
}

// Places of spaces in a string.
const (
	nowhere = iota
	inside  // inside brackets
	outside
)

// brackets reports where a string has spaces, and whether its brackets are closed. Quotes have a
// meaning inside brackets only.
func brackets(s string) (blank int, closed bool) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0 && depth == 0:
			return outside, true
		case strings.IndexByte(" \t\r\n", c) >= 0:
			blank = inside
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case depth > 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			depth--
		}
	}
	return blank, depth == 0
}
