package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/wavefold/wavefold"

// rules lists the imports that packages below a folder must not have, with the reason. A
// forbidden name that ends in /... includes everything below it.
var rules = []struct {
	of, why string
	not     []string
	except  []string // packages that are exempt from the rule
}{
	{of: "core", why: "core is the vocabulary: it depends on the standard library only",
		not: []string{"expressions/...", "state/...", "scheduler/...", "formats/...", "nodes/...", "cli/...", "."}},
	{of: "core/value", why: "values know no document and no workflow", not: []string{"core", "core/source", "internal/..."}},
	{of: "core/source", why: "documents are read without knowing what they describe", not: []string{"core", "internal/..."}},
	{of: "expressions", why: "the language knows values and positions, not workflows that run",
		not: []string{"core", "state/...", "scheduler/...", "formats/...", "nodes/...", "cli/...", "."}},
	{of: "state", why: "state merges values; it knows no nodes and no conditions",
		not: []string{"expressions/...", "scheduler/...", "formats/...", "nodes/...", "cli/...", "."}},
	{of: "scheduler", why: "the scheduler knows no kind, no file syntax and no terminal",
		not: []string{"formats/...", "nodes/...", "llm/...", "cli/...", "."}, except: []string{"scheduler/internal/schedulertest"}},
	{of: "scheduler/plan", why: "arrows point down: the plan is below the machine and the driver",
		not: []string{"scheduler", "scheduler/machine"}},
	{of: "scheduler/lint", why: "findings are about plans, not about runs",
		not: []string{"scheduler", "scheduler/machine"}},
	{of: "scheduler/machine", why: "the machine is driven; it knows no driver",
		not: []string{"scheduler"}},
	{of: "scheduler/journal", why: "a replay needs no driver", not: []string{"scheduler"}},
	{of: "scheduler/projection", why: "reading a journal needs no driver", not: []string{"scheduler"}},
	{of: "scheduler/history", why: "reading a journal needs no driver", not: []string{"scheduler"}},
	{of: "scheduler/machine/internal", why: "the leaves of the machine are arithmetic: numbers in, numbers out",
		not: []string{"core/...", "state/...", "expressions/...", "scheduler/...", "formats/...", "nodes/...", "cli/...", "."}},
	{of: "scheduler/verify", why: "a proof must not rest on what it proves",
		not: []string{"scheduler", "scheduler/machine"}},
	{of: "nodes", why: "a kind knows its own work, not the scheduler, other formats or where state is kept",
		not: []string{"scheduler/...", "state/...", "formats/...", "cli/...", "."}},
	{of: "nodes", why: "kinds ask whatever model they are given", not: []string{"llm/openai"}},
	{of: "cli", why: "which model is asked is a choice of the program", not: []string{"llm/openai"}},
	{of: "formats", why: "a format turns text into core types; it runs nothing",
		not: []string{"scheduler/...", "state/...", "nodes/...", "llm/...", "cli/...", "."}},
	{of: "llm", why: "package llm and its backends know messages and answers, not graphs",
		not: []string{"expressions/...", "state/...", "scheduler/...", "formats/...", "nodes/...", "cli/...", "."}},
	{of: "store", why: "a store keeps records whose content it does not know",
		not: []string{"core", "expressions/...", "state/...", "scheduler/...", "formats/...", "nodes/...", "llm/...", "cli/...", "."}},
	{of: "cmd", why: "main wires the engine to the command line and does nothing else",
		not: []string{"scheduler/...", "state/...", "expressions/...", "formats/..."}},
}

// libraries lists the only packages that may import each library.
var libraries = map[string][]string{
	"gopkg.in/yaml.v3":                      {"formats"},
	"github.com/ohler55/ojg":                {"expressions/jsonpath"},
	"github.com/PaesslerAG/jsonpath":        {"expressions/jsonpath"},
	"github.com/parquet-go/parquet-go":      {"nodes/sink", "nodes/internal/parquet"},
	"github.com/jackc/pgx":                  {"nodes/internal/database/postgres", "store/postgres", "internal/postgrestest"},
	"github.com/pressly/goose":              {"store/postgres"},
	"modernc.org/sqlite":                    {"nodes/internal/database/sqlite", "examples"},
	"github.com/santhosh-tekuri/jsonschema": {"llm/jsonschema"},
	"github.com/openai/openai-go":           {"llm/openai"},
	"github.com/klauspost/compress":         {"store/file/internal/record", "store/archive"},
	"golang.org/x/time":                     {"llm"},
	"github.com/spf13/cobra":                {"cli"},
	"github.com/spf13/pflag":                {"cli"},
	"charm.land/lipgloss":                   {"cli", "internal/draw"},
	"go.opentelemetry.io/otel":              {"telemetry"},
}

