package document

import (
	"github.com/wavefold/wavefold/core/source"
	"gopkg.in/yaml.v3"
)

// walker converts the library's tree.
type walker struct {
	src *yamlSource
	ds  source.Diagnostics
	// expanding holds the anchored nodes that are being expanded. expanded counts the
	// values created inside them.
	expanding []*yaml.Node
	expanded  int
	// stopped is set once a limit is exceeded; the rest of the tree is invalid.
	stopped bool
}

func (w *walker) errorf(code source.Code, n *yaml.Node, format string, args ...any) *source.Diagnostic {
	return w.ds.Errorf(code, w.src.at(n), format, args...)
}

func (w *walker) limit(n *yaml.Node, format string, args ...any) *source.Value {
	if !w.stopped {
		w.errorf(source.CodeLimit, n, format, args...)
		w.stopped = true
	}
	return &source.Value{}
}

func (w *walker) value(n *yaml.Node, depth int) *source.Value {
	if len(w.expanding) > 0 {
		w.expanded++
	}
	switch {
	case w.stopped:
		return &source.Value{}
	case depth > maxDepth:
		return w.limit(n, "document is nested deeper than %d", maxDepth)
	case w.expanded > maxExpanded:
		return w.limit(n, "aliases expand to more than %d values", maxExpanded)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.alias(n, depth)
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.SequenceNode:
		w.checkTag(n, "!!seq")
		out := &source.Value{Kind: source.ArrayValue, Pos: w.src.at(n)}
		out.Items = make([]*source.Value, 0, len(n.Content))
		for i, c := range n.Content {
			out.Items = append(out.Items, w.value(c, depth+1))
			w.release(n, i)
		}
		return out
	default:
		return w.scalar(n)
	}
}

// release drops an element of a node that has been converted: the library's tree of a large document takes
// more memory than the result.
func (w *walker) release(n *yaml.Node, i int) {
	if !w.src.aliased {
		n.Content[i] = nil
	}
}

// alias expands an alias. The position of the value is the alias. Positions inside the
// value are positions in the anchored original.
func (w *walker) alias(n *yaml.Node, depth int) *source.Value {
	for _, o := range w.expanding {
		if o == n.Alias {
			w.errorf(source.CodeSyntax, n, "alias *%s is inside of its own anchor", n.Value)
			return &source.Value{Pos: w.src.at(n), Lost: true}
		}
	}
	w.expanding = append(w.expanding, n.Alias)
	out := w.value(n.Alias, depth)
	w.expanding = w.expanding[:len(w.expanding)-1]
	if out.Kind == source.StringValue { // positions inside the string refer to the original
		out.Pos = w.src.at(n).Written(source.Segments(source.At(out.Scalar.(string), out.Pos)))
		return out
	}
	out.Pos = w.src.at(n)
	return out
}

func (w *walker) mapping(n *yaml.Node, depth int) *source.Value {
	w.checkTag(n, "!!map")
	out := &source.Value{Kind: source.ObjectValue, Pos: w.src.at(n)}
	written := make(map[string]source.Position, len(n.Content)/2)
	var merge *yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if isMerge(k) {
			if merge != nil {
				duplicate(&w.ds, source.At("<<", w.src.at(k)), w.src.at(merge))
			}
			merge = v
			continue
		}
		if name, ok := placeholder(n, k); ok {
			w.errorf(source.CodeSyntax, n, "{{%s}} is a placeholder, not a value", name).
				WithHint("replace it, or put it in quotes to make it a string")
			return &source.Value{Pos: out.Pos, Lost: true}
		}
		key, ok := w.key(k)
		if !ok {
			// A key that is a number cannot be a misspelling of another key. A list or
			// mapping may have been intended as any key.
			out.Lost = out.Lost || k.Kind != yaml.ScalarNode
			continue
		}
		if first, ok := written[key.Value]; ok {
			duplicate(&w.ds, key, first)
			continue
		}
		written[key.Value] = key.Pos
		out.Set(key, w.value(v, depth+1))
		w.release(n, i)
		w.release(n, i+1)
	}
	if merge != nil {
		w.merge(out, written, merge, depth)
	}
	return out
}

func duplicate(ds *source.Diagnostics, key source.Text, first source.Position) {
	ds.Errorf(source.CodeDuplicateKey, key.Pos, "key %q appears twice", key.Value).
		WithHint("the first one is on line %d", first.Line)
}

// isMerge reports whether a key is an unquoted <<.
func isMerge(k *yaml.Node) bool { return k.Kind == yaml.ScalarNode && k.Tag == "!!merge" }

// merge adds the keys of the mapping of a <<, or of a list of mappings, that out does
// not have. They come after the keys that are written in out.
func (w *walker) merge(out *source.Value, have map[string]source.Position, n *yaml.Node, depth int) {
	from := w.value(n, depth)
	sources := []*source.Value{from}
	if from.Kind == source.ArrayValue {
		sources = from.Items
	}
	for _, s := range sources {
		out.Lost = out.Lost || s.Lost
		if s.Kind != source.ObjectValue {
			if !s.Lost {
				w.ds.Errorf(source.CodeWrongType, s.Pos, "<<: want a mapping or a list of mappings, found %s", s.Describe())
			}
			out.Lost = true
			continue
		}
		for i, k := range s.Keys {
			if _, ok := have[k.Value]; !ok {
				have[k.Value] = k.Pos
				out.Set(k, s.Values[i])
			}
		}
	}
}

// key converts the key of a pair.
func (w *walker) key(k *yaml.Node) (source.Text, bool) {
	pos := w.src.at(k)
	if k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode {
		w.ds.Errorf(source.CodeWrongType, pos, "a key must be a string, found a list or mapping")
		return source.Text{}, false
	}
	if len(k.Value) > maxKey {
		w.limit(k, "key has %d bytes, at most %d are read", len(k.Value), maxKey)
		return source.Text{}, false
	}
	if v := w.scalar(k); v.Lost {
		return source.Text{}, false
	} else if v.Kind != source.StringValue {
		w.ds.Errorf(source.CodeWrongType, pos, "a key must be a string, found %s", v.Describe()).
			WithHint("write %q", k.Value)
		return source.Text{}, false
	}
	return source.At(k.Value, pos), true
}

// placeholder recognises {{NAME}}, which YAML parses as a mapping whose key is a
// mapping.
func placeholder(m, k *yaml.Node) (name string, ok bool) {
	if k.Kind != yaml.MappingNode || m.Style&yaml.FlowStyle == 0 || k.Style&yaml.FlowStyle == 0 ||
		len(k.Content) != 2 || k.Content[0].Kind != yaml.ScalarNode || k.Content[1].Value != "" {
		return "", false
	}
	return k.Content[0].Value, true
}
