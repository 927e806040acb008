//go:build !linux

package program

// identify returns the id alone: without /proc, the start of a process is not known.
func identify(pid int) identity { return identity{PID: pid} }

// alive reports false, because it is not known.
func (identity) alive() bool { return false }

// killGroup does nothing, because the group cannot be distinguished from a later one with the
// same id.
func (identity) killGroup() {}
