// Package human is the node kind "human": a gate at which a person picks the way on; and
// the interviewers that ask.
//
// # Fields
//
//	text            optional  the question, a template; default the node's label, else its id
//	show            optional  what is shown with it: fields, context.KEY, expressions that
//	                          begin with $, files below the workflow's folder
//	default_choice  optional  the node that follows if there is no answer within the timeout
//
// The choices are the edges that leave the node, by their labels; an edge without one is
// called like the node it leads to. Each has a key, which core.Accelerator reads from the
// label: A of "[A] Approve". What a person types is compared with the keys and labels; what
// matches nothing goes along the freeform edge, if there is one, else the question is asked
// again. An edge that has a condition and no label is no choice: it is for the engine, such
// as where to go when nobody answers.
//
// The node's timeout limits one asking. After it the default choice is taken; without one
// the node asks to be run again, as often as its retry policy allows. A gate that nobody
// answers fails.
//
// While it waits, a gate holds no slot of any limit.
//
// # Interviewers
//
// Who is asked is a setting of the run:
//
//	g.Run(ctx, wavefold.WithInterviewer(human.Console(os.Stdin, os.Stdout)))
//
// Console asks at a terminal, Func calls a function, Queue gives answers that are known
// before, AutoApprove picks the first choice, Recording writes down what another one
// answers, and Replay gives that again. Without any, a gate fails.
//
// A gate exists in walks only.
package human
