package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// stop lets nothing new start. What is in flight is cancelled and awaited; what
// waits after having begun ends as cancelled; what was never reached gets no
// status.
func (f *frame) stop() {
	if f.stopped {
		return
	}
	f.stopped = true
	f.ready.clear()
	f.riding.clear()
	f.m.command(Command{Op: OpCancel, ID: ID{Frame: f.id}})
	for _, t := range f.tasks {
		if t, ok := t.(*fanOut); ok {
			t.noteTurn()
		}
	}
	for v := range f.v {
		x := &f.v[v]
		if x.phase == placing && !f.discard(f.plainID(int32(v))) {
			continue // it is awaited
		}
		if t := f.task(int32(v)); t != nil && (x.phase == running || x.phase == committing) {
			t.stop()
			continue
		}
		timer := x.phase == running && f.p.Vertices[v].Shape == plan.Plain && f.p.Nodes[f.p.Vertices[v].Node].Wait != nil
		if x.phase == backingOff || x.phase == committing || x.phase == placing || timer || x.phase == startable && x.attempts > 0 {
			delete(f.held, int32(v))
			x.ended = f.m.now
			f.fail(int32(v), cancelled())
		}
	}
}

func cancelled() *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "cancelled before it ended", Permanent: true}
}
