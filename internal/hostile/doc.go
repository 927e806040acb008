// Package hostile holds tests only: documents and Go graphs that try to break the
// engine, each through its public doors (package wavefold and the standard kinds).
// Whatever they are, they must end in a precise error or a correct result; nothing of
// them may take the process down, hang it, leave something half-written or leave
// something running.
package hostile
