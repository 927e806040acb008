package plan

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/template"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// overlap compiles which runs of the workflow do not run at the same time.
func (c *compiler) overlap(r *core.Runtime) {
	word := r.Overlap
	if o := core.Overlap(word.Value); word.Value != "" && !slices.Contains(core.Overlaps(), o) {
		c.ds.Errorf(source.CodeBadValue, word.Pos, "runtime.overlap: unknown word %q", word.Value).WithHint("%s", message.Near(word.Value, overlapWords()))
	}
	if r.ConcurrencyKey.Value == "" {
		if word.Value != "" {
			c.ds.Errorf(source.CodeMissingKey, word.Pos, "runtime.overlap: it needs runtime.concurrency_key, which names the runs that must not overlap")
		}
		return
	}
	c.prompts = append(c.prompts, r.ConcurrencyKey.Value)
	t, ds := template.Compile(r.ConcurrencyKey, c.scope(expressions.RootInput), "runtime.concurrency_key")
	c.ds = append(c.ds, ds...)
	if t == nil {
		return
	}
	for _, name := range append(t.Names(), t.Fields()...) { // the state does not exist before the run
		c.ds.Errorf(source.CodeExprName, r.ConcurrencyKey.Pos, "runtime.concurrency_key: %s names no input", name).WithHint("write {{$input.%s}}", name)
	}
	c.p.key, c.p.Overlap = t, core.Overlap(word.Value)
	if c.p.Overlap == "" {
		c.p.Overlap = core.OverlapQueue
	}
}

func overlapWords() (list []string) {
	for _, o := range core.Overlaps() {
		list = append(list, string(o))
	}
	return list
}

// ConcurrencyKey returns the key of a run with the given inputs, which are complete: runs with the
// same key do not run at the same time. It is "" if all runs may.
func (p *Plan) ConcurrencyKey(inputs *value.Object) (string, error) {
	if p.key == nil {
		return "", nil
	}
	key, err := p.key.Render(template.Values{MapEnv: expressions.MapEnv{Inputs: inputs}}.On(p.key))
	if err == nil && key == "" {
		err = fmt.Errorf("%s: the concurrency key is empty", p.key.Source())
	}
	return key, err
}

// HasConcurrencyKey reports whether runs have concurrency keys.
func (p *Plan) HasConcurrencyKey() bool { return p.key != nil }
