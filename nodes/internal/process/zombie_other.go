//go:build unix && !linux

package process

// onlyZombies reports false: these systems reap orphans without delay.
func (g group) onlyZombies() bool { return false }
