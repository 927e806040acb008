package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/examples/embed/pricing"
)

func TestServe(t *testing.T) {
	in, err := os.Open("batches.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	want, err := os.ReadFile("output.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := serve(t.Context(), in, &out); err != nil || out.String() != string(want) {
		t.Errorf("got %v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestServeStopsAtBadInput(t *testing.T) {
	var out bytes.Buffer
	err := serve(t.Context(), strings.NewReader("[]\n[{\"id\": \"x\"}]\n[]"), &out)
	if err == nil || !strings.Contains(err.Error(), "reading batches") || out.String() != "0 invoices, 0.00 in all\n" {
		t.Errorf("got %v\n%s", err, out.String())
	}
}

func TestCancelledBatch(t *testing.T) {
	ledger := &Ledger{}
	s, err := NewService(ledger)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := s.Handle(ctx, []pricing.Order{{ID: 1, Country: "DE"}}); !strings.Contains(got, "the run was cancelled") {
		t.Errorf("got %q", got)
	}
	if len(ledger.invoices) > 0 {
		t.Errorf("stored %v", ledger.invoices)
	}
}
