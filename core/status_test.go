package core

import (
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

func TestStatusOf(t *testing.T) {
	for word, want := range map[string]Status{
		"success": Success, "succeeded": Success, "partial_success": PartialSuccess, "partially_succeeded": PartialSuccess,
		"fail": Fail, "failed": Fail, "skipped": Skipped, "retry": Retry,
	} {
		if s, ok := StatusOf(word); s != want || !ok {
			t.Errorf("%q is %v, %t", word, s, ok)
		}
	}
	for _, word := range []string{"", "Success", " fail", "done"} {
		if s, ok := StatusOf(word); s != StatusNone || ok {
			t.Errorf("%q is %v, %t", word, s, ok)
		}
	}
}

func TestStatusValue(t *testing.T) {
	for s := Success; s <= Retry; s++ {
		if v := s.Value(); v != s.String() {
			t.Errorf("the value of %v is %v", s, v)
		}
	}
	if v := StatusNone.Value(); !value.IsMissing(v) {
		t.Errorf("the value of no status is %v", v)
	}
	if n := testing.AllocsPerRun(100, func() { sink = PartialSuccess.Value() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink any
