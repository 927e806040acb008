package sweny

import (
	"strings"

	"github.com/wavefold/wavefold/core"
)

// These structs define the format. A tag gives the key and its limits, `doc` its
// meaning.

type documentShape struct {
	ID           core.Text                 `wavefold:"id,required" doc:"what the workflow is called in logs and events"`
	Name         core.Text                 `wavefold:"name,required" doc:"what people call it"`
	Description  core.Text                 `wavefold:"description" doc:"what it is for"`
	Entry        core.Text                 `wavefold:"entry,required" doc:"the node at which it begins"`
	Nodes        core.Members[*core.Value] `wavefold:"nodes,required" doc:"the nodes, by id"`
	Edges        []edgeShape               `wavefold:"edges" doc:"the ways between them; required, but the list may be empty"`
	Inputs       core.Members[*core.Value] `wavefold:"inputs" doc:"parameters of a run, by name; a run may have others, too"`
	Rules        []sourceShape             `wavefold:"rules" doc:"rules that every node must follow"`
	Context      []sourceShape             `wavefold:"context" doc:"facts that every node should know"`
	Skills       core.Members[*core.Value] `wavefold:"skills" doc:"skills that the document brings along, by id"`
	Model        core.Text                 `wavefold:"model" doc:"the model of nodes that name none, and of the one who picks edges; default: the engine's"`
	JudgeModel   core.Text                 `wavefold:"judge_model" doc:"the model of checks of the kind judge that name none"`
	JudgeBudget  *core.Int                 `wavefold:"judge_budget,min=0" doc:"more expected calls of judges than this are a warning; default 50"`
	WorkflowType core.Text                 `wavefold:"workflow_type,oneof=pr_review|e2e_test|content_generation|monitor|data_sync|generic" doc:"kept; has no effect on running"`
	Parallel     bool                      `wavefold:"parallel" doc:"runs plain fan-out and join at once, see below; default false"`
	Rest         *core.Value               `wavefold:",rest"`
	Pos          core.Position             `wavefold:",pos"`
	Lost         core.Lost                 `wavefold:",lost"`
}

type nodeShape struct {
	Name        core.Text         `wavefold:"name,required" doc:"what people call the node"`
	Instruction *sourceShape      `wavefold:"instruction,required" doc:"what the model is told"`
	Skills      []core.Text       `wavefold:"skills" doc:"ids of skills: of registered Go functions, or of the document's own"`
	Output      *core.Value       `wavefold:"output" doc:"JSON Schema of the answer; its properties are what the one who picks edges is shown"`
	MaxTurns    *core.Int         `wavefold:"max_turns,min=1" doc:"how many calls of the model the node may take; default 20"`
	Model       core.Text         `wavefold:"model" doc:"default: the workflow's"`
	Disallowed  []core.Text       `wavefold:"disallowed_tools" doc:"kept; agents have no tools but those of skills"`
	Tools       *toolsShape       `wavefold:"tools" doc:"filter on the tools of skills"`
	FailSoft    bool              `wavefold:"fail_soft" doc:"makes a failure of the model a success that says so; default false"`
	Rules       *nodeSourcesShape `wavefold:"rules" doc:"further rules, or {only: true, sources: [...]} for these alone"`
	Context     *nodeSourcesShape `wavefold:"context" doc:"likewise"`
	Requires    *core.Value       `wavefold:"requires" doc:"checks before the model is asked"`
	Eval        *core.Value       `wavefold:"eval" doc:"named checks of the answer"`
	EvalPolicy  core.Text         `wavefold:"eval_policy" doc:"all_pass, which is the default; nothing else is supported"`
	JudgeModel  core.Text         `wavefold:"judge_model" doc:"default: the workflow's"`
	Retry       *retryShape       `wavefold:"retry" doc:"asks again after a failed check"`
	Rest        *core.Value       `wavefold:",rest"`
	Pos         core.Position     `wavefold:",pos"`
	Lost        core.Lost         `wavefold:",lost"`

	id string
}

type toolsShape struct {
	Allow []core.Text   `wavefold:"allow" doc:"only these"`
	Deny  []core.Text   `wavefold:"deny" doc:"all but these; comes before allow"`
	Pos   core.Position `wavefold:",pos"`
}

type retryShape struct {
	Max         core.Int      `wavefold:"max,required,min=1,max=10" doc:"how often, after the first time"`
	Instruction *core.Value   `wavefold:"instruction" doc:"what the model is told then: a string, {auto: true} or {reflect: a string}; by default what failed"`
	Pos         core.Position `wavefold:",pos"`
}

type edgeShape struct {
	From          core.Text     `wavefold:"from,required" doc:"id of the node that it leaves"`
	To            core.Text     `wavefold:"to,required" doc:"id of the node that it leads to"`
	When          *core.Value   `wavefold:"when" doc:"the condition, in plain language"`
	MaxIterations *core.Int     `wavefold:"max_iterations,min=1" doc:"how often the way between the two nodes may be taken in a run; default: any number"`
	Rest          *core.Value   `wavefold:",rest"`
	Pos           core.Position `wavefold:",pos"`
	Lost          core.Lost     `wavefold:",lost"`
}

type inputShape struct {
	Type        core.Text     `wavefold:"type,required,oneof=string|number|boolean|string[]" doc:"type of the value"`
	Required    bool          `wavefold:"required" doc:"whether a run must be given a value; default false"`
	Default     *core.Value   `wavefold:"default" doc:"the value when a run is given none"`
	Enum        []*core.Value `wavefold:"enum" doc:"the allowed values; absent: all of the type"`
	Description core.Text     `wavefold:"description" doc:"what it means"`
	Pos         core.Position `wavefold:",pos"`
	Lost        core.Lost     `wavefold:",lost"`

	name string
}

type skillShape struct {
	Name        core.Text     `wavefold:"name" doc:"default: the id"`
	Description core.Text     `wavefold:"description" doc:"what it provides"`
	Instruction core.Text     `wavefold:"instruction" doc:"instructions for the prompts of nodes that have the skill"`
	MCP         *core.Value   `wavefold:"mcp" doc:"kept; servers of tools are not supported"`
	Pos         core.Position `wavefold:",pos"`
	Lost        core.Lost     `wavefold:",lost"`

	id string
}

// DecodeSubject names the node by its id.
func (n *nodeShape) DecodeSubject(*core.Value) string { return "node " + n.id }

// DecodeSubject names the input.
func (n *inputShape) DecodeSubject(*core.Value) string { return "input " + n.name }

// DecodeSubject names the skill by its id.
func (s *skillShape) DecodeSubject(*core.Value) string { return "skill " + s.id }

// DecodeSubject names the edge by its ends.
func (*edgeShape) DecodeSubject(v *core.Value) string {
	from, to := word(v, "from"), word(v, "to")
	if from == "" || to == "" {
		return ""
	}
	return "edge " + from + " -> " + to
}

// word returns a member that is a short string on one line, "" otherwise.
func word(v *core.Value, key string) string {
	s, _ := v.Get(key).Plain().(string)
	if len(s) > 80 || strings.ContainsAny(s, "\t\r\n") {
		return ""
	}
	return s
}
