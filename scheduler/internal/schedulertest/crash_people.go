package schedulertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store"
)

// answerTime is the time after which each question has an answer.
const answerTime = 4 * time.Millisecond

// people answer the questions of a run from outside of its processes.
type people struct {
	mu    sync.Mutex
	asked map[string]int    // how often a question was heard, by its name
	first map[string]string // who has answered a question, by its name
	group sync.WaitGroup
}

func questionName(node string, visit, attempt, generation int) string {
	return fmt.Sprint(inbox.Name(&core.Question{Node: node, Visit: visit, Attempt: attempt}), "~", generation)
}

// hear answers the question that a record asks.
func (x *crashedRun) hear(rec store.Record) {
	var m struct {
		Kind string
		Data core.PendingQuestion
	}
	if rec.Type != store.Mark || json.Unmarshal(rec.Data, &m) != nil || m.Kind != store.MarkAsked {
		return
	}
	x.asked(&m.Data)
}

// asked answers a question, twice.
func (x *crashedRun) asked(q *core.PendingQuestion) {
	p, name := &x.people, questionName(q.Node, q.Visit, q.Attempt, q.Generation)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked == nil {
		p.asked, p.first = map[string]int{}, map[string]string{}
	}
	p.asked[name]++
	for _, who := range []string{"ann", "bob"} {
		who += fmt.Sprint(p.asked[name])
		wait := time.Duration(x.c.draw(int(answerTime), "answer", who, name))
		p.group.Go(func() {
			time.Sleep(wait)
			x.answer(q, who)
		})
	}
}

// answer posts an answer. The first answer is used, and later ones get
// an error that says so.
func (x *crashedRun) answer(q *core.PendingQuestion, who string) {
	p := &x.people
	p.mu.Lock()
	defer p.mu.Unlock()
	name := questionName(q.Node, q.Visit, q.Attempt, q.Generation)
	a := inbox.Answer{Node: q.Node, Visit: q.Visit, Attempt: q.Attempt, Generation: q.Generation, Choice: q.Choices[0].Key, By: who, At: time.Now()}
	err := x.disk.outside(func(s store.Store) error { return inbox.Send(context.Background(), s, "test", &a) })
	taken, late := errors.AsType[*inbox.AnsweredError](err)
	switch first := p.first[name]; {
	case late && taken.Answer.By != first:
		x.fault("answer to %s: %s is told that %s has answered, it was %s", name, who, taken.Answer.By, first)
	case late:
		x.count("answered twice", 1)
	case errors.Is(err, store.ErrNotFound): // the crash has taken the whole run
	case err != nil:
		x.fault("answer to %s by %s: %v", name, who, err)
	case first != "":
		x.fault("answer to %s: those of %s and of %s were both accepted", name, first, who)
	default:
		p.first[name] = who
	}
}

// checkAnswers checks that each question has one answer in the
// journal: the answer that was posted first.
func (x *crashedRun) checkAnswers() {
	if !x.c.Posted {
		return
	}
	x.people.group.Wait()
	recorded := map[string]bool{}
	for rec, err := range x.disk.reader().Read(context.Background(), "test", 1) {
		if err != nil {
			x.fault("reading the journal: %v", err)
			return
		}
		var m struct {
			Kind string
			Data inbox.Answer
		}
		if rec.Type != store.Mark || json.Unmarshal(rec.Data, &m) != nil || m.Kind != store.MarkAnswered {
			continue
		}
		a := &m.Data
		name := questionName(a.Node, a.Visit, a.Attempt, a.Generation)
		if first := x.people.first[name]; a.By != first || recorded[name] {
			x.fault("answer to %s in the journal: by %s, the first was by %s; recorded before: %t", name, a.By, first, recorded[name])
		}
		recorded[name] = true
	}
}
