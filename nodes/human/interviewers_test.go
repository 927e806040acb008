package human_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/human"
)

var review = core.Question{Node: "gate", Text: "Ship it?", Choices: []core.Choice{
	{Key: "A", Label: "[A] Approve", Target: "ship"}, {Key: "R", Label: "Reject", Target: "stop"}}}

func said(a core.Answer, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return a.Text + a.Choice.Target
}

func Example() {
	who := human.Queue("maybe", "a")
	for range 3 {
		fmt.Println(said(who.Ask(context.Background(), review)))
	}
	fmt.Println(said(human.AutoApprove().Ask(context.Background(), review)))
	// Output:
	// maybe
	// a
	// error: nobody answered: the queue of answers is empty
	// ship
}

// A recording of answers can be replayed.
func ExampleReplay() {
	var tape bytes.Buffer
	who := human.Recording(human.Queue("a"), &tape)
	fmt.Println(said(who.Ask(context.Background(), review)))
	fmt.Print(tape.String())

	again := human.Replay(&tape)
	fmt.Println(said(again.Ask(context.Background(), review)))
	fmt.Println(said(again.Ask(context.Background(), review)))
	// Output:
	// a
	// {"node":"gate","text":"Ship it?","answer":{"text":"a"}}
	// a
	// error: nobody answered: the recording has no answer left for gate
}

func ExampleFunc() {
	who := human.Func(func(_ context.Context, q core.Question) (core.Answer, error) {
		// A service would send the question to a chat and wait for the answer or for ctx.
		return core.Answer{Choice: q.Choices[1]}, nil
	})
	fmt.Println(said(who.Ask(context.Background(), review)))
	// Output: stop
}

func ExampleConsole() {
	who := human.Console(strings.NewReader("a\n"), writer{})
	fmt.Println(said(who.Ask(context.Background(), review)))
	// Output:
	// gate: Ship it?
	//   [A] Approve
	//   [R] Reject
	// > a
}

// writer writes to the current os.Stdout.
type writer struct{}

func (writer) Write(b []byte) (int, error) { return fmt.Print(string(b)) }

func TestAutoApprove(t *testing.T) {
	if got := said(human.AutoApprove().Ask(t.Context(), core.Question{Freeform: true})); got != "error: nobody answered: it asks for free text, and there is no choice to approve" {
		t.Error(got)
	}
}

