// Package unhandled implements the kinds that this module has no handler for: cli-agent and
// skill. Documents with such nodes can be loaded, validated, drawn and planned, with a warning,
// and tested with a mock file that has results for the nodes. A run is rejected before anything
// starts, with an error that says what to register.
//
// A handler is a Go function registered under the name of the kind. Its arguments are the keys
// of the node. The template in prompt is rendered, and a file that prompt names is read.
// core.ParseDirective converts the reply of a model to a result:
//
//	registry.AddTool("cli-agent", core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
//		prompt, _ := in.Arg("prompt")
//		reply, err := ask(ctx, prompt.(string))
//		result, _ := core.ParseDirective(reply)
//		return result, err
//	}))
//
// A kind of the same name replaces the kind of this package:
//
//	registry.AddKind(myAgent) // Name() returns "cli-agent"
//
// # Fields of cli-agent
//
// A prompt for a coding program on the command line.
//
//	provider       required  the program
//	prompt         required  the prompt, or the name of a file with it
//	model                    name of the model
//	workdir                  its working folder
//	output_format            the form of its output
//	schema                   JSON Schema of the answer, or a file with it
//	timeout_ms               limit on the call, at least 1000
//	extra_args               further arguments, a list of strings
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
// A prompt that ends in .md or .txt and contains no white space is the name of a file below the
// workflow's folder, and so is a schema that is a string. The file must exist.
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
