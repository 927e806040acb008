// Package agent holds the node kinds "agent" and "prompt": a prompt for a language model,
// whose answer becomes values of the state. An agent may have tools and is asked until it
// has used them; a prompt is asked once. Both ask the model that Kinds was given, through
// package llm, so that each call is told in events and counts towards the budget of its run.
//
// # Fields of agent
//
//	prompt             what the model is told; or the name of a file (.md, .txt) with it
//	instruction        the same as a text in which {{ has no meaning; either this or prompt
//	preamble           texts that go before the prompt, as they stand, each followed by a line ---; or
//	                   mappings {title, input, text}: a title, below it the texts that the run has
//	                   as that input, then a text; left out when there is nothing below the title
//	context            put what the run knows before the prompt, as JSON: in a walk its context, elsewhere the inputs, the reads and what predecessors sent (false)
//	context_nodes      in a dag, ids of nodes that come before: what they sent is part of what the run knows, in place of what predecessors sent
//	system             instructions that go before everything; or the name of a file with them
//	model              name of the model (the engine's)
//	provider           the company or server that runs the model; a warning if the model client cannot choose it
//	reasoning_effort   how hard the model should think, such as low or high (the model's)
//	schema             JSON Schema of the answer, or a file with it; without one it follows from writes
//	lenient            take any answer as an object; of the schema only the required members count (false)
//	temperature        from 0 to 2 (the model's)
//	max_tokens         limit on the answer (the model's)
//	timeout_ms         limit on one call of the model (none)
//	requires           checks before the model is asked: {output_required, output_matches, on_fail}
//	eval               checks of the answer: {name, kind: value, rule}, {name, kind: function, rule} or {name, kind: judge, rubric}
//	judge_model        name of the model of the judges (the engine's)
//	fail_soft          a failure of the model becomes a success that says so (false)
//	retry_instruction  what another attempt is told after failed checks: a string, {auto: true} or {reflect: string}
//	tools              registered Go functions that the model may call: names, or {name, description, parameters}
//	commands           programs that the model may call: {name, run, description, parameters,
//	                   env, pass_env}
//	skills             families of functions, or instructions for the prompt: {name, description, instruction}
//	tool_filter        which functions of the skills are offered: {allow, deny}
//	hosted_tools       tools that run where the model runs, such as web_search
//	max_turns          how often the model may be asked in one attempt (20)
//	max_output         how much of a tool's answer the model is shown (100KB)
//
// # Fields of prompt
//
//	prompt             what the model is told; or the name of a file (.md, .txt) with it
//	instruction        the same as a text in which {{ has no meaning; either this or prompt
//	preamble           texts that go before the prompt, as they stand, each followed by a line ---; or
//	                   mappings {title, input, text}: a title, below it the texts that the run has
//	                   as that input, then a text; left out when there is nothing below the title
//	context            put what the run knows before the prompt, as JSON: in a walk its context, elsewhere the inputs, the reads and what predecessors sent (false)
//	context_nodes      in a dag, ids of nodes that come before: what they sent is part of what the run knows, in place of what predecessors sent
//	system             instructions that go before everything; or the name of a file with them
//	model              name of the model (the engine's)
//	provider           the company or server that runs the model; a warning if the model client cannot choose it
//	reasoning_effort   how hard the model should think, such as low or high (the model's)
//	schema             JSON Schema of the answer, or a file with it; without one it follows from writes
//	lenient            take any answer as an object; of the schema only the required members count (false)
//	temperature        from 0 to 2 (the model's)
//	max_tokens         limit on the answer (the model's)
//	timeout_ms         limit on one call of the model (none)
//	requires           checks before the model is asked: {output_required, output_matches, on_fail}
//	eval               checks of the answer: {name, kind: value, rule}, {name, kind: function, rule} or {name, kind: judge, rubric}
//	judge_model        name of the model of the judges (the engine's)
//	fail_soft          a failure of the model becomes a success that says so (false)
//	retry_instruction  what another attempt is told after failed checks: a string, {auto: true} or {reflect: string}
//
// # Answers
//
// Without a schema the answer is a text, unless the node writes several fields or one that
// holds no text: then it must be a JSON object with these. An answer that is no JSON or
// does not fit is sent back once with all that is wrong with it; after that the node fails.
// The answer is sent along the edges and written: a single declared field gets the member
// of its name or, without one, the whole; of several each gets the member of its name.
//
// In a walk by outcomes the text may say what became of the node, see core.ParseDirective,
// and the context gets it under last_response (its beginning) and response.ID.
//
// # Tools
//
// A registered Go function is called with what the model wrote as its arguments, a program
// with them on standard input. Whatever goes wrong, a panic too, is told to the model and
// to nobody else: an unknown tool, arguments that do not fit, an error, an exit code.
//
// # Failures
//
// An error of the backend is the error of the attempt, and the node's retry policy applies;
// in a walk that a model routes it ends the run. A model that refuses, answers what cannot
// be used or asks for tools without end fails the node, or, with fail_soft, is a success
// {fail_soft: true, error: why}. An answer that does not pass its checks asks for another
// attempt, which is told why.
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