// pure lists the packages that decide: they use no goroutine, clock, randomness, lock,
// file, network or environment.
var pure = []string{"core", "expressions", "state", "scheduler/plan", "scheduler/lint", "scheduler/machine", "scheduler/journal", "scheduler/projection", "scheduler/history", "scheduler/verify", "internal/eventlog", "internal/normalize"}

var impure = map[string]string{
	"sync": "a pure package has one owner and needs no lock", "sync/atomic": "a pure package has one owner",
	"os": "files and environment are the caller's", "os/exec": "programs are the caller's", "net": "no network",
	"net/http": "no network", "math/rand": "randomness arrives inside events", "math/rand/v2": "randomness arrives inside events",
	"crypto/rand": "randomness arrives inside events", "io/ioutil": "files are the caller's",
	"golang.org/x/sync/errgroup": "no goroutines",
}

// clocks lists the functions of package time that a pure package must not use; durations,
// and times that arrive in events, are allowed.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// mayGo lists the folders whose packages may start goroutines. nodes/human reads from a
// terminal, and such a read cannot be cancelled. internal/timelimit abandons calls that never
// return. store/postgres has a connection that listens for the messages to all runs of a process.
var mayGo = []string{"internal/timelimit", "scheduler", "store/postgres", "cli", "benchmarks", "nodes/internal/program", "nodes/human", "examples"}

type file struct {
	dir  string // below the module, slash-separated, "." for the root
	name string
	ast  *ast.File
}

// sourceFiles returns the parsed files of the module. They are read once for all tests, which
// only look at them.
func sourceFiles(t *testing.T) ([]file, *token.FileSet) {
	t.Helper()
	s, err := parseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return s.files, s.fset
}

type sources struct {
	files []file
	fset  *token.FileSet
}

var parseOnce = sync.OnceValues(func() (sources, error) {
	s := sources{fset: token.NewFileSet()}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "peers" || name == "build") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(s.fset, p, nil, 0) // with objects, which tell variables from packages
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, filepath.Dir(p))
		s.files = append(s.files, file{filepath.ToSlash(rel), name, f})
		return nil
	})
	return s, err
})

func below(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }

func matches(dir, pattern string) bool {
	if top, ok := strings.CutSuffix(pattern, "/..."); ok {
		return below(dir, top)
	}
	return dir == pattern
}

func imports(f *ast.File) []string {
	var out []string
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		out = append(out, p)
	}
	return out
}

