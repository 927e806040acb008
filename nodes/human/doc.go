// Package human implements the node kind "human", a gate at which a person chooses the next
// edge, and the interviewers that ask the person.
//
// # Fields
//
//	text            optional  the question, a template; default the node's label, else its id
//	show            optional  values that are shown with it: fields, context.KEY, expressions
//	                          that begin with $, files below the workflow's folder
//	default_choice  optional  the node that follows if there is no answer within the timeout
//
// The choices are the labels of the edges that leave the node; the label of an edge without one
// is the id of its target. Each choice has a key, which core.Accelerator reads from the label:
// A of "[A] Approve". The answer of the person is compared with the keys and labels. An answer
// that matches none follows the freeform edge; without such an edge the question is asked
// again. An edge that has a condition and no label is not a choice. The engine uses it, for
// example if there is no answer.
//
// The node's timeout limits one question. When it expires, the default choice is taken;
// without a default choice the node is retried as its retry policy allows. A gate without an
// answer fails.
//
// A waiting gate holds no slot of any limit.
//
// # Interviewers
//
// An option of the run sets the interviewer:
//
//	g.Run(ctx, wavefold.WithInterviewer(human.Console(os.Stdin, os.Stdout)))
//
// Console asks at a terminal, Func calls a function, Queue returns prepared answers, AutoApprove
// picks the first choice, Recording records the answers of another interviewer, and Replay
// returns recorded answers. Without an interviewer, a gate fails.
//
// A gate exists in walks only.
package human
