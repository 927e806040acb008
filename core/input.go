package core

import (
	"log/slog"
	"math"
	"strconv"

	"github.com/wavefold/wavefold/core/value"
)

// Input is the input of a handler for one attempt: the arguments, the values of the
// declared reads, the edge inputs and, in a fan-out or pipeline, the item. It is cheap to
// pass by value and safe for concurrent reads. Accessors that return arrays and objects
// return private copies, so that changes to them do not reach the state or another node.
type Input struct {
	// An Input has six words, so that it is passed in registers: passing it is a
	// significant part of the cost of a handler that does little.

	s    *Shared
	node string
	// own is what the input does not share with others. If there is an index in count, it is
	// the element, and both replace the Item and Index of s. Otherwise it is nil or the *View
	// that replaces the View of s.
	own any
	// count holds the attempt in its low half and the index, an Ordinal, in its high half.
	count uint64
}

// Shared is the raw content of an Input. Its values are shared with the engine and must not
// be changed. Drivers fill it. The engine's own kinds read it to avoid copies of large
// values.
type Shared struct {
	// Run is the run's id.
	Run string
	// Loop is the id of the loop whose body contains the node, or "" outside of loops.
	// Round is the round of that loop, from 0.
	Loop  string
	Round int
	// Visit is the number of the visit of the node in a walk, from 1; 0 in a dag.
	Visit int
	// Defer asks a handler that replaces a file or a table to return a Placement.
	Defer bool
	// Keys asks a handler that stores rows by key to set Result.Upserted.
	Keys bool
	// Storing is set in a strict run if Keys is set. The handler calls it before each
	// commit with the keys that the commit stores. It returns an error if an execution
	// without a path to this one has stored one of the keys in this run. The error fails
	// the attempt before the commit.
	Storing func(*Upserted) error
	// Previous explains why the previous attempt did not succeed. It is "" for the first
	// attempt.
	Previous string
	// Generation is 2 or more if a resumed run runs the node again although it had ended. It is
	// part of the idempotency key, so that receivers do not take the work for a repetition.
	Generation int
	// Key is the idempotency key of a part of the work, such as a call of a tool. It is ""
	// for the work as a whole, whose key is derived from its position in the run.
	Key string
	// Briefing describes the walk so far to a model node, or is nil.
	Briefing *Briefing
	// Conversation holds the messages of the visits that this visit continues, see
	// Input.Conversation.
	Conversation []any
	// Args are the resolved arguments, or nil if there are none.
	Args *value.Object
	// View holds the declared reads that have a value, in declared order.
	View View
	// Extra holds the fields that the kind requested in Compiled.Reads.
	Extra View
	// Edges holds the edge outputs of the direct predecessors, by id.
	Edges *value.Object
	// Item is the element of a fan-out or pipeline, and Index its index.
	Item   any
	Index  Ordinal
	Inputs *value.Object // the run's inputs ($input)
	Nodes  NodeLookup
	Log    *slog.Logger
	// Logs creates the logger of an attempt on demand if Log is nil. It is nil if log
	// records are not wanted.
	Logs *Logs
	// Open opens streams. It is nil if the node reads none.
	Open StreamOpener
	// Reports receives the progress of the handler. It is nil if there is no listener.
	Reports *Reports
	// Durability connects the attempt with the store of the run. It is nil if the run is not
	// stored.
	Durability *Durability
	Dir        string // the workflow's folder
	// Ask asks the interviewer of the run. It is nil for nodes that are not of RoleHuman,
	// and if there is no interviewer. A function takes half the space of an Interviewer,
	// and every node carries one.
	Ask InterviewerFunc
}

// Logs receives the log records of attempts.
type Logs struct {
	Handler func(Input) slog.Handler
	// Warned returns the failure of an attempt that has logged a warning in a strict run,
	// and nil for others. It may be nil.
	Warned func() error
}

// Reports receives what attempts report: Report their progress, and Measure how much of their
// input they have read. Either may be nil.
type Reports struct {
	Report  func(in Input, done, of int64)
	Measure func(in Input, read, size int64)
}

// NodeLookup returns $nodes.ID.status and $nodes.ID.output of nodes that are resolved; ok
// is false for others.
type NodeLookup func(id string) (status Status, output any, ok bool)

// View is a set of state fields by name.
type View struct {
	names  []string
	values []any
}

