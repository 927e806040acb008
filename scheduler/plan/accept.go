package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/state"
)

// Write is an accepted write: a field and the value in the form in which the field stores it.
type Write struct {
	Field int32
	Value any
}

// Accept checks the result of a handler against the node's write set and the types of its fields.
// It returns the writes in the order in which the node declares them. If it returns a failure, the
// attempt fails and nothing of the result counts, with one exception: if the result itself reports
// the status fail, that failure is returned together with the writes, if they are valid.
// The writes are appended to room, which is empty and may be nil.
func (p *Plan) Accept(n *Node, r *core.Result, room []Write) ([]Write, *core.Failure) {
	switch r.Status {
	case core.Skipped:
		if p.Conventions.Skips {
			break
		}
		return nil, &core.Failure{Class: core.ClassError, Message: "the handler returned status skipped, which is for nodes that are not executed", Permanent: true}
	case core.Fail:
		writes, fault := p.accept(n, r, room)
		if fault != nil {
			writes = nil
		}
		return writes, statusFailure(r)
	}
	return p.accept(n, r, room)
}

// statusFailure returns the failure of a node whose handler returned the status fail.
func statusFailure(r *core.Result) *core.Failure {
	f := &core.Failure{Class: core.ClassError, Message: "the handler returned status fail", Permanent: true}
	if r.Note != "" {
		f.Message = value.CutText(r.Note)
	}
	category := core.CategoryOfText(r.Note)
	if r.Routing != nil && r.Routing.Category != "" {
		category = r.Routing.Category
	}
	if category != core.Deterministic {
		f.Category = category
	}
	if r.Routing != nil {
		f.Signature = r.Routing.Signature
	}
	return f
}

func (p *Plan) accept(n *Node, r *core.Result, writes []Write) ([]Write, *core.Failure) {
	if p.open {
		return p.acceptOpen(n, r, writes)
	}
	if r.Routing != nil && len(r.Routing.Context) > 0 {
		w, fault := p.acceptContext(r.Routing.Context)
		if fault != nil {
			return nil, fault
		}
		writes = append(writes, w)
	}
	field, v, ok := r.SingleWrite()
	if !ok {
		return p.acceptAll(n, r.Writes(), writes)
	}
	i := slices.Index(n.Writes, field)
	if i < 0 {
		return nil, p.undeclared(n, r.Writes())
	}
	w, fault := p.acceptField(n, n.WriteFields[i], v)
	if fault != nil {
		return nil, fault
	}
	return append(writes, w), nil
}

// acceptContext combines the values for the context of a walk into one write.
func (p *Plan) acceptContext(values map[string]any) (Write, *core.Failure) {
	if !p.Conventions.Context {
		return Write{}, &core.Failure{Class: core.ClassWrite, Message: "the result sets values of the context, which this workflow does not have"}
	}
	v, err := value.Canonical(values)
	if err != nil {
		return Write{}, &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("context: %v", err), Cause: err}
	}
	return Write{Field: p.context, Value: v}, nil
}

// acceptAll appends the accepted writes of delta to writes.
func (p *Plan) acceptAll(n *Node, delta map[string]any, writes []Write) ([]Write, *core.Failure) {
	if len(delta) == 0 {
		return writes, nil
	}
	writes = slices.Grow(writes, len(delta))
	before := len(writes)
	for i, name := range n.Writes {
		v, ok := delta[name]
		if !ok {
			continue
		}
		w, fault := p.acceptField(n, n.WriteFields[i], v)
		if fault != nil {
			return nil, fault
		}
		writes = append(writes, w)
	}
	if len(writes)-before < len(delta) {
		return nil, p.undeclared(n, delta)
	}
	return writes, nil
}

// AcceptValue is Accept for the value that a ValueHandler returned.
func (p *Plan) AcceptValue(n *Node, v any) (Write, *core.Failure) {
	if p.open {
		return p.acceptMember(n, v)
	}
	return p.acceptField(n, n.WriteFields[0], v)
}

// AcceptItem is Accept for the value of an item that an items.Range has stored.
func (p *Plan) AcceptItem(n *Node, writes *state.ItemWrites, at int) *core.Failure {
	if err := writes.Accept(at); err != nil {
		return p.writeFailure(n.WriteFields[0], err)
	}
	return nil
}

func (p *Plan) writeFailure(field int32, err error) *core.Failure {
	return &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("write of %q: %v", p.Schema.Fields[field].Name, err)}
}

func (p *Plan) acceptField(n *Node, field int32, v any) (Write, *core.Failure) {
	accepted, err := p.AcceptField(n, field, v)
	if err != nil {
		return Write{}, p.writeFailure(field, err)
	}
	if len(n.rareData().rows) > 0 {
		if fault := p.Lacks(n, field, accepted); fault != nil {
			return Write{}, fault
		}
	}
	return Write{Field: field, Value: accepted}, nil
}

// AcceptField checks a value that a node writes and returns it in the form in which the field
// stores it. If the results of items are collected, the result of an item becomes a list of one
// element.
func (p *Plan) AcceptField(n *Node, field int32, v any) (any, error) {
	if field == n.Collect {
		return p.Schema.Fields[field].AcceptElement(v)
	}
	return p.Schema.Fields[field].Accept(v)
}

// Fits returns an error if the plan does not let a node write a value that a run has recorded: the node
// does not declare the field, or the field has another type.
func (p *Plan) Fits(n *Node, w Write) error {
	f := &p.Schema.Fields[w.Field]
	if p.Conventions.Context && w.Field == p.context {
		return nil
	}
	if !slices.Contains(n.WriteFields, w.Field) {
		return fmt.Errorf("it writes %q, which is not among the writes of the node", f.Name)
	}
	if _, err := f.Accept(w.Value); err != nil {
		return fmt.Errorf("it writes %q: %w", f.Name, err)
	}
	return nil
}

// undeclared returns the failure for a result that writes outside the write set. Its message names
// the line to add.
func (p *Plan) undeclared(n *Node, delta map[string]any) *core.Failure {
	var extra []string
	for name := range delta {
		if !slices.Contains(n.Writes, name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	msg := fmt.Sprintf("writes %q, which is not among its writes", extra[0])
	if _, ok := p.Schema.Index(extra[0]); !ok {
		msg = fmt.Sprintf("writes %q, which the state does not declare", extra[0])
	}
	lines := append(slices.Clone(n.Writes), extra...)
	msg += fmt.Sprintf("; add to node %s: writes: [%s]", n.ID, strings.Join(lines, ", "))
	if pos := p.placeOf(n).String(); pos != "" {
		msg += " (" + pos + ")"
	}
	return &core.Failure{Class: core.ClassWrite, Message: msg}
}
