package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/template"
	"github.com/wavefold/wavefold/internal/items"
	"github.com/wavefold/wavefold/state"
)

// Plan is a compiled graph.
type Plan struct {
	Name     string
	Workflow *core.Workflow
	Schema   *state.Schema
	// Concurrency limits the vertices that hold a slot; 0 leaves the limit to the caller.
	// MaxInFlight limits the handlers in flight; 0 means no limit.
	Concurrency int
	MaxInFlight int
	Barrier     bool
	// Durability is the mode that the document sets, or "" if it leaves it to the caller.
	Durability core.DurabilityMode
	// Overlap is what a run does while another one has its ConcurrencyKey.
	Overlap core.Overlap
	// Stdout reports whether a node, or one nested in it, writes to standard output. Stdin reports
	// whether one reads standard input.
	Stdout, Stdin bool
	// RunsUserCode reports whether the type of a field, including the fields of nested workflows, has
	// methods of the user that run when a value is converted from or to JSON.
	RunsUserCode bool
	// Incremental describes what a run stores for the next one, nil if nothing.
	Incremental *Incremental
	// Nested is the number of runs of nested workflows in one run, if every node, item and row runs
	// once. It is at most MaxNested.
	Nested int64
	// Secrets are the secrets to which its nodes and the nodes nested in them refer. Each place in
	// a document is listed once.
	Secrets []core.Secret
	// Refused are errors that do not prevent a description of the plan, but prevent a run: nodes,
	// including nested ones, for which the engine has no handler.
	Refused source.Diagnostics
	// Mode is the way in which the graph is run. Conventions are the rules of that mode for nodes
	// and their results.
	Mode        *Mode
	Conventions core.Conventions
	// Walk holds what only the mode walk has, nil in other modes.
	Walk *Walk
	// Flow holds what only the mode flow has, nil in other modes.
	Flow *Flow
	// context is the index of the field that holds the context, and open the result of Open.
	context int32
	open    bool
	// maker compiles the nodes that a run of a walk by steps adds, nil in other plans. adds is the maker of
	// the plan, or of the plans nested in it.
	maker, adds *nodeMaker
	// Claimers are the vertices whose files and tables might be those of another vertex, in
	// canonical order. Their output is put in place in that order.
	Claimers []Claimer
	// replaces is the strongest of the values of its nodes, including nested ones. upserts reports
	// whether one of these nodes upserts rows.
	replaces core.Replaces
	upserts  bool
	// outputs and inputs are the files and tables that its nodes, including nested ones, write and
	// read.
	outputs, inputs []Target

	Vertices     []Vertex // in canonical order
	Nodes        []Node   // in declared order
	Edges        []Edge   // in declared order
	ElseGroups   []ElseGroup
	Joins        []Join
	JoinBranches []JoinBranch
	// Races reports whether a join may cancel nodes, see Node.Cancellable.
	Races bool
	// Levels holds the first vertex of each level, followed by the number of vertices.
	Levels []int32

	// Out[OutStart[v]:OutStart[v+1]] are the gates that vertex v opens when it is resolved: a
	// vertex, an else group as len(Vertices)+j, or a branch of a join as returned by BranchGate.
	// In[InStart[v]:InStart[v+1]] are the indexes of the incoming edges, in declared order.
	Out      []int32
	OutStart []int32
	In       []int32
	InStart  []int32

	// Writers holds the number of ledger slots of each field, writerLevels the levels of the
	// writers, and WriterVertex their vertices, by slot.
	Writers      []int
	writerLevels [][]int32
	WriterVertex [][]int32
	// Readers lists, for each field, the gates that wait for a prefix of its writers, by ascending
	// threshold. Thresholds of 0 are left out.
	Readers [][]Reader
	// Rank is the order in which startable vertices are started; nil means canonical order. ByRank
	// is its inverse.
	Rank      []int32
	ByRank    []int32
	nodeIndex map[string]int32
	// inputIndex holds the indexes of the declared inputs.
	inputIndex map[string]int32
	// files are the digests of the files that kinds read, by node.
	files     map[int32]*value.Object
	key       *template.Template // see ConcurrencyKey
	edgeDecls []*core.Edge       // of Edges; kept separately because a run does not need them
	// positions are the positions of Nodes. They are nil unless ForReplay has dropped the
	// declarations.
	positions []source.Position
}

