package core

import "testing"

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
