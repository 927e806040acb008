package core

import (
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// TestViewOfInput: an input with its own view shares everything else, and keeps the view if it gets
// an item.
func TestViewOfInput(t *testing.T) {
	base := Shared{Run: "r", Dir: "d", View: NewView([]string{"a"}, []any{"shared"})}
	own := NewView([]string{"a", "b"}, []any{int64(1), value.Missing})
	plain := InputOf("n", 2, &base)
	tests := []struct {
		name string
		in   Input
		a    any
		item any
	}{
		{"shared", plain, "shared", nil},
		{"own", plain.WithView(&own), int64(1), nil},
		{"an item", plain.ForItem(&own, Nth(3)), "shared", &own},
		{"own and an item", plain.WithView(&own).ForItem("x", Nth(3)), int64(1), "x"},
	}
	for _, tt := range tests {
		s := tt.in.Shared()
		if s.Run != "r" || s.Dir != "d" || tt.in.Attempt() != 2 || s.Item != tt.item || (s.Index > 0) != (tt.item != nil) {
			t.Errorf("%s: the content is %+v", tt.name, s)
		}
		fromShared, _ := s.View.Get("a")
		fromView, _ := tt.in.View().Get("a")
		got, _ := tt.in.Get("a")
		if got != tt.a || fromShared != tt.a || fromView != tt.a || tt.in.Values().Field("a") != tt.a || tt.in.State()["a"] != tt.a {
			t.Errorf("%s: a is %v, %v, %v, %v and %v, want %v", tt.name, got, fromShared, fromView, tt.in.Values().Field("a"), tt.in.State(), tt.a)
		}
		if _, ok := tt.in.Get("b"); ok {
			t.Errorf("%s: b has a value", tt.name)
		}
	}
	if v, _ := base.View.Get("a"); v != "shared" || base.Item != nil {
		t.Errorf("the shared content has changed: %+v", base)
	}
}