// ReadsPrefix reports whether a gate waits for the first k writers of a field and reads the value
// after them.
func (p *Plan) ReadsPrefix(field, k int) bool {
	_, ok := slices.BinarySearchFunc(p.Readers[field], int32(k), func(r Reader, k int32) int { return cmp.Compare(r.Threshold, k) })
	return ok
}

// Shape is the sort of a vertex.
type Shape uint8

// Shapes of vertices.
const (
	Plain    Shape = iota // one execution of one node
	FanOut                // a node with for_each
	Pipeline              // rows that pass through stages
	Loop                  // rounds of a body
	Walking               // all visits of a walk
)

// Vertex is a node or unit that the scheduler orders.
type Vertex struct {
	Node  int32 // index in Nodes, -1 for pipelines and loops
	Level int32
	// Pending is the number of things that must be resolved before the vertex is decided: incoming
	// edges, orderings and fields of its conditions. Waits is the number of fields that must be
	// resolved before it starts.
	Pending int32
	Waits   int32
	// ElseGroup is the index of the else group of its outgoing edges, or -1 if there is none.
	ElseGroup int32
	// Join is the index in Joins of its join, -1 if it needs all of its predecessors or, with
	// AllDone, waits for all of them regardless of how they end.
	Join  int32
	Shape Shape
	// Last marks a unit without edges, which runs after the whole main graph.
	Last bool
	// AllDone reports whether the vertex runs regardless of how its predecessors ended.
	AllDone bool
	// Conditional reports whether the incoming edges must be evaluated even if every predecessor
	// succeeded.
	Conditional bool
	// MayReject reports whether it writes a field whose merge can reject a write.
	MayReject bool
	// HasFailEdge reports whether an on: fail edge leaves it.
	HasFailEdge bool
	// Claims reports whether it is one of Plan.Claimers.
	Claims bool
	// FieldsOnly and HasReads repeat what its node says, so that the node need not be read. Asks
	// reports whether it is a single execution that asks a person first, for which it needs no slot.
	FieldsOnly, HasReads, Asks bool
	Unit                       *Unit // nil for plain nodes and fan-outs
	// Writes are its slots in the ledger.
	Writes []Slot
	ID     string
}

// Claimer is a vertex that might write the same files or tables as another vertex. Its output is
// put in place once the first After claimers are resolved.
type Claimer struct {
	Vertex, After int32
}

// Slot is the slot of a writer in the ledger of a field.
type Slot struct {
	Field int32
	Slot  int32
}

// Reader is a gate that waits until the first Threshold writers of a field are resolved.
type Reader struct {
	Threshold int32
	Vertex    int32 // or judge, or branch of a join; see Gate
	Gate      Gate
}

// Gate is the kind of gate that waits.
type Gate uint8

// Kinds of gates.
const (
	GateDecide Gate = iota // the decision whether a vertex runs
	GateStart              // the start of the vertex
	GateElse               // the conditions of a source with an else edge
	GateKeep               // none: the vertex waits for more writers, and reads this prefix as well
	GateBranch             // the evaluation of a join's branch
)

