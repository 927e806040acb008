//go:build unix && !linux

package program

// onlyZombies reports false: these systems reap orphans without delay.
func (g group) onlyZombies() bool { return false }

// strays finds no processes, because there is no /proc.
type strays struct{}

func straysOf(int, string) strays { return strays{} }

func (*strays) orphaned()   {}
func (*strays) found() bool { return false }
func (*strays) find() bool  { return false }
func (*strays) terminate()  {}
func (*strays) kill()       {}
func (*strays) gone() bool  { return true }
func (*strays) release()    {}
