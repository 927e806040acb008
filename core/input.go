package core

import (
	"log/slog"
	"math"
	"strconv"

	"github.com/wavefold/wavefold/core/value"
)

// Input is what a handler is given for one attempt: arguments, the view of its
// declared reads, edge inputs and, in a fan-out or pipeline, the item. It is
// cheap to pass by value and safe for concurrent reads. Accessors that return
// arrays and objects return private copies, so nothing a handler does to them
// reaches the state or another node.
type Input struct {
	// Six words, so that a call passes an Input in registers: handing it over is a
	// good part of what a handler that does little costs.

	s    *Shared
	node string
	// item and the index in count stand for those of s when there is an index, so
	// that the items of a fan-out can share the rest.
	item any
	// count holds the attempt in its low half and the index, an Ordinal, above.
	count uint64
}

// Shared is the raw content of an Input: values shared with the engine, which
// must not be changed. Drivers fill it; the engine's own kinds read it to avoid
// copies of large values.
type Shared struct {
	// Run is the run's id.
	Run string
	// Loop is the loop the node is in the body of, "" outside of loops; Round is
	// its round, from 0.
	Loop  string
	Round int
	// Visit counts the visits of the node in a walk, from 1; 0 in a dag.
	Visit int
	// Defer asks a handler that replaces a file or a table to return a Placement.
	Defer bool
	// Keys asks a handler that stores rows by key for Result.Upserted.
	Keys bool
	// Storing is set in a strict run, where Keys is: the handler calls it before each commit
	// with the keys that the commit stores. Its error, which says that an execution with no
	// path to this one has stored a key in this run, fails the attempt before the commit.
	Storing func(*Upserted) error
	// Previous is what the attempt before said of why it did not end well, "" for the
	// first one.
	Previous string
	// Key is the idempotency key of a part of the work, such as a call of a tool; "" for
	// the work as a whole, whose key is derived from its place in the run.
	Key string
	// Briefing is what a model node of a walk is told of what came before it, nil for
	// nothing.
	Briefing *Briefing
	// Args are the resolved arguments, nil when there are none.
	Args *value.Object
	// View holds the declared reads that have a value, in declared order.
	View View
	// Extra holds the fields the kind asked for in Compiled.Reads.
	Extra View
	// Edges holds what direct predecessors sent, by their ids.
	Edges *value.Object
	// Item is the element of a fan-out or pipeline, Index its place from 0.
	Item   any
	Index  Ordinal
	Inputs *value.Object // the run's inputs ($input)
	Nodes  NodeLookup
	Log    *slog.Logger
	// Logs makes the logger of an attempt when it is asked for, if Log is nil; nil if
	// nobody wants to know.
	Logs *Logs
	// Open opens streams, nil when the node reads none.
	Open StreamOpener
	// Report takes in how far the handler is, and Measure how much of its input it has
	// read; nil when nobody listens.
	Report  func(done, of int64)
	Measure func(read, size int64)
	Dir     string // the workflow's folder
	// Ask asks the interviewer of the run; nil for nodes that are not of RoleHuman, and
	// when nobody is there to ask. It takes half the room of an Interviewer, and every
	// node carries it.
	Ask InterviewerFunc
}

// Logs is where the log records of attempts go.
type Logs struct {
	Handler func(Input) slog.Handler
	// Warned returns the failure of an attempt that has warned in a strict run, nil for
	// others; it may be nil.
	Warned func() error
}

// NodeLookup answers $nodes.ID.status and $nodes.ID.output for nodes that are
// resolved; ok is false for others.
type NodeLookup func(id string) (status Status, output any, ok bool)

// View is a set of state fields by name.
type View struct {
	names  []string
	values []any
}

// NewView returns a view of values by name; a Missing value hides its name. It
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

// InputOf is NewInput for a content that many inputs share; nobody may change
// it afterwards.
func InputOf(node string, attempt int, s *Shared) Input {
	return Input{node: node, count: uint64(uint32(attempt)), s: s}
}

// ForItem returns the input for one element of a fan-out; everything else stays
// shared.
func (in Input) ForItem(item any, index Ordinal) Input {
	in.item, in.count = item, uint64(index)<<32|in.count&math.MaxUint32
	return in
}

// Run returns the run's id.
func (in Input) Run() string { return in.shared().Run }

// Node returns the path of the node: "outer[3]/inner" for a node of a nested workflow.
func (in Input) Node() string { return in.node }

// Attempt returns which attempt it is, from 1.
func (in Input) Attempt() int { return int(uint32(in.count)) }

// Loop returns the id of the loop that the node is in the body of, "" outside of
// loops.
func (in Input) Loop() string { return in.shared().Loop }

