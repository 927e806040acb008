package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// build declares a shape in Go and compiles it.
func build(s *Shape) Case {
	before, names := predecessors(s), nodeNames(s)
	return Case{Name: "wavefold", Units: s.Len(), Start: func(tb testing.TB) func() {
		nothing := func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }
		return func() {
			parts := make([]wavefold.Part, 0, s.Len())
			for i, from := range before {
				options := make([]wavefold.Option, 0, len(from))
				for _, p := range from {
					options = append(options, wavefold.After(names[p]))
				}
				parts = append(parts, wavefold.Func(names[i], nil, nil, nothing, options...))
			}
			if err := wavefold.New(s.Name, parts...).Compile(); err != nil {
				tb.Fatal(err)
			}
		}
	}}
}

// compileOnly checks and compiles a shape that is declared already.
func compileOnly(s *Shape) Case {
	return Case{Name: "plan.Compile", Units: s.Len(), Start: func(tb testing.TB) func() {
		w := workflow(s, noop)
		return func() {
			if p, ds := plan.Compile(w, nil, plan.Options{}); p == nil {
				tb.Fatal(ds)
			}
		}
	}}
}

func nodeNames(s *Shape) []string {
	names := make([]string, s.Len())
	for i := range names {
		names[i] = NodeName(i)
	}
	return names
}

var errCycle = errors.New("there is a cycle")

// resolve is the least that compiling a graph takes: it finds the nodes by name, counts
// predecessors and looks for cycles.
func resolve(s *Shape) Case {
	names := nodeNames(s)
	return Case{Name: "names, edges and cycles only", Units: s.Len(), Start: func(tb testing.TB) func() {
		return func() {
			index := make(map[string]int32, len(names))
			for i, name := range names {
				index[name] = int32(i)
			}
			succ, pending := make([][]int32, len(names)), make([]int32, len(names))
			for from, list := range s.Succ {
				succ[index[names[from]]] = make([]int32, 0, len(list))
				for _, to := range list {
					t := index[names[to]]
					succ[from] = append(succ[from], t)
					pending[t]++
				}
			}
			order := make([]int32, 0, len(names))
			for i, n := range pending {
				if n == 0 {
					order = append(order, int32(i))
				}
			}
			for k := 0; k < len(order); k++ {
				for _, t := range succ[order[k]] {
					if pending[t]--; pending[t] == 0 {
						order = append(order, t)
					}
				}
			}
			if len(order) < len(names) {
				tb.Fatal(errCycle)
			}
		}
	}}
}

// buildTable has the cost of declaring and compiling graphs.
func buildTable() Table {
	t := Table{ID: "build", Unit: "node"}
	for _, s := range []*Shape{Chain(1000), Wide(1000), Layered(100, 10), Layered(1000, 10)} {
		name := s.Name + ", 1,000 nodes"
		if s.Len() > 2000 {
			name = s.Name + ", 10,000 nodes"
		}
		t.Figures = append(t.Figures,
			Figure{Name: "New and Compile, " + name, Subject: build(s), Reference: resolve(s)},
			Figure{Name: "Compile alone, " + name, Subject: compileOnly(s), Reference: resolve(s)})
	}
	return t
}

// importTable has what it costs a program to import packages, before main begins.
func importTable() Table {
	t := Table{ID: "imports", Unit: "start"}
	for _, c := range []struct{ name, path string }{
		{"the root package", "github.com/wavefold/wavefold"},
		{"the command", "github.com/wavefold/wavefold/cli"},
	} {
		t.Figures = append(t.Figures, Figure{Name: c.name, Subject: Case{Name: c.path, Units: 1, Sample: importing(c.path)}})
	}
	return t
}

// importing builds a program that does nothing but import a package, and measures the
// initialization of all packages as the runtime reports it.
func importing(path string) func(tb testing.TB) Sample {
	program := ""
	return func(tb testing.TB) Sample {
		tb.Helper()
		if program == "" {
			program = emptyProgram(tb, path)
		}
		all, _ := initialization(tb, program)
		return all
	}
}

func emptyProgram(tb testing.TB, path string) string {
	tb.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, fmt.Appendf(nil, "package main\n\nimport _ %q\n\nfunc main() {}\n", path), 0o600); err != nil {
		tb.Fatal(err)
	}
	overlay := fmt.Sprintf(`{"Replace": {%q: %q}}`, filepath.Join(root, "benchmarks", "empty", "main.go"), file)
	table := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(table, []byte(overlay), 0o600); err != nil {
		tb.Fatal(err)
	}
	program := filepath.Join(dir, "empty")
	cmd := exec.Command("go", "build", "-overlay", table, "-o", program, "./benchmarks/empty")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return program
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes, (\d+) allocs$`)

// initialization runs a program and adds up the lines that GODEBUG=inittrace=1 prints, for
// all packages and for the packages of this module.
func initialization(tb testing.TB, program string) (all, own Sample) {
	tb.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%v\n%s", err, trace)
	}
	lines := initLine.FindAllStringSubmatch(string(trace), -1)
	if len(lines) < 3 || len(lines) != strings.Count(string(trace), "init ") {
		tb.Fatalf("the format of the trace is unknown:\n%s", trace)
	}
	for _, m := range lines {
		var v [3]float64
		for i := range v {
			var err error
			if v[i], err = strconv.ParseFloat(m[i+2], 64); err != nil {
				tb.Fatal(err)
			}
		}
		list := []*Sample{&all}
		if strings.HasPrefix(m[1], "github.com/wavefold/wavefold") {
			list = append(list, &own)
		}
		for _, s := range list {
			s.Time += v[0] * 1e6 // from milliseconds
			s.Bytes += v[1]
			s.Allocs += v[2]
		}
	}
	return all, own
}

// A program that imports the package does little before main: the packages of this module
// compile no regular expressions and build no large tables.
func TestImportCost(t *testing.T) {
	if raceDetector {
		t.Skip("the program that it measures is built without the race detector in either run")
	}
	all, own := initialization(t, emptyProgram(t, "github.com/wavefold/wavefold"))
	if own.Allocs > 60 || all.Allocs > 500 {
		t.Errorf("the packages of this module make %v allocations before main, want at most 60; all packages %v, want at most 500", own.Allocs, all.Allocs)
	}
}