// Node is a compiled node.
type Node struct {
	// The first 64 bytes, one cache line, hold what every visit reads.
	Handler core.Handler
	ID      string
	Index   int32
	Vertex  int32
	Member  int32 // its index among the members of its unit, -1 outside units
	// FieldsOnly reports whether the handler gets nothing but the values of the declared reads: the
	// node has no args or references, no fan-out, timer, timeout or jitter.
	FieldsOnly bool
	// Pull marks the node that fetches the rows of a stream for a pipeline or fan-out, see
	// Unit.Puller and Puller. It is not one of the nodes of the plan.
	Pull bool
	// Cancellable reports whether a single execution of the node may be cancelled, for example by a race.
	Cancellable bool
	Policy      Policy
	// Value is the handler, if it returns the value of the node's only write.
	Value core.ValueHandler

	Retry   *Retry // never nil; a pointer, because most nodes share one
	Frame   *Frame
	Wait    *core.Wait
	Args    *Args
	Source  *Source
	Timeout time.Duration
	// Models reports whether the node may call models. Prices returns which.
	Models bool
	// Claims reports whether the output of its executions is put in place only when their turn
	// comes.
	Claims bool
	// Upserts reports whether the keys that its executions upsert are compared with the keys of
	// others. upserts reports whether the node, or a node nested in it, upserts rows.
	Upserts, upserts bool
	replaces         core.Replaces
	// Effects reports whether its work is visible outside the run. A driver with a journal starts
	// such a node only when everything that the node depends on is in the journal.
	Effects bool
	// Asks reports whether the handler waits for a person, without holding a slot.
	Asks bool
	// AllowPartial makes a visit a partial success if its last attempt requests another one.
	// AutoStatus makes a visit that ends without success a success.
	AllowPartial, AutoStatus bool
	// Pause says when each execution waits for a person. Pauser returns the node that asks.
	Pause Pause
	// Briefed reports whether the node gets a description of the earlier stages of a walk.
	Briefed bool
	// Stdout reports whether it, or a node of its frame, writes to standard output, Stdin whether
	// it reads standard input.
	Stdout, Stdin bool

	// Reads are the fields captured for an attempt: the declared reads first, then the reads of
	// args, source and kind.
	Reads []Read
	// View holds the names of the declared reads.
	View   []string
	Writes []string
	// WriteFields are the indexes of the fields in Writes.
	WriteFields []int32
	// Puller fetches the items of a fan-out over a stream, several per fetch, as attempt number 0
	// of the node; nil for all other nodes.
	Puller *Node
	// Collect is the field that gets the results of the items of a fan-out as one list, or -1 if
	// there is none.
	Collect int32
	// StreamTo is the field to which it writes a stream, or -1 if there is none.
	StreamTo    int32
	Concurrency int
	MaxFailures int // -1: no limit

	Decl  *core.Node
	Kind  string
	Phase string
	Lacks string    // the reason why the node has no handler, or ""
	rare  *rareData // nil for most nodes
}

// rareData holds what few nodes have, so that the nodes of a large graph take less memory.
type rareData struct {
	nodeRefs     []int32
	streams      []StreamRead
	extra        []string
	extraAt      []int32
	prices       Prices
	environments []core.Environment
	pauser       *Node
	cache        *Cache
	rows         []fieldRows // with columns to look for, see Wanted
	items        items.Handler
	members      []string // see Members
	bookkeeping  bool
}

// noRareData is the data of nodes whose field rare is nil. It is never written.
var noRareData rareData

func (n *Node) rareData() *rareData {
	if n.rare == nil {
		return &noRareData
	}
	return n.rare
}

// setRare returns the rare data of a node for writing.
func (n *Node) setRare() *rareData {
	if n.rare == nil {
		n.rare = &rareData{}
	}
	return n.rare
}

// NodeRefs returns the nodes to which args and kind refer through $nodes.
func (n *Node) NodeRefs() []int32 { return n.rareData().nodeRefs }

// Pauser returns the node whose handler asks a person whether an execution may continue, as
// attempt machine.PauseAttempt of this node; nil if the node has no pause. It is not one of the
// nodes of the plan.
func (n *Node) Pauser() *Node { return n.rareData().pauser }

// Cache says how results of the node are kept for later runs, nil if they are not.
func (n *Node) Cache() *Cache { return n.rareData().cache }

// Streams returns the streams that the node reads.
func (n *Node) Streams() []StreamRead { return n.rareData().streams }

// Extra returns the names of the fields that the kind reads in addition to View, and their
// indexes in Reads.
func (n *Node) Extra() (names []string, at []int32) {
	r := n.rareData()
	return r.extra, r.extraAt
}

// Items returns the handler of a fan-out if it may be called through an items.Range, else nil.
func (n *Node) Items() items.Handler { return n.rareData().items }

// Prices returns what a budget needs to know about the models that the node calls.
func (n *Node) Prices() Prices { return n.rareData().prices }

// Bookkeeping reports whether the handler only looks at its input; see core.Compiled.Bookkeeping.
func (n *Node) Bookkeeping() bool { return n.rareData().bookkeeping }

// Environments returns the environment variables of the programs of the node, if they do not
// inherit all of them.
func (n *Node) Environments() []core.Environment { return n.rareData().environments }

// Prices describes the models that a node calls; see core.Compiled.
type Prices struct {
	Unpriced    []string
	AsksRouter  bool
	RouterModel string
}

// Read is a field that a node reads, with the number of its writers that come before the node.
type Read struct {
	Field     int32
	Threshold int32
}

// Policy is the effect of a failed node on its run.
type Policy uint8

// Policies.
const (
	PolicyDefault Policy = iota // dependents are skipped and the run fails at its end
	PolicySkip                  // dependents are skipped and the failure is tolerated
	PolicyFailRun               // the run is stopped
)

