package core

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
)

// KindOf describes a kind of node whose configuration is a struct C with the tags that
// Decode reads. NewKind makes the kind.
type KindOf[C any] struct {
	// Name is the word that documents use, such as "command".
	Name string
	// Doc says in one sentence what a node of the kind does. It is part of the JSON Schema
	// of documents.
	Doc string
	// WritesState marks a kind whose nodes are rarely useful unless they write state, see
	// StateWriter.
	WritesState bool
	// Defaults returns the configuration of a node that sets none of the keys. If Defaults
	// is nil, it is the zero C.
	Defaults func() C
	// Before, if it is not nil, is called before the configuration is decoded. If done is
	// true, its results become the node's results; otherwise its diagnostics are reported
	// together with the diagnostics of decoding.
	Before func(n *Node, env Env) (made Compiled, done bool, ds source.Diagnostics)
	// Compile compiles a node whose configuration is free of errors. It runs nothing and
	// writes nothing.
	Compile func(n *Node, env Env, c *C) (Compiled, source.Diagnostics)
	// Partial says that Compile also accepts a configuration with errors, so that all of them
	// are reported at once. n.Lost lists the keys that could not be read; they are not in
	// n.Config and have their defaults in C. Of the findings, only errors about names, files
	// and expressions are reported. Of the results, only the references are used, so Compile
	// returns them also after an error.
	Partial bool
}

// NewKind returns the kind that k describes. Its keys are the fields of C. Diagnostics of
// decoding begin with the subject of the node ("node load: ..."), see Node.Subject. NewKind
// panics if k has no name or no Compile function. The tags of C are read when they are
// needed, because most programs use few kinds; Keys and Compile panic if one is malformed.
func NewKind[C any](k KindOf[C]) Kind {
	if k.Name == "" || k.Compile == nil {
		panic("core.NewKind: a kind needs a name and a Compile function")
	}
	if k.Defaults == nil {
		k.Defaults = func() (c C) { return c }
	}
	return &structKind[C]{k}
}

// structKind is a kind that NewKind has made.
type structKind[C any] struct{ is KindOf[C] }

var (
	_ StateWriter    = (*structKind[struct{}])(nil)
	_ DocumentedKind = (*structKind[struct{}])(nil)
)

// Name returns the name of the kind.
func (k *structKind[C]) Name() string { return k.is.Name }

// Doc returns the description of the kind.
func (k *structKind[C]) Doc() string { return k.is.Doc }

// Keys lists the kind's own keys.
func (k *structKind[C]) Keys() []string { return source.KeyNames(k.is.Defaults()) }

// WritesState reports whether nodes of the kind are expected to write state.
func (k *structKind[C]) WritesState() bool { return k.is.WritesState }

// Compile decodes the configuration of a node and compiles the node.
func (k *structKind[C]) Compile(n *Node, env Env) (Compiled, source.Diagnostics) {
	var early source.Diagnostics
	if k.is.Before != nil {
		made, done, found := k.is.Before(n, env)
		if done {
			return made, found
		}
		early = found
	}
	c := k.is.Defaults()
	lost, ds := env.Shapes.DecodeFor(n.Subject(), n.Config, n.Lost, &c)
	if ds = append(ds, early...); ds.Failed(false) || n.Incomplete() {
		return k.compilePart(n, env, lost, ds)
	}
	made, found := k.is.Compile(n, env, &c)
	return made, append(ds, found...)
}

// compilePart compiles a node with the part of its configuration that could be read, for the
// findings about it. If other keys of the node are lost, any finding may follow from that.
func (k *structKind[C]) compilePart(n *Node, env Env, lost source.Lost, ds source.Diagnostics) (Compiled, source.Diagnostics) {
	keys := k.Keys()
	other := func(key string) bool { return usedByKind(key) && !slices.Contains(keys, key) }
	if !k.is.Partial || slices.ContainsFunc(n.Lost, other) {
		return Compiled{}, ds
	}
	part := *n
	part.Lost, part.Config = lost, n.Config.Without(lost)
	c := k.is.Defaults()
	source.Decode(part.Config, &c) // the findings have been reported
	made, found := k.is.Compile(&part, env, &c)
	for _, d := range found {
		if d.Severity == source.Error && slices.Contains(namingCodes, d.Code) {
			ds = append(ds, d)
		}
	}
	return Compiled{Reads: made.Reads, Nodes: made.Nodes, OptionalNodes: made.OptionalNodes, Missing: made.Missing}, ds
}

// namingCodes are the codes of errors about what one key says, whatever other keys say.
var namingCodes = []source.Code{source.CodeUnknownField, source.CodeUnknownNode, source.CodeUnknownImpl, source.CodeMissingFile,
	source.CodeExprName, source.CodeExprSyntax, source.CodeExprType}
