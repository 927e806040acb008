package plan

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/state"
)

// Plan is a compiled graph.
type Plan struct {
	Name     string
	Workflow *core.Workflow
	Schema   *state.Schema
	// Concurrency is how many vertices may hold a slot; 0 leaves it to the
	// caller. MaxInFlight caps user code in flight; 0 means no cap.
	Concurrency int
	MaxInFlight int
	Barrier     bool
	// Stdout tells that a node, or one nested in it, writes to standard output; Stdin
	// that one reads standard input.
	Stdout, Stdin bool
	// Foreign tells that values of the state, or of one nested in it, bring code of
	// their own along, which runs where one is read from JSON or written.
	Foreign bool
	// Incremental is what a run leaves for the next one, nil for nothing.
	Incremental *Incremental
	// Nested is how many runs of nested workflows one run includes, if every node, item and
	// row is run once; at most MaxNested.
	Nested int64
	// Secrets are what its nodes and those nested in them refer to, each place
	// in a document once.
	Secrets []core.Secret
	// Refused are the errors that keep the plan from being run although it can be looked
	// at: its nodes, and those nested in them, for which the engine has no handler.
	Refused source.Diagnostics
	// Mode is the way in which the graph is run. Conventions are what it does with the nodes
	// and their results.
	Mode        *Mode
	Conventions core.Conventions
	// Walk holds what only the mode walk has, else nil.
	Walk *Walk
	// context is the field that holds the context.
	context int32
	// Claimers are the vertices whose files and tables might be those of another one, in
	// canonical order: what they replace is put in place in that order.
	Claimers []Claimer
	// replaces is what its nodes and those nested in them replace at most; upserts tells that
	// one of these stores rows by key.
	replaces core.Replaces
	upserts  bool
	// outputs and inputs are the files and tables that its nodes and those nested in
	// them write and read.
	outputs, inputs []Target

	Vertices []Vertex // in canonical order
	Nodes    []Node   // in declared order
	Edges    []Edge   // in declared order
	Judges   []Judge
	Joins    []Join
	Arms     []Arm
	// Races tells that a join may give nodes up: see Gives.
	Races bool
	// Levels holds the first vertex of each level, and the number of vertices
	// at its end.
	Levels []int32

	// Out holds, for vertex v at Out[OutStart[v]:OutStart[v+1]], the gates that
	// v opens when it is resolved: a vertex, a judge as len(Vertices)+j, or the arm of a
	// join as ArmGate says. In
	// holds the indexes of the incoming edges in declared order.
	Out      []int32
	OutStart []int32
	In       []int32
	InStart  []int32

	// Writers counts the ledger slots of each field; writerLevels holds their
	// levels. Writer is the vertex of a slot.
	Writers      []int
	writerLevels [][]int32
	WriterVertex [][]int32
	// Readers lists, for each field, who waits for a prefix of its writers, by
	// rising threshold. Thresholds of 0 are left out.
	Readers [][]Reader
	// Rank gives the order in which startable vertices are started; nil means
	// canonical order. ByRank is its inverse.
	Rank      []int32
	ByRank    []int32
	nodeIndex map[string]int32
	// inputIndex finds the declared inputs.
	inputIndex map[string]int32
	// files are the digests of the files that kinds read, by node.
	files     map[int32]*value.Object
	edgeDecls []*core.Edge // of Edges; apart from them, because a run does not need it
}

// Shape is what a vertex is made of.
type Shape uint8

// Shapes of vertices.
const (
	Plain    Shape = iota // one execution of one node
	FanOut                // a node with for_each
	Pipeline              // rows through stages
	Loop                  // rounds of a body
	Walking               // the visits of a walk
)

