package sweny

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// These structs define the format. A tag gives the key and its limits, `doc` its
// meaning.

type documentShape struct {
	ID           source.Text                   `wavefold:"id,required" doc:"what the workflow is called in logs and events"`
	Name         source.Text                   `wavefold:"name,required" doc:"what people call it"`
	Description  source.Text                   `wavefold:"description" doc:"what it is for"`
	Entry        source.Text                   `wavefold:"entry,required" doc:"the node at which it begins"`
	Nodes        source.Members[*source.Value] `wavefold:"nodes,required" doc:"the nodes, by id"`
	Edges        []edgeShape                   `wavefold:"edges" doc:"the ways between them; required, but the list may be empty"`
	Inputs       source.Members[*source.Value] `wavefold:"inputs" doc:"parameters of a run, by name; a run may have others, too"`
	Rules        []sourceShape                 `wavefold:"rules" doc:"rules that every node must follow"`
	Context      []sourceShape                 `wavefold:"context" doc:"facts that every node should know"`
	Skills       source.Members[*source.Value] `wavefold:"skills" doc:"skills that the document brings along, by id"`
	Model        source.Text                   `wavefold:"model" doc:"the model of nodes that name none, and of the one who picks edges; default: the engine's"`
	JudgeModel   source.Text                   `wavefold:"judge_model" doc:"the model of checks of the kind judge that name none"`
	JudgeBudget  *source.Int                   `wavefold:"judge_budget,min=0" doc:"more expected calls of judges than this are a warning; default 50"`
	WorkflowType source.Text                   `wavefold:"workflow_type,oneof=pr_review|e2e_test|content_generation|monitor|data_sync|generic" doc:"kept; has no effect on running"`
	Parallel     bool                          `wavefold:"parallel" doc:"runs plain fan-out and join at once, see below; default false"`
	Rest         *source.Value                 `wavefold:",rest"`
	Pos          source.Position               `wavefold:",pos"`
	Lost         source.Lost                   `wavefold:",lost"`
}

type nodeShape struct {
	Name        source.Text       `wavefold:"name,required" doc:"what people call the node"`
	Instruction *sourceShape      `wavefold:"instruction,required" doc:"what the model is told"`
	Skills      []source.Text     `wavefold:"skills" doc:"ids of skills: of registered Go functions, or of the document's own"`
	Output      *source.Value     `wavefold:"output" doc:"JSON Schema of the answer; its properties are what the one who picks edges is shown"`
	MaxTurns    *source.Int       `wavefold:"max_turns,min=1" doc:"how many calls of the model the node may take; default 20"`
	Model       source.Text       `wavefold:"model" doc:"default: the workflow's"`
	Disallowed  []source.Text     `wavefold:"disallowed_tools" doc:"kept; agents have no tools but those of skills"`
	Tools       *toolsShape       `wavefold:"tools" doc:"filter on the tools of skills"`
	FailSoft    bool              `wavefold:"fail_soft" doc:"makes a failure of the model a success that says so; default false"`
	Rules       *nodeSourcesShape `wavefold:"rules" doc:"further rules, or {only: true, sources: [...]} for these alone"`
	Context     *nodeSourcesShape `wavefold:"context" doc:"likewise"`
	Requires    *source.Value     `wavefold:"requires" doc:"checks before the model is asked"`
	Eval        *source.Value     `wavefold:"eval" doc:"named checks of the answer"`
	EvalPolicy  source.Text       `wavefold:"eval_policy" doc:"all_pass, which is the default; nothing else is supported"`
	JudgeModel  source.Text       `wavefold:"judge_model" doc:"default: the workflow's"`
	Retry       *retryShape       `wavefold:"retry" doc:"asks again after a failed check"`
	Rest        *source.Value     `wavefold:",rest"`
	Pos         source.Position   `wavefold:",pos"`
	Lost        source.Lost       `wavefold:",lost"`

	id string
}

type toolsShape struct {
	Allow []source.Text   `wavefold:"allow" doc:"only these"`
	Deny  []source.Text   `wavefold:"deny" doc:"all but these; comes before allow"`
	Pos   source.Position `wavefold:",pos"`
}

type retryShape struct {
	Max         source.Int      `wavefold:"max,required,min=1,max=10" doc:"how often, after the first time"`
	Instruction *source.Value   `wavefold:"instruction" doc:"what the model is told then: a string, {auto: true} or {reflect: a string}; by default what failed"`
	Pos         source.Position `wavefold:",pos"`
}

type edgeShape struct {
	From          source.Text     `wavefold:"from,required" doc:"id of the node that it leaves"`
	To            source.Text     `wavefold:"to,required" doc:"id of the node that it leads to"`
	When          *source.Value   `wavefold:"when" doc:"the condition, in plain language"`
	MaxIterations *source.Int     `wavefold:"max_iterations,min=1" doc:"how often the way between the two nodes may be taken in a run; default: any number"`
	Rest          *source.Value   `wavefold:",rest"`
	Pos           source.Position `wavefold:",pos"`
	Lost          source.Lost     `wavefold:",lost"`
}

type inputShape struct {
	Type        source.Text     `wavefold:"type,required,oneof=string|number|boolean|string[]" doc:"type of the value"`
	Required    bool            `wavefold:"required" doc:"whether a run must be given a value; default false"`
	Default     *source.Value   `wavefold:"default" doc:"the value when a run is given none"`
	Enum        []*source.Value `wavefold:"enum" doc:"the allowed values; absent: all of the type"`
	Description source.Text     `wavefold:"description" doc:"what it means"`
	Pos         source.Position `wavefold:",pos"`
	Lost        source.Lost     `wavefold:",lost"`

	name string
}

type skillShape struct {
	Name        source.Text     `wavefold:"name" doc:"default: the id"`
	Description source.Text     `wavefold:"description" doc:"what it provides"`
	Instruction source.Text     `wavefold:"instruction" doc:"instructions for the prompts of nodes that have the skill"`
	MCP         *source.Value   `wavefold:"mcp" doc:"kept; servers of tools are not supported"`
	Pos         source.Position `wavefold:",pos"`
	Lost        source.Lost     `wavefold:",lost"`

	id string
}

// DecodeSubject names the node by its id.
func (n *nodeShape) DecodeSubject(*source.Value) string { return "node " + n.id }

// DecodeSubject names the input.
func (n *inputShape) DecodeSubject(*source.Value) string { return "input " + n.name }

// DecodeSubject names the skill by its id.
func (s *skillShape) DecodeSubject(*source.Value) string { return "skill " + s.id }

// DecodeSubject names the edge by its ends.
func (*edgeShape) DecodeSubject(v *source.Value) string {
	from, to := word(v, "from"), word(v, "to")
	if from == "" || to == "" {
		return ""
	}
	return "edge " + from + " -> " + to
}

// word returns a member that is a short string on one line, "" otherwise.
func word(v *source.Value, key string) string {
	s, _ := v.Get(key).Plain().(string)
	if len(s) > 80 || strings.ContainsAny(s, "\t\r\n") {
		return ""
	}
	return s
}
