package value

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type stringer struct{}

func (stringer) String() string { return "I say so" }

type panicsAsText struct{}

func (panicsAsText) Error() string { panic("no text") }

type nilReceiver struct{ text string }

func (n *nilReceiver) Error() string { return n.text }

type myText string

// A value that is panicked with may hold itself: printing it used up the stack, which ends
// the process.
func TestPanicText(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	type node struct{ next *node }
	ring := &node{}
	ring.next = ring
	for _, c := range []struct {
		p    any
		want string
	}{
		{"boom", "boom"}, {myText("boom"), "boom"}, {7, "7"}, {uint8(7), "7"}, {1.5, "1.5"}, {true, "true"}, {2i, "(0+2i)"}, {nil, "nil"},
		{errors.New("why"), "why"}, {stringer{}, "I say so"},
		{cycle, "a value of type map[string]interface {}"},
		{ring, "a value of type *value.node"},
		{panicsAsText{}, "a value of type value.panicsAsText, whose string cannot be printed because the method panics, too"},
		{(*nilReceiver)(nil), "a value of type *value.nilReceiver, whose string cannot be printed because the method panics, too"},
		{strings.Repeat("é", MaxText), strings.Repeat("é", MaxText/2) + fmt.Sprintf("… (%d bytes are left out)", MaxText)},
	} {
		if got := PanicText(c.p); got != c.want {
			t.Errorf("%T: got %.200s, want %.200s", c.p, got, c.want)
		}
	}
}
