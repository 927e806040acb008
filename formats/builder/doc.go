// Package builder reads and writes the JSON documents of visual builders: graphs of start,
// agent, if and approval nodes, which run in the mode flow.
//
//	{"nodes": [
//	   {"id": "start", "type": "start", "x": 40, "y": 80, "data": {"initialInput": "a trip"}},
//	   {"id": "plan", "type": "agent", "data": {"userPrompt": "Plan: {{PREVIOUS_OUTPUT}}"}}],
//	 "connections": [{"source": "start", "target": "plan"}]}
//
// A document is a graph if nodes and connections are lists. Keys that the package does not know,
// such as keys for the layout of a drawing, are kept. If nothing has changed, Write returns the bytes that Parse
// has read. After a change, the nodes and connections that have not changed keep their bytes.
//
// Older documents are read as well: the node type input is an approval, data.condition is one
// condition of the operator contains, and the handle true is condition-0. Upgrade rewrites them.
package builder
