// Package missing holds node kinds that documents may use although this build
// cannot run them: cli-agent and skill. Documents with them load, are checked, drawn
// and planned with a warning, and can be tested where a mock file answers for the nodes;
// a run is refused before anything starts, with an error that says what to register.
//
// Whoever has a handler registers it as a Go function under the name of the kind. It is
// given the node's fields as arguments, with the values in prompt and system filled in
// and their files read; core.ParseDirective makes a result of what a model replies:
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
package missing
