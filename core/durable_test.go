package core

import (
	"context"
	"errors"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// TestInputWithoutStore: without a store an attempt has no checkpoints and may always commit.
func TestInputWithoutStore(t *testing.T) {
	in := NewInput("r", "n", 1, Shared{})
	if in.Durable() || in.Checkpointed() != nil || in.Position() != nil || in.MayCommit() != nil {
		t.Errorf("durable %t, checkpointed %v, position %v, may commit %v", in.Durable(), in.Checkpointed(), in.Position(), in.MayCommit())
	}
	if err := in.Checkpoint(t.Context(), value.ObjectOf("rows", int64(1))); !errors.Is(err, ErrNotStored) {
		t.Errorf("Checkpoint returned %v, want ErrNotStored", err)
	}
}

// TestCheckpoint: checkpoints are passed on with the input, whose key identifies the item.
func TestCheckpoint(t *testing.T) {
	recorded := map[string]*value.Object{}
	d := &Durability{
		Checkpoint: func(_ context.Context, in Input, position *value.Object) error {
			recorded[in.IdempotencyKey()] = position
			return nil
		},
		Checkpointed: func(in Input) *value.Object { return recorded[in.IdempotencyKey()] },
	}
	in := NewInput("r", "n", 1, Shared{Durability: d})
	item := in.ForItem("x", Nth(2))
	if err := item.Checkpoint(t.Context(), value.ObjectOf("rows", int64(7))); err != nil {
		t.Fatal(err)
	}
	if got := value.JSON(item.Checkpointed()); !item.Durable() || got != `{"rows":7}` {
		t.Errorf("the item is at %s (durable: %t)", got, item.Durable())
	}
	if in.Checkpointed() != nil || recorded["r/n[2]"] == nil {
		t.Errorf("recorded %v, want only r/n[2]", recorded)
	}
}

// TestMayCommit: a warning in a strict run and the loss of the run each forbid a commit.
func TestMayCommit(t *testing.T) {
	warned, lost := errors.New("warned"), errors.New("lost")
	logs := func(err error) *Logs { return &Logs{Warned: func() error { return err }} }
	owned := func(err error) *Durability { return &Durability{Owned: func() error { return err }} }
	tests := []struct {
		name string
		s    Shared
		want error
	}{
		{"neither", Shared{Logs: logs(nil), Durability: owned(nil)}, nil},
		{"a warning", Shared{Logs: logs(warned), Durability: owned(nil)}, warned},
		{"the run is lost", Shared{Logs: logs(nil), Durability: owned(lost)}, lost},
		{"no functions", Shared{Logs: &Logs{}, Durability: &Durability{}}, nil},
	}
	for _, tt := range tests {
		if got := NewInput("r", "n", 1, tt.s).MayCommit(); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