// Frame is a nested run.
type Frame struct {
	Plan    *Plan
	Outputs []Output
	// Send reports whether the state of the nested run is sent to the node's successors.
	Send bool
}

// Output copies a field of a nested run to a field of the outer run.
type Output struct {
	Outer int32 // field of the outer schema
	Name  string
	Inner int32
	// Member is the member of the field Inner that is copied, "" for the whole field. It is set if
	// the nested state is open, see Plan.Open.
	Member string
}

// Of returns the value to copy from the value of the field Inner, or value.Missing if there is
// none.
func (o *Output) Of(v any) any {
	if o.Member == "" {
		return v
	}
	whole, _ := v.(*value.Object)
	member, ok := whole.Get(o.Member)
	if !ok {
		return value.Missing
	}
	return member
}

// Unit is a pipeline or loop.
type Unit struct {
	ID      string
	Phase   string
	IsLoop  bool
	Members []int32 // nodes, in order
	Items   *Source // rows of a pipeline
	// Until ends a loop, or nil if there is none. MaxIters limits the rounds; with FailExhausted,
	// reaching that limit is a failure.
	Until         *expressions.Program
	MaxIters      int
	FailExhausted bool
	Concurrency   int
	// Batch is the number of elements of the array in a row, which is then an array. If it is 0,
	// each element is a row.
	Batch int
	// LastClaim is the last member that replaces files or tables, or -1 if there is none.
	LastClaim int32
	// Flush limits the time for which the elements of a stream wait for a full batch, 0 for no
	// limit.
	Flush time.Duration
	// Puller fetches the rows of a pipeline over a stream, one at a time, as attempt number 0 of
	// the first stage; nil for all other units.
	Puller *Node
	Policy Policy
	// Fields are the fields that its members write.
	Fields []UnitField
	// Reads are the fields that items, until and members read as they were before the unit.
	Reads []Read
	// NodeRefs are the nodes to which items, until and members refer through $nodes.
	NodeRefs []int32
}

// UnitField is a field that members of a unit write.
type UnitField struct {
	Field     int32
	Members   []int32 // indexes of the members that write it, ascending
	MayReject bool
}

// FieldIndex returns the index of a field in Fields, or -1. It searches the whole list, because units
// write few fields.
func (u *Unit) FieldIndex(field int32) int {
	for i := range u.Fields {
		if u.Fields[i].Field == field {
			return i
		}
	}
	return -1
}

// Edge is a compiled edge between vertices.
type Edge struct {
	From, To         int32 // vertices
	FromNode, ToNode int32
	When             *expressions.Program
	Else             bool
	On               On
	// Handles reports whether an on: fail edge handles the failure if the target runs.
	Handles bool
	// InElseGroup reports whether the else group of the source evaluates the edge.
	InElseGroup bool
	// Delegates marks an edge of a flow to a sub-agent, which no token follows.
	Delegates bool
	// JoinBranch is 1 plus the index of the join's branch to which the edge belongs, or 0 if there
	// is none.
	JoinBranch int32
}

// On is the status of its source that an edge requires.
type On uint8

// Values of On.
const (
	OnSuccess On = iota
	OnFail
	OnDone
)

// String returns the value as written in documents.
func (o On) String() string { return [...]string{"success", "fail", "done"}[o] }

// ElseGroup evaluates the conditions on all edges out of a source that has an else edge, together, on
// the state after the source's level.
type ElseGroup struct {
	Source  int32
	Edges   []int32
	Level   int32 // the level whose state it reads
	Pending int32
}

// Threshold returns the number of writers of a field on lower levels.
func (p *Plan) Threshold(field, level int32) int32 {
	levels := p.writerLevels[field]
	lo, hi := 0, len(levels)
	for lo < hi {
		if mid := (lo + hi) / 2; levels[mid] < level {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return int32(lo)
}

// Node returns the node with the given id.
func (p *Plan) Node(id string) (*Node, bool) {
	i, ok := p.find(id)
	if !ok {
		return nil, false
	}
	return &p.Nodes[i], true
}

// InEdges returns the incoming edges of a vertex in declared order.
func (p *Plan) InEdges(v int32) []int32 { return p.In[p.InStart[v]:p.InStart[v+1]] }

// OutGates returns the gates that a vertex opens when it is resolved.
func (p *Plan) OutGates(v int32) []int32 { return p.Out[p.OutStart[v]:p.OutStart[v+1]] }
