// Package wait implements the node kind "wait", a pause of a fixed length.
//
// # Fields
//
//	duration  required  how long to wait, such as "30s", "1.5h" or "250ms"
//
// The wait is a timer and not a sleeping handler. It holds no slot of any limit, it ends
// immediately when the run is cancelled, and a resumed run waits for the remaining time.
// The node writes nothing and sends nothing.
//
// # Example
//
//	name: polite
//	graph:
//	  nodes:
//	    - id: pause
//	      kind: wait
//	      duration: 250ms
package wait