// Vertex is a unit of ordering.
type Vertex struct {
	Node  int32 // index in Nodes, -1 for pipelines and loops
	Level int32
	// Pending counts what must be resolved before the vertex is decided:
	// incoming edges, orderings and fields of its conditions. Waits counts the
	// fields that must be resolved before it starts.
	Pending int32
	Waits   int32
	// Judge is the judge of its outgoing conditions, -1 for none.
	Judge int32
	// Join is what it takes of its predecessors, an index in Joins, -1 for all of them
	// or, with AllDone, for any end of theirs.
	Join  int32
	Shape Shape
	// Bare tells that it is a bare node that writes nothing.
	Bare bool
	// Last marks a unit without edges: it comes after the whole main graph.
	Last bool
	// AllDone runs the vertex whatever happened before it.
	AllDone bool
	// Conditional tells that incoming edges must be looked at even when every
	// predecessor succeeded.
	Conditional bool
	// Refuses tells that it writes a field whose merge can refuse.
	Refuses bool
	// HasFailEdge reports whether an on: fail edge leaves it.
	HasFailEdge bool
	// Claims reports whether it is one of Plan.Claimers.
	Claims bool
	Unit   *Unit // nil for plain nodes and fan-outs
	// Writes are its slots in the ledger.
	Writes []Slot
	ID     string
}

// Claimer is a vertex whose files and tables might be those of another one. It puts its
// output in place once the first After claimers are resolved.
type Claimer struct {
	Vertex, After int32
}

// Slot is a writer's place in the ledger of a field.
type Slot struct {
	Field int32
	Slot  int32
}

// Reader waits until the first Threshold writers of a field are resolved.
type Reader struct {
	Threshold int32
	Vertex    int32 // or judge, or arm, see Gate
	Gate      Gate
}

// Gate says what a reader waits for.
type Gate uint8

// Gates.
const (
	GateDecide Gate = iota // the decision whether a vertex runs
	GateStart              // the start of a vertex
	GateJudge              // the conditions behind a source with an else edge
	GateKeep               // nothing: the vertex waits for more, and sees this prefix too
	GateArm                // what the arm of a join is worth
)

