package native

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// node sets n to a node of a dag.
func (p *parser) node(n *core.Node, d *nodeShape) {
	p.nodeKeys(n, &d.nodeHead, &d.nodeRun, &d.nodeTail)
	n.Join, n.Priority = d.Join.join(d.Race), d.Priority
	if f := d.ForEach; f != nil {
		n.ForEach = &core.ForEach{Source: f.Source, Concurrency: f.Concurrency, MaxFailures: f.MaxFailures, Collect: f.Collect, Lost: f.Lost, Pos: f.Pos}
	}
	p.checkKeys(n, d)
}

// nodeKeys sets n to a node with the keys that nodes of all modes have.
func (p *parser) nodeKeys(n *core.Node, d *nodeHead, run *nodeRun, tail *nodeTail) {
	*n = core.Node{
		ID:          d.ID,
		Kind:        d.Kind,
		Phase:       d.Phase,
		Description: d.Description,
		Reads:       d.Reads,
		Writes:      d.Writes,
		HasWrites:   d.Writes != nil,
		Args:        d.Args.tree,
		Config:      tail.Config,
		OnError:     (*core.OnError)(run.OnError),
		Timeout:     run.Timeout,
		Pause:       run.Pause,
		Cache:       (*core.Cache)(run.Cache),
		Effects:     tail.Effects,
		Version:     tail.Version,
		Lost:        tail.Lost,
		Pos:         tail.Pos,

		AllowPartial: run.Partial,
		AutoStatus:   run.Auto,
	}
	if n.Config == nil { // the node is not a mapping, which has been reported
		n.Config = &source.Value{Kind: source.ObjectValue, Pos: tail.Pos}
	}
}

// keysOf returns the keys of a kind; ok is false if the kind does not exist.
func (p *parser) keysOf(kind string) (keys []string, ok bool) {
	if keys, ok = p.keys[kind]; ok {
		return keys, true
	}
	if keys, ok = p.opts.Kinds(kind); ok {
		if p.keys == nil {
			p.keys = map[string][]string{}
		}
		p.keys[kind] = keys
	}
	return keys, ok
}

// checkKeys checks the keys that are not common to all nodes of the shape, to which d
// points, against the keys of the kind. If the kind does not exist, the keys cannot be
// checked.
func (p *parser) checkKeys(n *core.Node, d any) {
	for i, v := range n.Config.Values {
		if !v.Whole() {
			n.Lost = append(n.Lost, n.Config.Keys[i].Value)
		}
	}
	if p.opts.Kinds == nil || n.Kind.Value == "" {
		return
	}
	kindKeys, ok := p.keysOf(n.Kind.Value)
	if !ok {
		return
	}
	unknown := func(k source.Text) bool { return !slices.Contains(kindKeys, k.Value) }
	if !slices.ContainsFunc(n.Config.Keys, unknown) {
		return
	}
	known := &source.Value{Kind: source.ObjectValue, Pos: n.Config.Pos}
	var meant []string
	for i, k := range n.Config.Keys {
		if !unknown(k) {
			known.Set(k, n.Config.Values[i])
			continue
		}
		all := slices.Concat(source.KeyNames(d), kindKeys)
		hint := otherForm(p.form, "node", k.Value)
		if hint == "" {
			hint = source.KeyHint(k.Value, all)
		}
		p.ds.Errorf(source.CodeUnknownKey, k.Pos, "%s: unknown key %q for kind %s", n.Subject(), k.Value, n.Kind.Value).WithHint("%s", hint)
		meant = append(meant, source.Intended(k.Value, all))
	}
	n.Config = known
	absent := source.Absent(d)
	for _, k := range meant {
		if slices.Contains(absent, k) || slices.Contains(kindKeys, k) && known.Get(k) == nil {
			n.Lost = append(n.Lost, k)
		}
	}
}

func retryPolicy(name source.Text, d retryShape) *core.RetryPolicy {
	d.Name = name
	return (*core.RetryPolicy)(&d)
}

func edge(d *edgeShape) core.Edge {
	e := core.Edge{From: d.From, To: d.To, On: d.On, Handles: d.Handles, Lost: d.Lost, Pos: d.Pos}
	if d.When.isElse() {
		e.Else = true
		return e
	}
	e.When = d.When.text
	return e
}

func incremental(d *incrementalShape) *core.Incremental {
	if d == nil {
		return nil
	}
	return &core.Incremental{File: d.File, Cursor: (*core.Cursor)(d.Cursor), Partitions: (*core.Partitions)(d.Partitions), Pos: d.Pos}
}

func pipeline(d pipelineShape) *core.Pipeline {
	return &core.Pipeline{
		ID:          d.ID,
		Items:       d.Items,
		Stages:      d.Stages,
		Concurrency: d.Concurrency,
		Batch:       d.Batch,
		Flush:       d.Flush,
		Phase:       d.Phase,
		OnError:     unitOnError(d.OnError),
		Lost:        d.Lost,
		Pos:         d.Pos,
	}
}

func loop(d loopShape) *core.Loop {
	return &core.Loop{
		ID:          d.ID,
		Body:        d.Body.ids,
		BodyIsList:  d.Body.isList,
		Until:       d.Until.text,
		MaxIters:    d.MaxIters,
		OnExhausted: d.OnExhausted,
		Phase:       d.Phase,
		OnError:     unitOnError(d.OnError),
		Lost:        d.Lost,
		Pos:         d.Pos,
	}
}

func unitOnError(d *unitOnErrorShape) *core.OnError {
	if d == nil {
		return nil
	}
	return &core.OnError{Policy: d.Policy, Lost: d.Lost, Pos: d.Pos}
}
