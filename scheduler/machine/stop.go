package machine

import (
	"github.com/wavefold/wavefold/core"
)

// stop keeps new work from starting. Handlers in flight are cancelled and awaited, executions
// that have begun and wait end as cancelled, and vertices that were never reached get no status.
func (f *frame) stop() {
	if f.Stopped {
		return
	}
	f.Stopped = true
	f.ready.clear()
	f.hasSlot.clear()
	f.m.command(Command{Op: OpCancel, ID: ID{Frame: f.ID}})
	for _, t := range f.tasks {
		if t, ok := t.(*fanOut); ok {
			t.noteEarly()
		}
	}
	for v := range f.v {
		x := &f.v[v]
		switch t := f.task(int32(v)); {
		case t != nil && (x.Phase == running || x.Phase == committing):
			t.stop()
		case x.Phase == committing:
			delete(f.Uncommitted, int32(v))
			x.Ended = f.m.now
			f.fail(int32(v), cancelled())
		case x.Phase == running, x.Phase == backingOff, x.Phase == placing, x.Phase == pausing, x.Phase == startable && x.Attempts > 0:
			halt(plainNode{f, int32(v)})
		}
	}
}

func cancelled() *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "cancelled before it ended", Permanent: true}
}