// Round returns the round of that loop, from 0.
func (in Input) Round() int { return in.shared().Round }

// Visit returns which visit of the node in a walk it is, from 1; 0 in a dag.
func (in Input) Visit() int { return in.shared().Visit }

// Previous returns what the attempt before this one said of why it did not end well: the
// message of its failure, or the note with which it asked to be run again. It is "" for
// the first attempt.
func (in Input) Previous() string { return in.shared().Previous }

// Context returns a copy of a value of the walk's context; ok is false if it holds none
// under that key, and in a dag.
func (in Input) Context(key string) (any, bool) {
	v, _ := in.shared().View.Get(ContextField)
	o, ok := v.(*value.Object)
	if !ok {
		return nil, false
	}
	v, ok = o.Get(key)
	return value.Clone(v), ok
}

// Element returns the item this execution is for, shared with the engine, and its place;
// that is 0 outside of fan-outs and pipelines. It is Shared for those who want no more.
func (in *Input) Element() (item any, place Ordinal) {
	if index := Ordinal(in.count >> 32); index > 0 {
		return in.item, index
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

// Shared returns the raw content, shared with the engine: read it only.
func (in Input) Shared() Shared {
	s := *in.shared()
	s.Item, s.Index = in.Element()
	return s
}

// Get returns a copy of a state field named in the node's reads. ok is false
// when the field has no value or is not among the reads.
func (in Input) Get(field string) (any, bool) {
	v, ok := in.shared().View.Get(field)
	return value.Clone(v), ok
}

// State returns copies of all declared reads that have a value.
func (in Input) State() map[string]any { return in.shared().View.Object().Map() }

// Arg returns a copy of an argument.
func (in Input) Arg(name string) (any, bool) {
	v, ok := in.shared().Args.Get(name)
	return value.Clone(v), ok
}

// Args returns copies of all arguments.
func (in Input) Args() map[string]any { return in.shared().Args.Map() }

// EdgeInput returns a copy of what the direct predecessor id sent.
func (in Input) EdgeInput(id string) (any, bool) {
	v, ok := in.shared().Edges.Get(id)
	return value.Clone(v), ok
}

// EdgeInputs returns copies of all edge inputs by predecessor; it is empty, not
// nil, when nobody sent anything.
func (in Input) EdgeInputs() map[string]any { return in.shared().Edges.Map() }

// Item returns a copy of the element this execution is for; ok is false outside
// of fan-outs and pipelines.
func (in Input) Item() (any, bool) {
	item, index := in.Element()
	if index == 0 {
		return nil, false
	}
	return value.Clone(item), true
}

// Index returns the place of the item, from 0, or -1 outside of fan-outs and
// pipelines.
func (in Input) Index() int {
	_, index := in.Element()
	return int(index) - 1
}

// Logger returns the logger of this attempt; its records become events of the
// run. It is never nil.
//
// A record of level slog.LevelWarn or higher is a warning: the result may not be what the
// author meant, because data or a setting had no effect. The report of the run lists
// warnings, and in a strict run they fail the attempt. What the attempt got over without
// an effect on its result, such as a request that was repeated, is slog.LevelInfo.
func (in Input) Logger() *slog.Logger {
	switch s := in.shared(); {
	case s.Log != nil:
		return s.Log
	case s.Logs != nil:
		return slog.New(s.Logs.Handler(in))
	}
	return slog.New(slog.DiscardHandler)
}

// Warned returns the error with which an attempt fails that has warned in a strict run, and
// nil otherwise. Handlers that put something in place outside of the run, such as a file or
// rows of a table, call it right before that and return the error.
func (in Input) Warned() error {
	if l := in.shared().Logs; l != nil && l.Warned != nil {
		return l.Warned()
	}
	return nil
}

// Progress tells how far the handler is: done of so many steps, 0 when their
// number is not known. It becomes an event of the run, of an attempt at most ten a
// second, and costs nothing when nobody listens. It is safe to call from many goroutines until Handle returns.
func (in Input) Progress(done, of int64) {
	if report := in.shared().Report; report != nil {
		report(done, of)
	}
}

// Measure tells how much of its input a handler has read, such as bytes of files, of
// how much in all. The next event of Progress carries it, so that whoever watches can
// estimate the rest where the number of steps is not known. For a stream that the
// handler reads this is done by the stream.
func (in Input) Measure(read, size int64) {
	if measure := in.shared().Measure; measure != nil {
		measure(read, size)
	}
}

// IdempotencyKey identifies this piece of work over all its attempts and over
// restarts of the run: the same row sent twice carries the same key. A tool that a model
// calls gets a key for each call: the same call in another attempt carries the same key,
// and another call, or one with other arguments, has another key.
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
	return key
}