// NewView returns a view of values by name. Names with a Missing value are hidden. The view
// keeps both slices.
func NewView(names []string, values []any) View { return View{names, values} }

// Get returns the shared value of a field.
func (v View) Get(name string) (any, bool) {
	for i, n := range v.names {
		if n == name {
			return v.values[i], !value.IsMissing(v.values[i])
		}
	}
	return nil, false
}

// All yields the fields that have a value, in declared order.
func (v View) All() func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		for i, n := range v.names {
			if !value.IsMissing(v.values[i]) && !yield(n, v.values[i]) {
				return
			}
		}
	}
}

// Object returns the view as an object whose values are shared.
func (v View) Object() *value.Object {
	o := value.NewObject(len(v.names))
	for k, e := range v.All() {
		o.Set(k, e)
	}
	return o
}

// NewInput returns an input with the given content. Drivers and tests of
// handlers call it.
func NewInput(run, node string, attempt int, s Shared) Input {
	s.Run = run
	return InputOf(node, attempt, &s)
}

// InputOf is like NewInput for content that many inputs share. The content must not change
// afterwards.
func InputOf(node string, attempt int, s *Shared) Input {
	return Input{node: node, count: uint64(uint32(attempt)), s: s}
}

// ForItem returns the input for one element of a fan-out; everything else stays
// shared.
func (in Input) ForItem(item any, index Ordinal) Input {
	if v := in.ownView(); v != nil {
		s := *in.shared()
		s.View, in.s = *v, &s
	}
	in.own, in.count = item, uint64(index)<<32|in.count&math.MaxUint32
	return in
}

// WithView returns the input with another view of the state; everything else stays shared.
// The input has no index, and keeps v.
func (in Input) WithView(v *View) Input {
	in.own = v
	return in
}

// ownView returns the view that replaces the one of the shared content, or nil if there is
// none.
func (in *Input) ownView() *View {
	if in.own == nil || in.count>>32 > 0 {
		return nil
	}
	v, _ := in.own.(*View)
	return v
}

func (in *Input) view() *View {
	if v := in.ownView(); v != nil {
		return v
	}
	return &in.shared().View
}

// View returns the declared reads that have a value, in declared order, shared with the
// engine. It is cheaper than Shared if nothing else is needed.
func (in *Input) View() View { return *in.view() }

// Run returns the run's id.
func (in Input) Run() string { return in.shared().Run }

// Node returns the path of the node: "outer[3]/inner" for a node of a nested workflow.
func (in Input) Node() string { return in.node }

// Execution returns the path of the node with the index of the item, row or round in
// brackets if it has one: "review[3]". Nodes of a nested workflow have the same form of path
// in front of their id.
func (in Input) Execution() string {
	switch {
	case in.Index() >= 0:
		return in.node + "[" + strconv.Itoa(in.Index()) + "]"
	case in.Loop() != "":
		return in.node + "[" + strconv.Itoa(in.Round()) + "]"
	}
	return in.node
}

// Attempt returns the number of the attempt, from 1.
func (in Input) Attempt() int { return int(uint32(in.count)) }

// Loop returns the id of the loop whose body contains the node, or "" outside of loops.
func (in Input) Loop() string { return in.shared().Loop }

// Round returns the round of that loop, from 0.
func (in Input) Round() int { return in.shared().Round }

// Visit returns the number of the visit of the node in a walk, from 1; 0 in a dag.
func (in Input) Visit() int { return in.shared().Visit }

// Conversation returns the messages of the visits of the node that this visit continues, in
// order: the Routing.Messages of all visits from the visit that began the conversation to the one
// before this one. It is nil unless a walk of RouterSteps visits the node again so that it
// sees the results of its tools. The messages must not be changed.
func (in Input) Conversation() []any { return in.shared().Conversation }

// Previous explains why the previous attempt did not succeed: it is the message of its
// failure, or the note with which it asked for another attempt. It is "" for the first
// attempt.
func (in Input) Previous() string { return in.shared().Previous }

// Context returns a copy of a value of the walk's context. ok is false if the context has
// no such key, and in a dag.
func (in Input) Context(key string) (any, bool) {
	v, _ := in.view().Get(ContextField)
	o, ok := v.(*value.Object)
	if !ok {
		return nil, false
	}
	v, ok = o.Get(key)
	return value.Clone(v), ok
}

