package machine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// anyJSON is a run-time value with a JSON form. Missing is an object with a mark as its only key,
// and an object that looks like a mark is wrapped in one.
type anyJSON struct{ v any }

const (
	markMissing = "$missing"
	markValue   = "$value"
)

// marked returns the only key of an object if it is a mark, else "".
func marked(v any) string {
	if o, ok := v.(*value.Object); ok && o.Len() == 1 {
		if k, _ := o.At(0); k == markMissing || k == markValue {
			return k
		}
	}
	return ""
}

// mark returns the value whose plain JSON form is the form of v.
func mark(v any) any {
	switch {
	case value.IsMissing(v):
		return value.ObjectOf(markMissing, true)
	case marked(v) != "":
		return value.ObjectOf(markValue, v)
	}
	return v
}

// unmark is the inverse of mark.
func unmark(v any) any {
	switch marked(v) {
	case markMissing:
		return value.Missing
	case markValue:
		_, v = v.(*value.Object).At(0)
	}
	return v
}

func (a anyJSON) MarshalJSON() ([]byte, error) { return value.AppendJSON(nil, mark(a.v)) }

func (a *anyJSON) UnmarshalJSON(data []byte) error {
	v, err := value.ParseJSON(data)
	a.v = unmark(v)
	return err
}

// outputJSON is an output as a list of at most one value, so that a null differs from no output.
type outputJSON []anyJSON

func wrap(list []any) []anyJSON {
	out := make([]anyJSON, len(list))
	for i, v := range list {
		out[i].v = v
	}
	return out
}

func unwrap(list []anyJSON) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i].v
	}
	return out
}

// commandJSON adds to a Command the name of its operation and its Call, whose form depends on the
// rest of the command.
type commandJSON struct {
	Op string `json:"op"`
	Command
	Changes []core.Mutation `json:"changes,omitempty"` // of the graph of a walk by steps
	Call    *callJSON       `json:"call,omitempty"`
}

// callJSON adds to a Call the fields that need another form.
type callJSON struct {
	Call
	Values []anyJSON  `json:"values,omitempty"`
	Items  *anyJSON   `json:"items,omitempty"`
	Item   *anyJSON   `json:"item,omitempty"`
	Nodes  []nodeJSON `json:"nodes,omitempty"`
}

// nodeJSON is a NodeValue. Its output needs another form, as any value that may be Missing does.
type nodeJSON struct {
	Status core.Status `json:"status"`
	Output anyJSON     `json:"output"`
}

// EncodeCommand returns the JSON form of a command, with which a distributed engine sends it to a
// worker elsewhere. Values of Go types travel in their JSON form; DecodeCommand restores their
// types from the plan.
//
// To keep the commands of a fan-out from containing all of its items each, the JSON form omits
// parts of the Call. Inputs are the same for all commands of a run or nested run; the caller
// sends them once. Of an array, only the items of the range are included, and values that only
// for_each.source refers to are omitted. The report of OpFinish has no JSON form.
func EncodeCommand(c *Command) ([]byte, error) {
	j := commandJSON{Op: c.Op.String(), Command: *c}
	if c.Plan != nil {
		j.Changes = c.Plan.Changes()
	}
	switch {
	case c.Op == OpRun && c.Call != nil:
		j.Call = c.Call.toJSON(c)
	case c.Path() != "":
		j.Call = &callJSON{Call: *newCall(CallContext{Path: c.Path()})}
	}
	return json.Marshal(j)
}

func (call *Call) toJSON(c *Command) *callJSON {
	j := &callJSON{Call: *call, Values: wrap(call.Values)}
	if call.Row > 0 {
		j.Item = &anyJSON{call.Item}
	}
	if call.Items.n > 0 {
		j.Items = &anyJSON{call.Items.slice(c.ID.From, c.ID.To)}
	}
	for _, n := range call.Nodes {
		j.Nodes = append(j.Nodes, nodeJSON{n.Status, anyJSON{n.Output}})
	}
	if c.Node != nil && c.Node.Source != nil {
		reads, refs := c.Node.Source.Alone()
		for _, at := range reads {
			j.Values[at].v = value.Missing
		}
		for _, at := range refs {
			j.Nodes[at].Output.v = value.Missing
		}
	}
	return j
}

// slice returns the elements of a range as a list.
func (s Items) slice(from, to int32) []any {
	out := make([]any, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, s.At(int(i)))
	}
	return out
}

