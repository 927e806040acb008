// Package hostile contains only tests: documents and Go graphs that try to break the engine
// through its public API (package wavefold and the standard kinds). Each must end in a
// precise error or a correct result; none may crash or hang the process, leave partial
// output, or leave anything running.
package hostile
