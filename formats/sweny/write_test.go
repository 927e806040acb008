package sweny

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// plain is the content of a workflow without its positions.
func plain(w *core.Workflow) string {
	out := value.NewObject(0)
	out.Set("name", w.Name.Value)
	out.Set("description", w.Description.Value)
	out.Set("walk", []any{w.Walk.Router.Value, w.Walk.Entry.Value, w.Walk.Model.Value, sorted(w.Walk.Attributes)})
	for _, in := range w.Inputs {
		out.Set("input "+in.Name.Value, []any{in.Required, value.JSON(in.Default), in.Description.Value, inputWord(in.Type), in.Type.Enum})
	}
	for _, n := range w.Nodes {
		keys := value.NewObject(0)
		for i, k := range n.Config.Keys {
			keys.Set(k.Value, n.Config.Values[i].Plain())
		}
		attempts := 0
		if n.OnError != nil {
			attempts = n.OnError.Attempts.Value
		}
		out.Set("node "+n.ID.Value, []any{n.Kind.Value, n.Label.Value, sorted(keys), strings.Join(source.Strings(n.ViewMembers), " "), int64(attempts)})
	}
	var edges []any
	for _, e := range w.Edges {
		when, most := "", 0
		if e.When != nil {
			when = e.When.Value
		}
		if e.MaxIterations != nil {
			most = e.MaxIterations.Value
		}
		edges = append(edges, []any{e.From.Value, e.To.Value, when, int64(most)})
	}
	out.Set("edges", edges)
	return value.JSON(out)
}

// sorted returns an object with sorted keys.
func sorted(o *value.Object) any { return value.Plain(o) }

// TestWrite writes every document of the archives and shapes that has no errors.
// Parsing the result gives an equal workflow, and writing that gives the same bytes.
func TestWrite(t *testing.T) {
	written := 0
	write := func(name string, data []byte) {
		w, ds := Parse(name, data, Options{Files: folder})
		if w == nil || ds.Failed(false) || w.Mode != core.ModeWalk {
			return
		}
		written++
		out, err := Write(w)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		back, ds := Parse(name, out, Options{Files: folder})
		if ds.Failed(false) {
			t.Errorf("%s: %v\n%s", name, ds, out)
			return
		}
		if got, want := plain(back), plain(w); got != want {
			t.Errorf("%s: read back\n%s\nwant\n%s\n%s", name, got, want, out)
		}
		if again, err := Write(back); err != nil || string(again) != string(out) {
			t.Errorf("%s: written again, %v\n%s\nwant\n%s", name, err, again, out)
		}
	}
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, a := range archives {
		text, err := os.ReadFile(a)
		if err != nil {
			t.Fatal(err)
		}
		_, files := formatstest.Split(string(text))
		for _, f := range files {
			if !strings.HasSuffix(f.Name, ".want") {
				write(f.Name, []byte(f.Data))
			}
		}
	}
	shapes, _ := filepath.Glob("testdata/shapes/*.yml")
	for _, f := range shapes {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Base(f), data)
	}
	if written < 15 {
		t.Errorf("wrote %d documents", written)
	}
}

func TestWritten(t *testing.T) {
	w := parse(t, `{id: a, name: A, entry: a, author: me, model: m, edges: [{from: a, to: a, when: "x: y", max_iterations: 2}],
inputs: {day: {type: string, required: true}}, rules: [./rules/style.md],
nodes: {a: {name: Ask, instruction: ./prompt.md, skills: [s], retry: {max: 2, instruction: Again.}}}}`)
	out, err := Write(w)
	if err != nil {
		t.Fatal(err)
	}
	const want = `id: a
name: A
model: m
author: me
rules: [./rules/style.md]
entry: a
inputs:
  day: {type: string, required: true}
nodes:
  a:
    name: Ask
    instruction: ./prompt.md
    skills: [s]
    retry: {max: 2, instruction: Again.}
edges:
  - {from: a, to: a, when: "x: y", max_iterations: 2}
`
	if string(out) != want {
		t.Errorf("got:\n%s\nwant:\n%s", out, want)
	}
}

func TestNotWritten(t *testing.T) {
	for name, change := range map[string]func(*core.Workflow){
		"workflow a: a graph that no model routes": func(w *core.Workflow) { w.Mode = core.ModeDAG },
		"workflow a: a field of the state":         func(w *core.Workflow) { w.Fields = []core.FieldDecl{{}} },
		"workflow a: a limit of the walk":          func(w *core.Workflow) { w.Walk.MaxSteps = &source.Int{Value: 3} },
		"workflow a: its durability":               func(w *core.Workflow) { w.Runtime.Durability.Value = "off" },
		"node a: a setting of all nodes":           func(w *core.Workflow) { w.Nodes[0].AutoStatus = true },
		"node a: a node of kind command":           func(w *core.Workflow) { w.Nodes[0].Kind.Value = "command" },
		"node a: its key commands":                 func(w *core.Workflow) { w.Nodes[0].Config.Set(source.Text{Value: "commands"}, &source.Value{}) },
		"node a: its on_error":                     func(w *core.Workflow) { w.Nodes[0].OnError = &core.OnError{} },
		"input day: its type":                      func(w *core.Workflow) { w.Inputs = []core.InputDecl{{Name: source.Text{Value: "day"}}} },
	} {
		w := parse(t, "{id: a, name: A, entry: a, edges: [], nodes: {a: {name: A, instruction: I.}}}")
		change(w)
		if _, err := Write(w); err == nil || err.Error() != name+" cannot be written as a document of SWEny" {
			t.Errorf("got %v, want that %s cannot", err, name)
		}
	}
}