// Node is one compiled node.
type Node struct {
	// Every visit reads the first 64 bytes, one cache line.
	Handler core.Handler
	ID      string
	Index   int32
	Vertex  int32
	Member  int32 // its place in its unit, -1 outside of units
	// Bare tells that the node is a handler that is given nothing: no reads,
	// args or references, no fan-out, timer, timeout or jitter.
	Bare bool
	// Pull makes it the node that fetches the rows of a stream for a pipeline or
	// fan-out, see Unit.Puller and Puller; it is not among the nodes of the plan.
	Pull bool
	// Gives tells that an execution of the node may be given up by itself.
	Gives  bool
	Policy Policy
	// Value is the handler if it makes the node's only write and is called for that.
	Value core.ValueHandler

	Retry   *Retry // never nil; apart from the node, because most nodes share one
	Frame   *Frame
	Wait    *core.Wait
	Args    *Args
	Source  *Source
	Timeout time.Duration
	// Models tells that the node may call models. See Prices for which.
	Models bool
	// Claims tells that what its executions replace is put in place when their turn comes.
	Claims bool
	// Upserts tells that keys that its executions store are compared with those of others.
	// upserts says that it stores rows by key, or that a nested node does.
	Upserts, upserts bool
	replaces         core.Replaces
	// Effects tells that its work is visible outside of the run. A driver that keeps
	// a journal starts such a node only when what it builds on is in it.
	Effects bool
	// Asks tells that the node waits for a person and holds no slot meanwhile.
	Asks bool
	// AllowPartial makes a visit that still asks for another attempt after the last one a
	// partial success; AutoStatus makes one that ends without success a success.
	AllowPartial, AutoStatus bool
	// Briefed tells that the node is told what came before it in a walk.
	Briefed bool
	// Stdout tells that it, or a node of its frame, writes to standard output; Stdin
	// that it reads standard input.
	Stdout, Stdin bool

	// Reads are the fields captured for an attempt: the declared reads first,
	// then those of args, source and kind.
	Reads []Read
	// View are the names of the declared reads.
	View   []string
	Writes []string
	// WriteFields are the fields of Writes.
	WriteFields []int32
	// Puller fetches the items of a fan-out over a stream, some for each attempt
	// number 0 of the node; nil for all others.
	Puller *Node
	// Collect is the field that gets the results of a fan-out's items as one list, -1 for
	// none.
	Collect int32
	// StreamTo is the field that it makes a stream, -1 for none.
	StreamTo    int32
	Concurrency int
	MaxFailures int // -1: any number

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
	rows         []fieldRows // with columns to look for, see Wanted
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

// NodeRefs returns the nodes that args and kind refer to through $nodes.
func (n *Node) NodeRefs() []int32 { return n.rareData().nodeRefs }

// Streams returns the streams that the node reads.
func (n *Node) Streams() []StreamRead { return n.rareData().streams }

// Extra returns the names of the fields that the kind reads in addition to View, and their
// indexes in Reads.
func (n *Node) Extra() (names []string, at []int32) {
	r := n.rareData()
	return r.extra, r.extraAt
}

// Prices returns what a budget of money must know of the models that the node calls.
func (n *Node) Prices() Prices { return n.rareData().prices }

// Environments returns which environment variables the programs of the node get, if they do
// not inherit all of them.
func (n *Node) Environments() []core.Environment { return n.rareData().environments }

// Prices describe the models that a node calls; see core.Compiled.
type Prices struct {
	Unpriced    []string
	AsksRouter  bool
	RouterModel string
}

// Read is a field that a node sees, and how many of its writers come before.
type Read struct {
	Field     int32
	Threshold int32
}

// Policy says what a failed node does to its run.
type Policy uint8

// Policies.
const (
	PolicyDefault Policy = iota // dependents are skipped, the run fails at its end
	PolicySkip                  // dependents are skipped, the failure is tolerated
	PolicyFailRun               // the run is stopped
)

// Frame is a nested run.
type Frame struct {
	Plan    *Plan
	Outputs []Output
	// Send tells that the state of the nested run is handed to the node's successors.
	Send bool
}

// Output carries a field of a nested run over to its outer one.
type Output struct {
	Outer int32 // field of the outer schema
	Name  string
	Inner int32
}

// Unit is a pipeline or loop.
type Unit struct {
	ID      string
	Phase   string
	IsLoop  bool
	Members []int32 // nodes, in order
	Items   *Source // rows of a pipeline
	// Until ends a loop, nil for none; MaxIters caps it; FailExhausted makes
	// the cap a failure.
	Until         *expressions.Program
	MaxIters      int
	FailExhausted bool
	Concurrency   int
	// Batch is how many elements of the array make a row, which is then an array;
	// 0: an element is a row.
	Batch int
	// LastClaim is the last member that replaces files or tables, -1 for none.
	LastClaim int32
	// Flush is how long the elements of a stream wait for a batch to fill, 0 for as
	// long as it takes.
	Flush time.Duration
	// Puller fetches the rows of a pipeline over a stream, one for each attempt
	// number 0 of the first stage; nil for all others.
	Puller *Node
	Policy Policy
	// Own are the fields its members write.
	Own []OwnField
	// Reads are the fields that items, until and members see from before the
	// unit.
	Reads []Read
}

// OwnField is a field that members of a unit write.
type OwnField struct {
	Field   int32
	Members []int32 // places in the unit that write it, rising
	Refuses bool
}

// OwnIndex returns the place of a field in Own, or -1. Units own few fields, so
// they are looked through.
func (u *Unit) OwnIndex(field int32) int {
	for i := range u.Own {
		if u.Own[i].Field == field {
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
	// Handles reports whether the failure that an on: fail edge asks for is handled if
	// the target runs.
	Handles bool
	// Judged tells that the source's judge decides it.
	Judged bool
	// Arm is 1 + the arm of a join that it belongs to, 0 for none.
	Arm int32
}

// On is the status an edge asks of its source.
type On uint8

// Values of On.
const (
	OnSuccess On = iota
	OnFail
	OnDone
)

// String spells the value as documents do.
func (o On) String() string { return [...]string{"success", "fail", "done"}[o] }

// Judge decides all conditions on the edges out of a source that has an else
// edge, together, on the state after the source's level.
type Judge struct {
	Source  int32
	Edges   []int32
	Level   int32 // the level whose state it sees
	Pending int32
}

// Threshold returns how many writers of a field lie below a level.
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

// Node returns the node of that id.
func (p *Plan) Node(id string) (*Node, bool) {
	i, ok := p.nodeIndex[id]
	if !ok {
		return nil, false
	}
	return &p.Nodes[i], true
}

// InEdges returns the incoming edges of a vertex in declared order.
func (p *Plan) InEdges(v int32) []int32 { return p.In[p.InStart[v]:p.InStart[v+1]] }

// OutGates returns what resolving a vertex opens.
func (p *Plan) OutGates(v int32) []int32 { return p.Out[p.OutStart[v]:p.OutStart[v+1]] }