// TestReplayErrors tests that recorded errors are replayed.
func TestReplayErrors(t *testing.T) {
	var tape bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{core.ErrLate, fmt.Errorf("%w: dismissed", core.ErrUnanswered), errors.New("the chat is down")} {
		who := human.Recording(human.Func(func(context.Context, core.Question) (core.Answer, error) { return core.Answer{}, err }), &tape)
		if _, got := who.Ask(t.Context(), review); got != err {
			t.Errorf("got %v, want %v", got, err)
		}
	}
	_, _ = human.Recording(waits, &tape).Ask(ctx, review) // the run ended, so there is no answer
	again := human.Replay(&tape)
	for _, want := range []string{"no answer arrived in time", "nobody answered, as when it was recorded: nobody answered: dismissed", "the chat is down",
		"nobody answered: the recording has no answer left for gate"} {
		if got := said(again.Ask(t.Context(), review)); got != "error: "+want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for tape, want := range map[string]string{
		`{"node":"gate","text":"Really?"}`:                         `the next answer of the recording is to another question: "Really?"`,
		`{"node":"gate","text":"Ship it?","answr":{}}`:             `the recording cannot be read: answer 1: json: unknown field "answr"`,
		`{"node":"x"}` + "\n{":                                     `the recording cannot be read: answer 2: unexpected EOF`,
		`{"node":"other","text":"Ship it?","answer":{"text":"a"}}`: `the recording has no answer left for gate`,
	} {
		if got := said(human.Replay(strings.NewReader(tape)).Ask(t.Context(), review)); got != "error: nobody answered: "+want {
			t.Errorf("%s: got %s, want %s", tape, got, want)
		}
	}
}

func TestRecordingThatCannotBeWritten(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(errors.New("disk full"))
	if got := said(human.Recording(human.Queue("a"), w).Ask(t.Context(), review)); got != "error: the answer cannot be recorded: disk full" {
		t.Error(got)
	}
}

func TestConsole(t *testing.T) {
	var out bytes.Buffer
	who := human.Console(strings.NewReader("x\r\nlast"), &out)
	q := core.Question{Node: "gate", Text: "Ship\n\x1b[2Jit\u202e?", Freeform: true, Timeout: time.Hour, Default: "stop", Again: `"x" is none`,
		Choices: []core.Choice{{Key: "10", Label: "10) Ten", Target: "ten"}, {Key: "A", Label: "A - All", Target: "all"},
			{Key: "S", Label: "Stop", Target: "stop"}, {Key: "Y", Label: "Yes", Target: "y"}, {Key: "y", Label: "yellow", Target: "z"}}}
	for _, want := range []string{"x", "last", "error: nobody answered: the input has ended", "error: nobody answered: the input has ended"} {
		if got := said(who.Ask(t.Context(), q)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	const shown = `"x" is none
gate: Ship ` + "\ufffd[2Jit\ufffd" + `?
  10) Ten
  A - All
  [S] Stop (taken if there is no answer within 1h)
      Yes
      yellow
  or an answer of your own
> `
	if want := strings.Repeat(shown, 3) + "\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestConsoleTimeout tests that a question that ends does not wait for its read, and that a line
// typed after it does not answer the next question.
func TestConsoleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		var out bytes.Buffer
		who := human.Console(in, &out)
		ask := func(d time.Duration) string {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			return said(who.Ask(ctx, core.Question{Node: "n", Timeout: d}))
		}
		if got := ask(time.Second); got != "error: context deadline exceeded" {
			t.Error(got)
		}
		_, _ = io.WriteString(typed, "too late\n")
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			_, _ = io.WriteString(typed, "in time\n")
		}()
		if got := ask(time.Minute); got != "in time" {
			t.Error(got)
		}
		if got := ask(time.Second); got != "error: context deadline exceeded" {
			t.Error(got)
		}
		go func() {
			time.Sleep(time.Second)
			_, _ = io.WriteString(typed, "to the read that was left\n")
		}()
		if got := ask(time.Minute); got != "to the read that was left" {
			t.Error(got)
		}
		typed.Close()
		if want := "n: \n> no answer within 1s\nn: \n> n: \n> no answer within 1s\nn: \n> "; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

// TestConsoleTurns tests that one question is shown at a time, and that a waiting one can be
// cancelled.
func TestConsoleTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		var out bytes.Buffer
		who := human.Console(in, &out)
		answers := make(chan string, 2)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { answers <- said(who.Ask(t.Context(), core.Question{Node: "first"})) }()
		synctest.Wait()
		go func() { answers <- said(who.Ask(ctx, core.Question{Node: "second"})) }()
		synctest.Wait()
		cancel()
		if got := <-answers; got != "error: context canceled" {
			t.Error(got)
		}
		go func() { answers <- said(who.Ask(t.Context(), core.Question{Node: "third"})) }()
		synctest.Wait()
		_, _ = io.WriteString(typed, "1\n2\n")
		if a, b := <-answers, <-answers; a != "1" || b != "2" {
			t.Errorf("got %s and %s", a, b)
		}
		typed.Close()
		if out.String() != "first: \n> third: \n> " {
			t.Errorf("%q", out.String())
		}
	})
}

func TestConsoleWithoutTerminal(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(errors.New("gone"))
	if got := said(human.Console(strings.NewReader("a"), w).Ask(t.Context(), review)); got != "error: the question cannot be shown: gone" {
		t.Error(got)
	}
}
