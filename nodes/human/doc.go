// Package human implements the node kind "human", a gate at which a person decides how the run
// continues, and the interviewers that ask the person.
//
// # Fields
//
//	text            optional  the question, a template; default the node's label, else its id
//	show            optional  values that are shown with it: fields, context.KEY, expressions
//	                          that begin with $, files below the workflow's folder
//	choices         optional  in a dag: what the person can choose; default [approve, reject]
//	fail_on         optional  in a dag: the choices that make the node fail
//	default         optional  in a dag: the choice that is taken if there is no answer within the timeout
//	default_choice  optional  in a walk: the node that follows if there is no answer within the timeout
//
// In a dag the result is an object with the members choice, text, note and by. The node sends
// it along its edges, and writes it into its declared write if there is one. The node succeeds
// whatever the choice is, unless fail_on lists the choice.
//
// In a walk the choices are the labels of the edges that leave the node; the label of an edge without one
// is the id of its target. An answer that matches no choice follows the freeform edge if there
// is one. An edge that has a condition and no label is not a choice. The engine uses it, for
// example if there is no answer.
//
// In a walk by steps a gate has choices as in a dag; by default they are the keys of the node's
// transitions, if it has any. The walk continues according to the result: the condition of an edge
// tests it, such as $output.choice == 'approve', and a choice that is the key of a transition is also a
// member of the result, which is true, so that the transition is followed.
//
// Each choice has a key, the first character of the choice or the prefix of one such as
// "[A] Approve", see core.Accelerator. The answer of the person is compared with the keys and
// the choices. If it matches none, the question is asked again.
//
// The node's timeout limits one question. When it expires, the default choice is taken;
// without a default choice the node is retried as its retry policy allows. A gate without an
// answer fails.
//
// A waiting gate holds no slot of any limit. In a dag it begins without one, too, unless it is
// part of a fan-out, pipeline or loop. The concurrency of a fan-out limits the number of its
// questions that are open at the same time.
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
package human
