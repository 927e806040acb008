package plan

import (
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Cache says how results of a node are kept for later runs.
type Cache struct {
	// TTL limits the age of a result that is used; 0 means no limit.
	TTL time.Duration
	// Key is the expression whose value identifies a result, or nil if the values that the node
	// reads identify it.
	Key *expressions.Program
	// Index, Round, Visit and Inputs report whether the result may depend on the index of the item
	// or row, on the round of the loop, on the number of the visit, and on inputs that are not part of
	// the arguments.
	Index, Round, Visit, Inputs bool
	// Files are the paths of the files that the node reads when it runs, as far as the document fixes
	// their names.
	Files []string
	// fixed is the part of the key that does not depend on the run.
	fixed *value.Object
}

// CacheDescription describes how results of a node are kept for later runs.
type CacheDescription struct {
	Key     string        `json:"key,omitempty"`
	TTL     time.Duration `json:"ttl_ns,omitempty"` // 0 if there is no limit
	Version string        `json:"version,omitempty"`
	// Now is what the store has, if that was looked up.
	Now *CacheForecast `json:"now,omitempty"`
}

// Statuses of a CacheForecast.
const (
	CacheHit     = "hit"     // the store has the result of each execution
	CachePartial = "partial" // it has results for some items, rows or rounds
	CacheMiss    = "miss"
	CacheUnknown = "unknown" // what the executions read depends on nodes that run
)

// CacheForecast is what a store has of the results of a node for a run with given inputs.
type CacheForecast struct {
	Status string `json:"status"`
	// Run is the run that made the oldest of the results that were found, and Age their greatest age.
	Run string        `json:"run,omitempty"`
	Age time.Duration `json:"age_ns,omitempty"`
	// Executions is the number of items, or 1. Hits is the number of executions that have a result.
	Executions int `json:"executions,omitempty"`
	Hits       int `json:"hits,omitempty"`
	// Why explains what is not known.
	Why string `json:"why,omitempty"`
}

func (n *Node) describeCache() *CacheDescription {
	c := n.Cache()
	if c == nil {
		return nil
	}
	d := n.Decl.Cache
	return &CacheDescription{Key: d.Key.Value, TTL: c.TTL, Version: d.Version.Value}
}

// CachedNodes returns the paths of the nodes with a cache, including nodes of nested workflows, in the order
// of the document.
func (p *Plan) CachedNodes() []string {
	var list []string
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Cache() != nil {
			list = append(list, n.ID)
		}
		if n.Frame != nil {
			for _, inner := range n.Frame.Plan.CachedNodes() {
				list = append(list, n.ID+"/"+inner)
			}
		}
	}
	return list
}

// cacheFormat is the version of the form of keys. Another one makes earlier results unused.
const cacheFormat = 1

// Of returns the key under which a result is kept. seen is what the execution depends on besides the
// definition of the node, in canonical form.
func (c *Cache) Of(seen *value.Object) string {
	key := value.NewObject(c.fixed.Len() + seen.Len())
	for _, part := range []*value.Object{c.fixed, seen} {
		for name, v := range part.All() {
			key.Set(name, v)
		}
	}
	return Digest(key)
}

// cache compiles the setting of a node.
func (c *compiler) cache(n *Node, d *core.Node, at place, use *References) {
	if d.Cache == nil {
		return
	}
	at = at.at("cache")
	if d.Cache.TTL != nil && d.Cache.TTL.Value <= 0 {
		c.ds.Errorf(source.CodeBadValue, d.Cache.TTL.Pos, "%s: ttl: want more than 0, got %s", at, d.Cache.TTL.Value)
	}
	x := &Cache{}
	if d.Cache.TTL != nil {
		x.TTL = d.Cache.TTL.Value
	}
	if d.Cache.Key.Value != "" {
		scope := c.scope(c.nodeRoots)
		scope.Item = c.nodeItem
		x.Key = c.expression(d.Cache.Key, scope, at.at("key"), use)
	}
	if d.Incomplete() || c.invalid.nodes != nil && c.invalid.nodes[n.Index] {
		return
	}
	if why, hint := c.uncacheable(n); why != "" {
		c.ds.Errorf(source.CodeBadValue, d.Cache.Pos, "%s: %s", at, why).WithHint("%s", hint)
		return
	}
	c.fixCache(x, n)
	n.setRare().cache = x
}

// uncacheable says why the results of a node cannot be kept for later runs, "" if they can.
func (c *compiler) uncacheable(n *Node) (why, hint string) {
	_, makes := c.makes[n.Index]
	writes := n.replaces != core.ReplacesNothing || n.upserts || n.Stdout
	for i := range c.p.outputs {
		writes = writes || c.p.outputs[i].Node == n.Index
	}
	switch {
	case n.Asks:
		return "the answers of people are not kept for later runs", ""
	case n.Wait != nil:
		return "a wait has no result", ""
	case n.Frame != nil:
		return "the results of nested workflows are not kept", "set cache on the nodes of the nested workflow"
	case writes:
		return "the node writes files or tables, which a kept result would leave out", ""
	case makes:
		return "the node writes a stream, which is not kept", ""
	case n.Stdin:
		return "the node reads standard input, which its key cannot contain", ""
	case n.Effects:
		return "the node has effects outside of the run, which a kept result would leave out", "write effects: false if it has none"
	case n.Handler == nil && n.Lacks == "" && !c.p.Conventions.Late:
		return "the node runs nothing", ""
	}
	return "", ""
}

// cacheStreams rejects a cache on a node that reads a stream, because its elements are not part of the key. It is
// called when it is known which fields are streams.
func (c *compiler) cacheStreams(n *Node) {
	if n.Cache() != nil && len(n.Streams()) > 0 {
		c.ds.Errorf(source.CodeBadValue, n.Decl.Cache.Pos, "%s: the node reads a stream, whose rows its key cannot contain", nodePlace(n.ID).at("cache"))
	}
}

// fixCache sets what is known before the run.
func (c *compiler) fixCache(x *Cache, n *Node) {
	texts := append(c.promptsOf, value.JSON(n.Decl.Config.Plain()), value.JSON(n.Decl.Args.Plain()))
	mentions := func(words ...string) bool {
		for _, text := range texts {
			for _, word := range words {
				if strings.Contains(text, word) {
					return true
				}
			}
		}
		return c.opaque
	}
	x.Index, x.Round, x.Visit = mentions("$index"), mentions("$iter", "$loop"), mentions("$visits")
	x.Inputs = mentions("$input")
	for _, t := range c.p.inputs {
		if t.Node == n.Index && !t.Pattern && t.Name.Value != "" {
			x.Files = append(x.Files, t.Name.Value)
		}
	}
	writes := value.NewObject(len(n.Writes))
	for i, name := range n.Writes {
		writes.Set(name, typePrint(c.p.Schema.Fields[n.WriteFields[i]].Type))
	}
	config := value.ObjectOf("keys", n.Decl.Config.Plain(), "writes", writes)
	x.fixed = value.ObjectOf("v", int64(cacheFormat), "kind", n.Kind, "kind_version", n.Decl.Version.Value, "config", config, "version", n.Decl.Cache.Version.Value)
	if files := c.p.files[n.Index]; files != nil {
		x.fixed.Set("files", files)
	}
}