// DecodeCommand decodes a command, and looks up its node in the plan of the run if the command is
// to be answered. inputs are the Inputs of the encoded Call, or nil if it had none.
func DecodeCommand(p *plan.Plan, inputs *value.Object, data []byte) (Command, error) {
	var j commandJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return Command{}, err
	}
	op := slices.Index(opNames[:], j.Op)
	if op < 0 {
		return Command{}, fmt.Errorf("command %s has the unknown operation %q", j.ID, j.Op)
	}
	c := j.Command
	if c.Op = Op(op); c.Op != OpRun && c.Op != OpTimer && c.Op != OpDeadline && c.Op != OpPlace {
		return c, nil
	}
	path := ""
	if j.Call != nil {
		if j.Call.CallContext == nil { // it has no members
			j.Call.CallContext = &CallContext{}
		}
		path = j.Call.Path
	}
	var err error
	if c.Plan, err = p.At(path); err == nil {
		c.Plan, err = c.Plan.With(j.Changes)
	}
	if err != nil {
		return c, err
	}
	if int(j.ID.Node) >= len(c.Plan.Nodes) {
		return c, fmt.Errorf("command %s names no node", j.ID)
	}
	if c.Op != OpRun {
		if path != "" {
			c.Call = newCall(CallContext{Path: path})
		}
		if j.ID.Node >= 0 {
			c.Node = &c.Plan.Nodes[j.ID.Node]
		}
		return c, nil
	}
	c.Node = &c.Plan.Nodes[j.ID.Node]
	if j.ID.Attempt == PauseAttempt {
		if c.Node = c.Node.Pauser(); c.Node == nil {
			return c, fmt.Errorf("command %s names a node without a pause", j.ID)
		}
	}
	if j.ID.Attempt == 0 && (j.Call == nil || j.Call.Route == nil && j.Call.Functions == nil) { // rows of the node's stream are read
		puller := c.Node.Puller
		if u := c.Plan.Vertices[c.Node.Vertex].Unit; u != nil {
			puller = u.Puller
		}
		if c.Node = puller; c.Node == nil {
			return c, fmt.Errorf("command %s names a node that pulls no rows", j.ID)
		}
	}
	if j.Call != nil {
		if c.Call, err = j.Call.call(&c); err == nil {
			c.Call.Inputs = inputs
		}
	}
	return c, err
}

func (j *callJSON) call(c *Command) (*Call, error) {
	call := j.Call
	call.Values = unwrap(j.Values)
	for i := range call.Values {
		v, err := c.Plan.Schema.Fields[c.Node.Reads[i].Field].Restore(call.Values[i])
		if err != nil {
			return nil, err
		}
		call.Values[i] = v
	}
	source, batch := c.Node.Source, false
	if u := c.Plan.Vertices[c.Node.Vertex].Unit; u != nil {
		source, batch = u.Items, u.Batch > 0
	}
	if j.Items != nil {
		list, _ := j.Items.v.([]any)
		items, err := restoreItems(c.Plan, source, list)
		if err != nil {
			return nil, err
		}
		call.Items = items
		call.Items.base = int(c.ID.From)
	}
	if j.Item != nil {
		list := []any{j.Item.v}
		if batch {
			list, _ = j.Item.v.([]any)
		}
		items, err := restoreItems(c.Plan, source, list)
		switch {
		case err != nil:
			return nil, err
		case batch:
			call.Item = items.slice(0, int32(len(list)))
		default:
			call.Item = items.At(0)
		}
	}
	for _, n := range j.Nodes {
		call.Nodes = append(call.Nodes, NodeValue{n.Status, n.Output.v})
	}
	return &call, nil
}

// restoreItems restores the Go type of the elements of source after they went through JSON.
func restoreItems(p *plan.Plan, source *plan.Source, list []any) (Items, error) {
	var v any = list
	if field, ok := source.Whole(); ok {
		var err error
		if v, err = p.Schema.Fields[field].Restore(list); err != nil {
			return Items{}, err
		}
	}
	items, ok := itemsOf(v)
	if !ok || items.Len() < len(list) {
		return Items{}, fmt.Errorf("%d items came back as %d", len(list), items.Len())
	}
	return items, nil
}

// plainOutcome is an Outcome without its methods.
type plainOutcome Outcome

func (o *Outcome) outputJSON() outputJSON {
	if !o.HasOutput {
		return nil
	}
	return outputJSON{{o.Output}}
}