// Element returns the item of this execution, shared with the engine, and its index. The
// index is the zero Ordinal outside of fan-outs and pipelines. Element is cheaper than
// Shared if nothing else is needed.
func (in *Input) Element() (item any, place Ordinal) {
	if index := Ordinal(in.count >> 32); index > 0 {
		return in.own, index
	}
	s := in.shared()
	return s.Item, s.Index
}

var nothingShared Shared

func (in *Input) shared() *Shared {
	if in.s == nil {
		return &nothingShared
	}
	return in.s
}

// Shared returns the raw content, shared with the engine. It must not be changed.
func (in Input) Shared() Shared {
	s := *in.shared()
	s.View = *in.view()
	s.Item, s.Index = in.Element()
	return s
}

// Get returns a copy of a state field named in the node's reads. ok is false if the field
// has no value or is not among the reads.
func (in Input) Get(field string) (any, bool) {
	v, ok := in.view().Get(field)
	return value.Clone(v), ok
}

// State returns copies of all declared reads that have a value.
func (in Input) State() map[string]any { return in.view().Object().Map() }

// Arg returns a copy of an argument.
func (in Input) Arg(name string) (any, bool) {
	v, ok := in.shared().Args.Get(name)
	return value.Clone(v), ok
}

// Args returns copies of all arguments.
func (in Input) Args() map[string]any { return in.shared().Args.Map() }

// EdgeInput returns a copy of the edge output of the direct predecessor id.
func (in Input) EdgeInput(id string) (any, bool) {
	v, ok := in.shared().Edges.Get(id)
	return value.Clone(v), ok
}

// EdgeInputs returns copies of all edge inputs by predecessor. It is empty, not nil, if
// there are none.
func (in Input) EdgeInputs() map[string]any { return in.shared().Edges.Map() }

// Item returns a copy of the item of this execution. ok is false outside of fan-outs and
// pipelines.
func (in Input) Item() (any, bool) {
	item, index := in.Element()
	if index == 0 {
		return nil, false
	}
	return value.Clone(item), true
}

// Index returns the index of the item, from 0, or -1 outside of fan-outs and pipelines.
func (in Input) Index() int {
	_, index := in.Element()
	return int(index) - 1
}

// Logger returns the logger of this attempt; its records become events of the run. It is
// never nil.
//
// A record of level slog.LevelWarn or higher is a warning: data or a setting had no effect,
// so the result may not be what the author meant. The report of the run lists warnings, and
// in a strict run they fail the attempt. Use slog.LevelInfo for problems that did not
// affect the result, such as a request that was repeated.
func (in Input) Logger() *slog.Logger {
	switch s := in.shared(); {
	case s.Log != nil:
		return s.Log
	case s.Logs != nil:
		return slog.New(s.Logs.Handler(in))
	}
	return slog.New(slog.DiscardHandler)
}

// Progress reports that done of the given number of steps are finished; of is 0 if the
// number of steps is not known. It becomes an event of the run, at most ten times a second
// for an attempt, and costs nothing if there is no listener. It is safe to call from many
// goroutines until Handle returns.
func (in Input) Progress(done, of int64) {
	if r := in.shared().Reports; r != nil && r.Report != nil {
		r.Report(in, done, of)
	}
}

// Measure reports how much of its input a handler has read, and the total size, for example
// in bytes of files. The next event of Progress carries both, so that listeners can
// estimate the remaining time if the number of steps is not known. Streams that a handler
// reads do this on their own.
func (in Input) Measure(read, size int64) {
	if r := in.shared().Reports; r != nil && r.Measure != nil {
		r.Measure(in, read, size)
	}
}

// IdempotencyKey returns a key that identifies this piece of work across all its attempts
// and restarts of the run: if the same row is sent twice, it has the same key. Each tool
// call of a model has its own key, which depends on the tool and the arguments: the same
// call in another attempt has the same key.
func (in Input) IdempotencyKey() string {
	if key := in.shared().Key; key != "" {
		return key
	}
	key := in.Run() + "/" + in.node
	if i := in.Index(); i >= 0 {
		key += "[" + strconv.Itoa(i) + "]"
	}
	if in.Loop() != "" {
		key += "#" + strconv.Itoa(in.Round())
	}
	if in.Visit() > 0 {
		key += "#" + strconv.Itoa(in.Visit())
	}
	if g := in.shared().Generation; g > 1 {
		key += "~" + strconv.Itoa(g)
	}
	return key
}
