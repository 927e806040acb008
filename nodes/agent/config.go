package agent

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// common is the configuration of both kinds, as it stands in a document.
type common struct {
	Prompt      *core.Text        `wavefold:"prompt" doc:"what the model is told: a template, or the name of a file with one"`
	Instruction *core.Text        `wavefold:"instruction" doc:"the same as prompt, but not a template; either this or prompt"`
	Preamble    []preambleConfig  `wavefold:"preamble" doc:"strings that are put before the prompt unchanged: a string, or {title, input, text}"`
	Context     bool              `wavefold:"context" doc:"put what the run knows before the prompt, as JSON"`
	Known       []core.Text       `wavefold:"context_nodes" doc:"in a dag, the nodes whose results the run knows here, in place of what predecessors sent"`
	System      core.Text         `wavefold:"system" doc:"instructions that go before everything: a template, or the name of a file with one"`
	Model       core.Text         `wavefold:"model" doc:"name of the model"`
	Provider    core.Text         `wavefold:"provider,fixed" doc:"the company or server that runs the model; a warning if the model client cannot choose it"`
	Effort      core.Text         `wavefold:"reasoning_effort,fixed" doc:"how hard the model should think, such as low or high"`
	Schema      *core.Value       `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
	Lenient     bool              `wavefold:"lenient" doc:"take any answer as an object; of the schema only its required members count"`
	Temperature *float64          `wavefold:"temperature,min=0,max=2" doc:"from 0 to 2"`
	MaxTokens   int               `wavefold:"max_tokens,min=1" doc:"limit on the answer"`
	Timeout     time.Duration     `wavefold:"timeout_ms,ms,min=1ms" doc:"limit on one call of the model"`
	Requires    *requiresConfig   `wavefold:"requires" doc:"checks before the model is asked: {output_required, output_matches, on_fail}"`
	Eval        []evaluatorConfig `wavefold:"eval" doc:"checks of the answer: [{name, kind, rule} or {name, kind: judge, rubric}]"`
	JudgeModel  core.Text         `wavefold:"judge_model" doc:"name of the model of the judges"`
	FailSoft    bool              `wavefold:"fail_soft" doc:"a failure of the model becomes a success that says so"`
	Retry       *retryConfig      `wavefold:"retry_instruction" doc:"what another attempt is told: a string, {auto: true} or {reflect: string}"`
}

// agentConfig is the configuration of the kind agent.
type agentConfig struct {
	common
	Tools     []toolConfig    `wavefold:"tools" doc:"registered Go functions that the model may call: names, or {name, description, parameters}"`
	Commands  []commandConfig `wavefold:"commands" doc:"programs that the model may call: [{name, description, run, parameters}]"`
	Skills    []skillConfig   `wavefold:"skills" doc:"families of functions, or instructions for the prompt: [{name, description, instruction}]"`
	Filter    *filterConfig   `wavefold:"tool_filter" doc:"which functions of the skills are offered: {allow, deny}"`
	Hosted    []core.Text     `wavefold:"hosted_tools" doc:"tools that run where the model runs, such as web_search"`
	MaxTurns  core.Int        `wavefold:"max_turns,min=1" doc:"how often the model may be asked in one attempt (20)"`
	MaxOutput setting.Bytes   `wavefold:"max_output" doc:"how much of a tool's answer the model is shown (100KB)"`
}

// requiresConfig is what must hold before the model is asked.
type requiresConfig struct {
	Required []core.Text   `wavefold:"output_required" doc:"paths of values that must be there"`
	Matches  []matchConfig `wavefold:"output_matches" doc:"paths and what their values must be"`
	OnFail   core.Text     `wavefold:"on_fail,oneof=fail|skip" doc:"whether the node fails or is skipped (fail)"`
	Pos      core.Position `wavefold:",pos"`
}

// matchConfig compares what a path leads to. Exactly one of the three says with what.
type matchConfig struct {
	Path    core.Text     `wavefold:"path,required"`
	Equals  *core.Value   `wavefold:"equals"`
	In      *core.Value   `wavefold:"in"`
	Matches *core.Text    `wavefold:"matches"`
	Pos     core.Position `wavefold:",pos"`
}

// evaluatorConfig is one check of an answer.
type evaluatorConfig struct {
	Name     core.Text     `wavefold:"name,required" doc:"what the check is called"`
	Kind     core.Text     `wavefold:"kind,required,oneof=value|function|judge" doc:"what is looked at: the value, the calls of tools, or both by a model"`
	Rule     *ruleConfig   `wavefold:"rule" doc:"of value: {output_required, output_matches}; of function: {any_tool_called, all_tools_called, no_tool_called}"`
	Rubric   *core.Text    `wavefold:"rubric" doc:"of judge: what the answer must satisfy"`
	PassWhen *core.Text    `wavefold:"pass_when" doc:"of judge: the verdict that passes (yes)"`
	Model    *core.Text    `wavefold:"model" doc:"of judge: name of the model"`
	Pos      core.Position `wavefold:",pos"`
}

type ruleConfig struct {
	AnyTool  []core.Text   `wavefold:"any_tool_called"`
	AllTools []core.Text   `wavefold:"all_tools_called"`
	NoTool   []core.Text   `wavefold:"no_tool_called"`
	Required []core.Text   `wavefold:"output_required"`
	Matches  []matchConfig `wavefold:"output_matches"`
	Pos      core.Position `wavefold:",pos"`
}

// retryConfig is what another attempt is told: Text as it stands, or what the model comes
// up with when it is asked to reflect, with a question of its own or the usual one.
type retryConfig struct {
	Text    string
	Reflect string
}

var _ core.Unmarshaler = (*retryConfig)(nil)

// DecodeValue reads the text or mapping.
func (c *retryConfig) DecodeValue(v *core.Value) core.Diagnostics {
	if v.Kind == core.StringValue {
		var t struct{ core.Text }
		ds := core.Decode(v, &t.Text)
		c.Text = t.Text.Value
		return ds
	}
	var m struct {
		Auto    core.Located[bool] `wavefold:"auto"`
		Reflect core.Text          `wavefold:"reflect"`
	}
	if v.Kind != core.ObjectValue {
		return core.WrongType(v, "a string, {auto: true} or {reflect: string}")
	}
	ds := core.Decode(v, &m)
	switch {
	case ds.Failed(false):
	case m.Auto.Value == (m.Reflect.Value != ""):
		ds.Errorf(core.CodeBadValue, v.Pos, "want a string, {auto: true} or {reflect: string}")
	case m.Auto.Value:
		c.Reflect = usualReflection
	default:
		c.Reflect = m.Reflect.Value
	}
	return ds
}

// toolConfig offers a registered Go function.
type toolConfig struct {
	Name        core.Text
	Description string
	Parameters  *core.Value
}

var _ core.Unmarshaler = (*toolConfig)(nil)

// DecodeValue reads the name or mapping.
func (c *toolConfig) DecodeValue(v *core.Value) core.Diagnostics {
	if v.Kind == core.StringValue {
		return core.Decode(v, &c.Name)
	}
	if v.Kind != core.ObjectValue {
		return core.WrongType(v, "the name of a function, or a mapping")
	}
	var m struct {
		Name        core.Text   `wavefold:"name,required"`
		Description core.Text   `wavefold:"description"`
		Parameters  *core.Value `wavefold:"parameters"`
	}
	ds := core.Decode(v, &m)
	c.Name, c.Description, c.Parameters = m.Name, m.Description.Value, m.Parameters
	return ds
}

// commandConfig offers a program.
type commandConfig struct {
	Name        core.Text                  `wavefold:"name,required" doc:"what the model calls it by"`
	Run         []core.Text                `wavefold:"run,required" doc:"the program and its arguments, one list element each; the model's arguments are on standard input, as JSON"`
	Env         core.Members[secret.Value] `wavefold:"env" doc:"environment variables of the program: {NAME: text} or {NAME: {secret: VARIABLE}}"`
	PassEnv     program.Passed             `wavefold:"pass_env" doc:"the variables that it gets from the environment in addition to PATH, HOME, LANG and TMPDIR"`
	Description core.Text                  `wavefold:"description" doc:"what it does"`
	Parameters  *core.Value                `wavefold:"parameters" doc:"JSON Schema of the arguments"`
	Pos         core.Position              `wavefold:",pos"`
}

type skillConfig struct {
	Name        core.Text     `wavefold:"name,required" doc:"its name; functions that are called so, or NAME_something, are its tools"`
	Description core.Text     `wavefold:"description" doc:"a description for people"`
	Instruction core.Text     `wavefold:"instruction" doc:"instructions for the prompt, if there are no such functions"`
	Pos         core.Position `wavefold:",pos"`
}

type filterConfig struct {
	Allow []core.Text   `wavefold:"allow" doc:"only these"`
	Deny  []core.Text   `wavefold:"deny" doc:"not these"`
	Pos   core.Position `wavefold:",pos"`
}
