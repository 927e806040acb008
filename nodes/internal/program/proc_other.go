//go:build unix && !linux

package program

// onlyZombies reports false: these systems reap orphans without delay.
func (g group) onlyZombies() bool { return false }

// strays finds no processes, because there is no /proc.
type strays struct{ child int }

func straysOf(child int, _ string) strays { return strays{child} }

func (s *strays) leader() identity { return identify(s.child) }

func (*strays) orphaned()   {}
func (*strays) found() bool { return false }
func (*strays) find() bool  { return false }
func (*strays) terminate()  {}
func (*strays) kill()       {}
func (*strays) gone() bool  { return true }
func (*strays) release()    {}