// inner returns the folder of a package of this module.
func inner(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

func TestArrowsPointDown(t *testing.T) {
	files, _ := sourceFiles(t)
	for _, r := range rules {
		if _, err := os.Stat(filepath.Join("..", "..", r.of)); err != nil {
			t.Errorf("the rule for %s names nothing: %v", r.of, err)
		}
		for _, f := range files {
			if !below(f.dir, r.of) || isTest(f.name) || slices.Contains(r.except, f.dir) {
				continue
			}
			for _, imported := range imports(f.ast) {
				dir, ok := inner(imported)
				if ok && slices.ContainsFunc(r.not, func(p string) bool { return matches(dir, p) }) {
					t.Errorf("%s/%s imports %s: %s", f.dir, f.name, imported, r.why)
				}
			}
		}
	}
}

// maxChain limits the packages on a chain of imports, including the package itself.
const maxChain = 7

// longChains lists the packages whose chains may be longer, with the reason.
var longChains = map[string]string{
	".":                                "the root links the engine, the formats and the kinds",
	"nodes/std":                        "it only lists kinds",
	"scheduler":                        "the driver writes the journal, which is a layer between it and the machine",
	"scheduler/projection":             "it reads the journal, as the driver does",
	"scheduler/history":                "it reads the journal, as the driver does",
	"internal/torture":                 "a test kit above the journal: no package of the program imports it",
	"scheduler/internal/schedulertest": "a test kit above the scheduler: no package of the program imports it",
}

// A change at the end of a long chain affects the compilation, and the reading, of
// everything above it.
func TestImportChainsStayShort(t *testing.T) {
	files, _ := sourceFiles(t)
	uses := map[string][]string{}
	for _, f := range files {
		if isTest(f.name) {
			continue
		}
		for _, imported := range imports(f.ast) {
			if dir, ok := inner(imported); ok && !slices.Contains(uses[f.dir], dir) {
				uses[f.dir] = append(uses[f.dir], dir)
			}
		}
	}
	longest := map[string][]string{}
	var chain func(dir string) []string
	chain = func(dir string) []string {
		if c, ok := longest[dir]; ok {
			return c
		}
		var rest []string
		for _, u := range uses[dir] {
			if c := chain(u); len(c) > len(rest) {
				rest = c
			}
		}
		longest[dir] = append([]string{dir}, rest...)
		return longest[dir]
	}
	for _, f := range files {
		if c := chain(f.dir); len(c) > maxChain && !slices.ContainsFunc(c, func(dir string) bool { return longChains[dir] != "" }) {
			t.Fatalf("%d packages import one another in a row, at most %d may: %s", len(c), maxChain, strings.Join(c, " -> "))
		}
	}
	for dir := range longChains {
		if len(chain(dir)) <= maxChain {
			t.Errorf("the chains of %s are short enough: remove it from the list", dir)
		}
	}
	if len(chain(".")) < 3 {
		t.Error("the imports of the root package were not found")
	}
}

func TestTestHelpersStayInTests(t *testing.T) {
	files, _ := sourceFiles(t)
	for _, f := range files {
		for _, imported := range imports(f.ast) {
			helper := strings.HasSuffix(imported, "test") && strings.HasPrefix(imported, module)
			if helper && !isTest(f.name) && !strings.HasSuffix(f.dir, "test") {
				t.Errorf("%s/%s imports the test helper %s", f.dir, f.name, imported)
			}
		}
	}
}

// publicHelpers lists the test helpers for users, each with the page that documents it.
var publicHelpers = map[string]string{"wavefoldtest": "docs/testing.md", "nodes/nodestest": "docs/kinds.md", "llm/llmtest": "docs/models.md", "store/storetest": "docs/stores.md"}

func TestTestHelpersAreInternal(t *testing.T) {
	files, _ := sourceFiles(t)
	seen := map[string]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.dir, "test") || slices.Contains(strings.Split(f.dir, "/"), "internal") {
			continue
		}
		seen[f.dir] = true
		if publicHelpers[f.dir] == "" {
			t.Errorf("the test helper %s is public: move it to an internal folder, or name the page that shows it to users", f.dir)
		}
	}
	for dir, page := range publicHelpers {
		if text, err := os.ReadFile(filepath.Join("..", "..", page)); !seen[dir] || !strings.Contains(string(text), path.Base(dir)) {
			t.Errorf("%s has no code or is not on the page %s: %v", dir, page, err)
		}
	}
}

func TestLibrariesHaveOneHome(t *testing.T) {
	files, _ := sourceFiles(t)
	used := map[string]bool{}
	for _, f := range files {
		for _, imported := range imports(f.ast) {
			for lib, homes := range libraries {
				if imported != lib && !strings.HasPrefix(imported, lib+"/") {
					continue
				}
				used[lib] = true
				if !isTest(f.name) && !slices.ContainsFunc(homes, func(h string) bool { return below(f.dir, h) }) {
					t.Errorf("%s/%s imports %s; only %v may", f.dir, f.name, imported, homes)
				}
			}
		}
	}
	for lib := range libraries {
		if !used[lib] {
			t.Errorf("the rule for %s is about a library nobody imports", lib)
		}
	}
}

