package setting

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// UnusedWrites warns of the declared writes of a node that it never fills: all but filled.
// Each message begins with the node and why, such as "a sink writes no state".
func UnusedWrites(n *core.Node, why string, filled ...string) source.Diagnostics {
	var ds source.Diagnostics
	for _, w := range n.Writes {
		if !slices.Contains(filled, w.Value) {
			ds.Warnf(source.CodeUnused, w.Pos, "%s: %s, field %q stays as it is", n.Subject(), why, w.Value)
		}
	}
	return ds
}

// Hints for UnusedArgs.
const (
	// NoArgs is the hint for a kind that takes no args.
	NoArgs = "remove it: a node of this kind takes no args"
	// ArgsInFileNames is the hint for a kind whose only templates are names of files.
	ArgsInFileNames = "names of files are templates and may contain {{NAME}}; expressions read $.field, $input.name and $item"
)

// UnusedArgs warns of the args of a node that nothing reads: all but read, the plain names in
// its templates. The hint says how a node of the kind reads args.
func UnusedArgs(n *core.Node, hint string, read ...string) source.Diagnostics {
	var ds source.Diagnostics
	if n.Args == nil {
		return nil
	}
	for _, k := range n.Args.Keys {
		if !slices.Contains(read, k.Value) {
			ds.Warnf(source.CodeUnused, k.Pos, "%s: args: nothing reads %q", n.Subject(), k.Value).WithHint("%s", hint)
		}
	}
	return ds
}

// NoEffect warns of keys in the configuration of a node that have no effect on something,
// such as "a HEAD request".
func NoEffect(n *core.Node, on string, keys ...string) source.Diagnostics {
	var ds source.Diagnostics
	for _, key := range keys {
		if v := n.Config.Get(key); v != nil {
			ds.Warnf(source.CodeIgnored, v.Pos, "%s: %s: has no effect on %s", n.Subject(), key, on)
		}
	}
	return ds
}
