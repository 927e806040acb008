// Package agent implements the node kinds "agent" and "prompt". A node sends a prompt to a
// language model and writes the answer to the state. An agent may have tools, and its model is
// called until it answers without calling one; the model of a prompt is called once. Both use
// the model that Kinds was given through package llm, so that each call is in the events and
// counts towards the budget of its run.
//
// # Fields of agent
//
//	prompt             the prompt, a template; or the name of a file (.md, .txt) with it
//	instruction        the prompt as a plain string, in which {{ has no meaning; either this or prompt
//	preamble           strings that go before the prompt unchanged, each followed by a line ---; or
//	                   mappings {title, input, text}: a title, the strings of an input of the run,
//	                   and a text; left out if there is nothing below the title
//	context            put the context before the prompt, as JSON: in a walk its context, elsewhere the inputs, the reads and the outputs of predecessors (false)
//	context_nodes      in a dag, ids of earlier nodes: their outputs are part of the context, in place of the outputs of predecessors
//	system             instructions that go before everything; or the name of a file with them
//	model              name of the model (the engine's)
//	provider           the company or server that runs the model; a warning if the model client cannot choose it
//	reasoning_effort   the reasoning effort of the model, such as low or high (the model's)
//	schema             JSON Schema of the answer, or a file with it; without one it follows from writes
//	lenient            accept any answer as an object; only the required members of the schema are checked (false)
//	temperature        from 0 to 2 (the model's)
//	max_tokens         limit on the answer (the model's)
//	timeout_ms         limit on one call of the model (none)
//	requires           checks before the model is called: {output_required, output_matches, on_fail}
//	eval               checks of the answer: {name, kind: value, rule}, {name, kind: function, rule} or {name, kind: judge, rubric}
//	judge_model        name of the model of the judges (the engine's)
//	fail_soft          a failure of the model becomes a success that contains the error (false)
//	retry_instruction  instruction for another attempt after failed checks: a string, {auto: true} or {reflect: string}
//	tools              registered Go functions that the model may call: names, or {name, description, parameters}
//	commands           programs that the model may call: {name, run, description, parameters,
//	                   env, pass_env}
//	skills             families of functions, or instructions for the prompt: {name, description, instruction}
//	tool_filter        which functions of the skills are offered: {allow, deny}
//	hosted_tools       tools that run where the model runs, such as web_search
//	max_turns          limit on the calls of the model in one attempt (20)
//	max_output         limit on the part of a tool's result that the model gets (100KB)
//
// # Fields of prompt
//
//	prompt             the prompt, a template; or the name of a file (.md, .txt) with it
//	instruction        the prompt as a plain string, in which {{ has no meaning; either this or prompt
//	preamble           strings that go before the prompt unchanged, each followed by a line ---; or
//	                   mappings {title, input, text}: a title, the strings of an input of the run,
//	                   and a text; left out if there is nothing below the title
//	context            put the context before the prompt, as JSON: in a walk its context, elsewhere the inputs, the reads and the outputs of predecessors (false)
//	context_nodes      in a dag, ids of earlier nodes: their outputs are part of the context, in place of the outputs of predecessors
//	system             instructions that go before everything; or the name of a file with them
//	model              name of the model (the engine's)
//	provider           the company or server that runs the model; a warning if the model client cannot choose it
//	reasoning_effort   the reasoning effort of the model, such as low or high (the model's)
//	schema             JSON Schema of the answer, or a file with it; without one it follows from writes
//	lenient            accept any answer as an object; only the required members of the schema are checked (false)
//	temperature        from 0 to 2 (the model's)
//	max_tokens         limit on the answer (the model's)
//	timeout_ms         limit on one call of the model (none)
//	requires           checks before the model is called: {output_required, output_matches, on_fail}
//	eval               checks of the answer: {name, kind: value, rule}, {name, kind: function, rule} or {name, kind: judge, rubric}
//	judge_model        name of the model of the judges (the engine's)
//	fail_soft          a failure of the model becomes a success that contains the error (false)
//	retry_instruction  instruction for another attempt after failed checks: a string, {auto: true} or {reflect: string}
//
// # Answers
//
// Without a schema the answer is text, unless the node writes several fields, or one field that is
// not a string. In that case the answer must be a JSON object with these fields. An answer that is
// not JSON or does not match the schema is sent back once with all its faults; after that the node
// fails. The answer is sent along the edges and written: a single declared field gets the member of
// its name or, if there is none, the whole answer. If several fields are declared, each gets the
// member of its name.
//
// In a walk by outcomes the answer may set the status of the node, see core.ParseDirective. The
// context gets the beginning of the answer as last_response and the answer as response.ID.
//
// # Tools
//
// A registered Go function gets the arguments that the model wrote as its args, a program
// reads them from standard input. Every failure of a call is reported to the model only: an
// unknown tool, invalid arguments, an error, a panic, an exit code.
//
// # Walks by steps
//
// In a walk by steps (core.RouterSteps) a visit is one call of the model and the calls of the tools
// that the answer requests. If it has called tools, the walk comes back to the node, and the next
// visit continues the conversation; any other way into the node begins a new one. The visits of the
// node are limited, and max_turns is not used. An answer that cannot be used fails the attempt; the
// model is not asked again within the visit.
//
// If the node has two transitions or more and no tools, the prompt lists their keys, and the model
// chooses one with the member route of its answer, a JSON object. A schema is extended by that
// member unless it has one of core.RouteKeys.
//
// # Failures
//
// An error of the backend is the error of the attempt, and the node's retry policy applies; in a
// walk that a model routes it ends the run. A model that refuses, gives no usable answer or exceeds
// max_turns fails the node; with fail_soft, the node succeeds with {fail_soft: true, error: why}.
// An answer that fails its checks causes another attempt, whose prompt lists the failed checks.
//
// # Example
//
//	name: summary
//	state:
//	  schema:
//	    report: {type: string, default: The tide is high and the harbour is closed.}
//	    summary: {type: string}
//	    mood: {type: string, enum: [good, bad]}
//	graph:
//	  nodes:
//	    - id: summarise
//	      kind: prompt
//	      prompt: "Summarise in one sentence, and say in which mood it is: {{$.report}}"
//	      writes: [summary, mood]
package agent
