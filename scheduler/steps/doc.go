// Package steps decides where a walk of core.RouterSteps continues after a visit: seven
// steps are tried in order, and the first one that finds a node, or the end, wins.
//
//	1  tool_loop     the visit has called tools and wants to see their results: the same node
//	2  route         a member of the output, such as "route", names a node or a transition
//	3  next_node     the code of the node has set the next node
//	4  edge          the edges out of the node, by priority, whose condition holds
//	5  transition    a member of the output that is a key of the node's transitions is set
//	6  default_next  the default of the node
//	7  end           the walk ends
//
// A jump, which the output requests by a graph action, comes before all of them as step 0.
//
// Resolve is a pure function, and its cost does not depend on the size of the graph. The
// machine calls it to decide, and the verification of logs to decide again on what a log
// has recorded.
package steps
