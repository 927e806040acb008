package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/examples/embed/pricing"
	"github.com/wavefold/wavefold/nodes/std"
)

// The document runs in a copy of the folder, because it writes a file.
func TestOrders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"orders.yaml", "orders.jsonl"} {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := wavefold.NewEngine(std.Kinds()...)
	if err := pricing.Register(e); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"validate", "run"} {
		var out, errs bytes.Buffer
		code := cli.Run(t.Context(), e, []string{command, filepath.Join(dir, "orders.yaml")}, cli.Streams{Out: &out, Err: &errs, Getenv: func(string) string { return "none" }})
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", command, code, &out, &errs)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "out", "invoices.csv"))
	if want := "order,customer,total\n9007199254740993,Ada,119.0\n2,Grace,43.239999999999995\n"; err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}
