package agent

import (
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/program"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// common is the configuration that both kinds share.
type common struct {
	Prompt      *source.Text      `wavefold:"prompt" doc:"what the model is told: a template, or the name of a file with one"`
	Instruction *source.Text      `wavefold:"instruction" doc:"the same as prompt, but not a template; either this or prompt"`
	Preamble    []preambleConfig  `wavefold:"preamble" doc:"strings that are put before the prompt unchanged: a string, or {title, input, text}"`
	Context     bool              `wavefold:"context" doc:"put what the run knows before the prompt, as JSON"`
	Known       []source.Text     `wavefold:"context_nodes" doc:"in a dag, the nodes whose results the run knows here, in place of what predecessors sent"`
	System      source.Text       `wavefold:"system" doc:"instructions that go before everything: a template, or the name of a file with one"`
	Model       source.Text       `wavefold:"model" doc:"name of the model"`
	Provider    source.Text       `wavefold:"provider,fixed" doc:"the company or server that runs the model; a warning if the model client cannot choose it"`
	Effort      source.Text       `wavefold:"reasoning_effort,fixed" doc:"how hard the model should think, such as low or high"`
	Schema      *source.Value     `wavefold:"schema" doc:"JSON Schema of the answer, or a file with it"`
	Lenient     bool              `wavefold:"lenient" doc:"take any answer as an object; of the schema only its required members count"`
	Temperature *float64          `wavefold:"temperature,min=0,max=2" doc:"from 0 to 2"`
	MaxTokens   int               `wavefold:"max_tokens,min=1" doc:"limit on the answer"`
	Timeout     time.Duration     `wavefold:"timeout_ms,ms,min=1ms" doc:"limit on one call of the model"`
	Requires    *requiresConfig   `wavefold:"requires" doc:"checks before the model is asked: {output_required, output_matches, on_fail}"`
	Eval        []evaluatorConfig `wavefold:"eval" doc:"checks of the answer: [{name, kind, rule} or {name, kind: judge, rubric}]"`
	JudgeModel  source.Text       `wavefold:"judge_model" doc:"name of the model of the judges"`
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
	Hosted    []source.Text   `wavefold:"hosted_tools,fixed" doc:"tools that run where the model runs, such as web_search"`
	MaxTurns  source.Int      `wavefold:"max_turns,min=1" doc:"how often the model may be asked in one attempt (20)"`
	MaxOutput setting.Bytes   `wavefold:"max_output" doc:"how much of a tool's answer the model is shown (100KB)"`
}

// requiresConfig holds the conditions that must hold before the model is called.
type requiresConfig struct {
	Required []source.Text   `wavefold:"output_required" doc:"paths of values that must be there"`
	Matches  []matchConfig   `wavefold:"output_matches" doc:"paths and what their values must be"`
	OnFail   source.Text     `wavefold:"on_fail,oneof=fail|skip" doc:"whether the node fails or is skipped (fail)"`
	Pos      source.Position `wavefold:",pos"`
}

// matchConfig compares the values at a path. Exactly one of Equals, In and Matches is set.
type matchConfig struct {
	Path    source.Text     `wavefold:"path,required"`
	Equals  *source.Value   `wavefold:"equals"`
	In      *source.Value   `wavefold:"in"`
	Matches *source.Text    `wavefold:"matches,fixed"`
	Pos     source.Position `wavefold:",pos"`
}

// evaluatorConfig is one check of an answer.
type evaluatorConfig struct {
	Name     source.Text     `wavefold:"name,required,fixed" doc:"what the check is called"`
	Kind     source.Text     `wavefold:"kind,required,oneof=value|function|judge" doc:"what is looked at: the value, the calls of tools, or both by a model"`
	Rule     *ruleConfig     `wavefold:"rule" doc:"of value: {output_required, output_matches}; of function: {any_tool_called, all_tools_called, no_tool_called}"`
	Rubric   *source.Text    `wavefold:"rubric" doc:"of judge: what the answer must satisfy"`
	PassWhen *source.Text    `wavefold:"pass_when,fixed" doc:"of judge: the verdict that passes (yes)"`
	Model    *source.Text    `wavefold:"model,fixed" doc:"of judge: name of the model"`
	Pos      source.Position `wavefold:",pos"`
}

type ruleConfig struct {
	AnyTool  []source.Text   `wavefold:"any_tool_called,fixed"`
	AllTools []source.Text   `wavefold:"all_tools_called,fixed"`
	NoTool   []source.Text   `wavefold:"no_tool_called,fixed"`
	Required []source.Text   `wavefold:"output_required"`
	Matches  []matchConfig   `wavefold:"output_matches"`
	Pos      source.Position `wavefold:",pos"`
}

// retryConfig says what is added to the prompt of the next attempt: either Text, or the
// model's answer to the question Reflect about its last attempt.
type retryConfig struct {
	Text    string
	Reflect string
}

var _ source.Unmarshaler = (*retryConfig)(nil)

// DecodeValue reads a string or a mapping.
func (c *retryConfig) DecodeValue(v *source.Value) source.Diagnostics {
	if v.Kind == source.StringValue {
		var t struct{ source.Text }
		ds := source.Decode(v, &t.Text)
		c.Text = t.Text.Value
		return ds
	}
	var m struct {
		Auto    source.Located[bool] `wavefold:"auto"`
		Reflect source.Text          `wavefold:"reflect"`
	}
	if v.Kind != source.ObjectValue {
		return source.WrongType(v, "a string, {auto: true} or {reflect: string}")
	}
	ds := source.Decode(v, &m)
	switch {
	case ds.Failed(false):
	case m.Auto.Value == (m.Reflect.Value != ""):
		ds.Errorf(source.CodeBadValue, v.Pos, "want a string, {auto: true} or {reflect: string}")
	case m.Auto.Value:
		c.Reflect = defaultReflection
	default:
		c.Reflect = m.Reflect.Value
	}
	return ds
}

// toolConfig offers a registered Go function to the model.
type toolConfig struct {
	Name        source.Text
	Description string
	Parameters  *source.Value
}

var _ source.Unmarshaler = (*toolConfig)(nil)

// DecodeValue reads a name or a mapping.
func (c *toolConfig) DecodeValue(v *source.Value) source.Diagnostics {
	if v.Kind == source.StringValue {
		return source.Decode(v, &c.Name)
	}
	if v.Kind != source.ObjectValue {
		return source.WrongType(v, "the name of a function, or a mapping")
	}
	var m struct {
		Name        source.Text   `wavefold:"name,required"`
		Description source.Text   `wavefold:"description"`
		Parameters  *source.Value `wavefold:"parameters"`
	}
	ds := source.Decode(v, &m)
	c.Name, c.Description, c.Parameters = m.Name, m.Description.Value, m.Parameters
	return ds
}

// commandConfig offers a program to the model.
type commandConfig struct {
	Name        source.Text                  `wavefold:"name,required,fixed" doc:"what the model calls it by"`
	Run         []source.Text                `wavefold:"run,required,fixed" doc:"the program and its arguments, one list element each; the model's arguments are on standard input, as JSON"`
	Env         source.Members[secret.Value] `wavefold:"env" doc:"environment variables of the program: {NAME: text} or {NAME: {secret: VARIABLE}}"`
	PassEnv     program.Passed               `wavefold:"pass_env" doc:"the variables that it gets from the environment in addition to PATH, HOME, LANG and TMPDIR"`
	Description source.Text                  `wavefold:"description" doc:"what it does"`
	Parameters  *source.Value                `wavefold:"parameters" doc:"JSON Schema of the arguments"`
	Pos         source.Position              `wavefold:",pos"`
}

type skillConfig struct {
	Name        source.Text     `wavefold:"name,required,fixed" doc:"its name; functions that are called so, or NAME_something, are its tools"`
	Description source.Text     `wavefold:"description" doc:"a description for people"`
	Instruction source.Text     `wavefold:"instruction" doc:"instructions for the prompt, if there are no such functions"`
	Pos         source.Position `wavefold:",pos"`
}

type filterConfig struct {
	Allow []source.Text   `wavefold:"allow" doc:"only these"`
	Deny  []source.Text   `wavefold:"deny" doc:"not these"`
	Pos   source.Position `wavefold:",pos"`
}