func TestPurePackagesArePure(t *testing.T) {
	files, fset := sourceFiles(t)
	for _, f := range files {
		if isTest(f.name) || strings.HasSuffix(f.dir, "test") || !slices.ContainsFunc(pure, func(p string) bool { return below(f.dir, p) }) {
			continue
		}
		for _, imported := range imports(f.ast) {
			if why, bad := impure[imported]; bad {
				t.Errorf("%s/%s imports %s: %s", f.dir, f.name, imported, why)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine in a pure package", fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
					t.Errorf("%s reads the clock in a pure package: time arrives inside events", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

func TestOnlyDriversStartGoroutines(t *testing.T) {
	files, fset := sourceFiles(t)
	for _, f := range files {
		if isTest(f.name) || strings.HasSuffix(f.dir, "test") || slices.ContainsFunc(mayGo, func(p string) bool { return below(f.dir, p) }) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s starts a goroutine; only %v do", fset.Position(g.Pos()), mayGo)
			}
			return true
		})
	}
}

// recovers lists the functions that may recover. Each of them calls user code (handlers,
// listeners, reducers, models, and the UnmarshalJSON and MarshalJSON of values) or a
// library that panics on damaged files.
var recovers = []string{"scheduler/execute.go", "scheduler/functions.go", "internal/rehearse/functions.go", "scheduler/delivery.go", "scheduler/tracing.go", "state/schema.go", "core/failure.go", "core/value/json.go", "core/value/panic.go", "llm/complete.go", "nodes/agent/tools.go", "nodes/internal/parquet/guard.go"}

func TestRecoverStaysAtTheEdge(t *testing.T) {
	files, fset := sourceFiles(t)
	for _, f := range files {
		if isTest(f.name) || strings.HasSuffix(f.dir, "test") || f.dir == "benchmarks" || slices.Contains(recovers, path.Join(f.dir, f.name)) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if fn, ok := c.Fun.(*ast.Ident); ok && fn.Name == "recover" {
					t.Errorf("%s recovers; only %v may, where user code is called", fset.Position(c.Pos()), recovers)
				}
			}
			return true
		})
	}
}

// A package-level variable with a compiled regular expression costs every program that links
// the package, whether it uses the expression or not.
func TestPatternsAreCompiledLate(t *testing.T) {
	files, fset := sourceFiles(t)
	for _, f := range files {
		if isTest(f.name) || strings.HasSuffix(f.dir, "test") || f.dir == "benchmarks" {
			continue
		}
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			ast.Inspect(g, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "regexp" && strings.Contains(n.Sel.Name, "Compile") {
						t.Errorf("%s: use internal/lazyregexp, so that the expression is compiled when it is needed", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}

func TestFilesStaySmall(t *testing.T) {
	files, fset := sourceFiles(t)
	for _, f := range files {
		lines := fset.File(f.ast.Pos()).LineCount()
		if lines > 600 && !isTest(f.name) {
			t.Errorf("%s/%s has %d lines: one idea per file", f.dir, f.name, lines)
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || isTest(f.name) {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line; n > 70 {
				t.Errorf("%s/%s: %s has %d lines", f.dir, f.name, fn.Name.Name, n)
			}
		}
	}
}

// knowModes lists the folders and files that may distinguish modes: by the mode constants, by the
// words for modes, by the walk fields of a plan, and by features of a single way of choosing edges.
// All other code uses plan.Mode, Plan.Conventions, Description.Mode and core.Env, so that a new
// mode needs no change there.
var knowModes = []string{
	"core/workflow.go", "core/walk.go", // the constants, and the settings of a walk
	"core/flow.go", "core/flowrules.go", // the settings of a flow, and what is checked before its runs
	"flow.go", "flowrun.go", // which build and run flows in Go
	"scheduler/machine/planner.go", "scheduler/machine/routing.go", // the tables of planners and routers
	"scheduler/machine/walk.go", "scheduler/machine/flow.go", // which read their parts of the plan
	"formats", "scheduler/plan", "scheduler/verify",
	"walk.go", "walkbuild.go", "walkoption.go", // build walks, as the formats do
}

func TestModesAreBehindOneSeam(t *testing.T) {
	files, fset := sourceFiles(t)
	seen := map[string]bool{}
	for _, f := range files {
		if isTest(f.name) || strings.HasSuffix(f.dir, "test") {
			continue
		}
		mayKnow := slices.ContainsFunc(knowModes, func(p string) bool { return below(path.Join(f.dir, f.name), p) })
		for _, m := range modesIn(f) {
			if mayKnow {
				seen[m.word] = true
			} else {
				t.Errorf("%s tells modes apart by %s: read plan.Mode, Plan.Conventions, Description.Mode or core.Env.Conventions", fset.Position(m.pos), m.word)
			}
		}
	}
	for _, name := range []string{"ModeDAG", "ModeWalk", "ModeFlow", "RouterOutcomes", "RouterModel", "Walk", "Flow", "Routed", `"walk"`, `"dag"`, `"flow"`} {
		if !seen[name] {
			t.Errorf("the rule is about %s, which no package has any more", name)
		}
	}
}

// modeWord is a place that distinguishes modes.
type modeWord struct {
	word string
	pos  token.Pos
}

// modeConstants are the constants of core for modes and for ways of choosing edges.
var modeConstants = []string{"ModeDAG", "ModeWalk", "ModeFlow", "RouterOutcomes", "RouterModel"}

// modesIn returns the places of a file that distinguish modes.
func modesIn(f file) (found []modeWord) {
	packages := map[string]bool{} // the names of imported packages
	own := f.dir == "core"        // whether the constants need no qualifier
	var core []string
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = true
		if p == module+"/core" {
			core, own = append(core, name), own || name == "."
		}
	}
	qualified := map[*ast.Ident]bool{} // and names of fields
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				qualified[name] = true
			}
		case *ast.SelectorExpr:
			qualified[n.Sel] = true
			x, _ := n.X.(*ast.Ident)
			switch {
			case slices.Contains(modeConstants, n.Sel.Name):
				if x != nil && x.Obj == nil && slices.Contains(core, x.Name) {
					found = append(found, modeWord{n.Sel.Name, n.Pos()})
				}
			case n.Sel.Name == "Walk", n.Sel.Name == "Flow": // of a plan, workflow or node; core.Walk and ast.Walk are not fields
				if x == nil || x.Obj != nil || !packages[x.Name] {
					found = append(found, modeWord{n.Sel.Name, n.Pos()})
				}
			case n.Sel.Name == "InWalk", n.Sel.Name == "Routed":
				found = append(found, modeWord{n.Sel.Name, n.Pos()})
			}
		case *ast.Ident:
			if own && !qualified[n] && slices.Contains(modeConstants, n.Name) {
				found = append(found, modeWord{n.Name, n.Pos()})
			}
		case *ast.BasicLit:
			if word, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && (word == "walk" || word == "dag" || word == "flow") {
				found = append(found, modeWord{strconv.Quote(word), n.Pos()})
			}
		}
		return true
	})
	return found
}

