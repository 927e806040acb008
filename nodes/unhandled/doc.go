// Package unhandled has the kinds that this module has no handler for: cli-agent and skill.
// Documents with them load, are checked, drawn and planned with a warning, and can be tested
// if a mock file answers for the nodes. A run is rejected before anything starts, with an
// error that says what to register.
//
// A handler is a Go function that is registered under the name of the kind. Its arguments are
// the node's fields, with the values in prompt and system filled in and their files read.
// core.ParseDirective makes a result of the reply of a model:
//
//	registry.AddTool("cli-agent", core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
//		prompt, _ := in.Arg("prompt")
//		reply, err := ask(ctx, prompt.(string))
//		result, _ := core.ParseDirective(reply)
//		return result, err
//	}))
//
// Or as a kind of the same name, which replaces the one here:
//
//	registry.AddKind(myAgent) // Name() returns "cli-agent"
//
// # Fields of cli-agent
//
// A prompt for a coding program on the command line.
//
//	provider       required  which program
//	prompt         required  the prompt, or the name of a file with it
//	model                    name of the model
//	workdir                  folder it works in
//	output_format            what it prints
//	schema                   JSON Schema of the answer, or a file with it
//	timeout_ms               limit on the call, at least 1000
//	extra_args               further arguments, a list of texts
//
// # Fields of skill
//
// A package of prompts.
//
//	impl    required  the package
//	inputs            its inputs, a mapping
//	model             name of the model
//	schema            JSON Schema of the answer, or a file with it
//
// A prompt of one line without blanks that ends in .md or .txt is a file below
// the workflow's folder and must be there; so is a schema that is a text.
//
// # Example
//
//	name: mend
//	graph:
//	  nodes:
//	    - id: mend
//	      kind: cli-agent
//	      provider: some-program
//	      prompt: Mend the failing test.
//	      timeout_ms: 600000
package unhandled
