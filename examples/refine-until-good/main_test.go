package main

import (
	"bytes"
	"os"
	"testing"
)

func TestOutput(t *testing.T) {
	want, err := os.ReadFile("output.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), "We are really very happy to finally announce that walks can now be built in Go", &out); err != nil || out.String() != string(want) {
		t.Errorf("got %v\n%s\nwant\n%s", err, out.String(), want)
	}
}

// A headline that never fits is printed after the last visit.
func TestNeverGood(t *testing.T) {
	r, err := build().Run(t.Context(), long.Is("A headline in which every single word is needed"))
	if err != nil || len(r.Path) != 8 || printed.Get(r) == "" {
		t.Errorf("walked %s: %v", r.Path, err)
	}
}