func TestModesAreFound(t *testing.T) {
	const imported = "import \"" + module + "/core\"\n"
	for _, tt := range []struct{ dir, src, want string }{
		{"cli", imported + "var x = w.Mode == core.ModeWalk", "ModeWalk"},
		{"cli", strings.Replace(imported, "import", "import c", 1) + "var x = w.Mode == c.ModeDAG", "ModeDAG"},
		{"cli", strings.Replace(imported, "import", "import .", 1) + "var x = w.Mode == ModeWalk", "ModeWalk"},
		{"core", "func (w *Workflow) f() bool { return w.Mode == ModeWalk }", "ModeWalk"},
		{"cli", imported + "var x = w.Walk.Router.Value == core.RouterModel", "Walk RouterModel"},
		{"cli", imported + "var x = made.RouterModel", ""},
		{"cli", "var x = w.Mode == \"walk\"", `"walk"`},
		{"cli", "var x = p.Mode.Name != `dag`", `"dag"`},
		{"cli", "func f() { switch m := string(w.Mode); m { case \"walk\": } }", `"walk"`},
		{"cli", "var x = p.Walk != nil", "Walk"},
		{"cli", "var x = f().Walk.Routed", "Routed Walk"},
		{"cli", imported + "var x core.Walk", ""},
		{"cli", imported + "func f() { core := g(); _ = core.Walk }", "Walk"},
		{"cli", "import \"" + module + "/scheduler/plan\"\nfunc f(plan *plan.Plan) bool { return plan.Walk != nil }", "Walk"},
		{"cli", strings.Replace(imported, "import", "import .", 1) + "var x = s == RouterModel", "RouterModel"},
		{"core", "func (w *Walk) f() bool { return w.Router.Value == RouterModel }", "RouterModel"},
		{"cli", "import \"go/ast\"\nfunc f() { ast.Walk(nil, nil) }", ""},
		{"cli", "import \"example.org/other\"\nvar x = other.ModeWalk", ""},
		{"cli", "func f(ModeWalk int) int { return ModeWalk }", ""},
		{"cli", "var x = \"a walk\"", ""},
		{"cli", imported + "var x = w.Mode == core.ModeFlow || n.Flow != nil || s == `flow`", "ModeFlow Flow \"flow\""},
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+tt.src, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range modesIn(file{tt.dir, "x.go", parsed}) {
			got = append(got, m.word)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: found %q, want %q", tt.src, got, tt.want)
		}
	}
}
