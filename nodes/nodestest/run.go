package nodestest

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Case is one node of the kind under test.
type Case struct {
	// Name is the name of the subtest; "" means the number of the case.
	Name string
	// Node is the node as a JSON mapping, see Node. It must be valid.
	Node string
	// Env is the environment in which the node is compiled.
	Env core.Env
	// Input is the content of an input with which the handler must succeed.
	Input core.Shared
	// Want is the expected value of Text for the result; "" accepts any.
	Want string
	// Hangs is true for a handler that runs until it is cancelled. The handler must log the
	// line "ready" once it has started; it is then cancelled and must return.
	Hangs bool
	// Ignores allows the handler to succeed if it is called with a context that has
	// already ended. It is for handlers that run code of the user, which decides.
	Ignores bool
	// Shares is true if the result may contain values of the input. That is allowed,
	// because neither is changed in a run. The suite changes results, so in this case it
	// cannot test whether the handler keeps references to them.
	Shares bool
	// Varies is true if two calls may return different results.
	Varies bool
}

// Run runs the suite on a kind with each case.
func Run(t *testing.T, kind core.Kind, cases ...Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("the suite needs at least one case")
	}
	if kind.Name() == "" {
		t.Error("the kind has no name")
	}
	checkKeys(t, kind)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			s := suite{kind: kind, c: c}
			t.Run("compile", s.compile)
			t.Run("keys", s.keys)
			t.Run("shapes", s.shapes)
			t.Run("bare environment", s.bareEnv)
			made, ds := s.made(t, c.Node)
			if ds.Failed(false) || made.Handler == nil {
				return
			}
			s.h, s.before = made.Handler, inputText(s.input(&Log{}))
			t.Run("cancelled before", s.cancelledBefore)
			if c.Hangs {
				t.Run("cancelled during", s.cancelledDuring)
				return
			}
			t.Run("result", s.result)
			t.Run("missing input", s.missingInput)
			t.Run("concurrent", s.concurrent)
			if !c.Shares {
				t.Run("ownership", s.ownership)
			}
		})
	}
}

func checkKeys(t *testing.T, kind core.Kind) {
	t.Helper()
	seen := map[string]bool{}
	for _, k := range kind.Keys() {
		if k == "" || seen[k] {
			t.Errorf("Keys() lists %q twice or empty: %q", k, kind.Keys())
		}
		seen[k] = true
		if slices.Contains(commonKeys, k) {
			t.Errorf("Keys() claims %q, which belongs to every node", k)
		}
	}
}

// commonKeys lists the keys of nodes that the formats read.
var commonKeys = []string{"id", "kind", "phase", "description", "reads", "writes", "args",
	"for_each", "on_error", "allow_partial", "auto_status", "timeout", "join", "priority", "effects"}

// suite runs the checks of one case.
type suite struct {
	kind core.Kind
	c    Case
	h    core.Handler
	// before is inputText of the input before any call.
	before string
}

func (s suite) made(t *testing.T, node string) (core.Compiled, source.Diagnostics) {
	t.Helper()
	return s.kind.Compile(Node(t, node), s.c.Env)
}

// compile checks the result of compiling the valid node.
func (s suite) compile(t *testing.T) {
	n := Node(t, s.c.Node)
	before := value.JSON(n.Config.Plain())
	made, ds := s.kind.Compile(n, s.c.Env)
	if ds.Failed(false) {
		t.Fatalf("the valid node has findings:\n%v", ds)
	}
	if after := value.JSON(n.Config.Plain()); after != before {
		t.Errorf("compiling changed the node:\nbefore %s\nafter  %s", before, after)
	}
	set := 0
	for _, is := range []bool{made.Handler != nil, made.Frame != nil, made.Wait != nil, made.Lacks != "", made.NoHandler != "", made.NoModel != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		t.Errorf("exactly one of Handler, Frame, Wait, Lacks, NoHandler and NoModel must be set, %d are", set)
	}
	for _, k := range n.Config.Keys {
		if !slices.Contains(s.kind.Keys(), k.Value) {
			t.Errorf("the key %q is accepted but not listed by Keys()", k.Value)
		}
	}
}

// keys removes each key, misspells each key, and adds an unknown key.
func (s suite) keys(t *testing.T) {
	var required, optional []string
	for i, key := range Node(t, s.c.Node).Config.Keys {
		n := Node(t, s.c.Node)
		n.Config.Keys = slices.Delete(n.Config.Keys, i, i+1)
		n.Config.Values = slices.Delete(n.Config.Values, i, i+1)
		_, ds := s.kind.Compile(n, s.c.Env)
		checkPositions(t, ds, "without "+key.Value)
		switch {
		case !ds.Failed(false):
			optional = append(optional, key.Value)
		case ds.Has(source.CodeMissingKey):
			required = append(required, key.Value)
		}
		s.unknown(t, i, key.Value+key.Value[len(key.Value)-1:], key.Value)
	}
	s.unknown(t, -1, "zz_unknown", "")
	for _, r := range required {
		for _, o := range optional {
			if slices.Index(s.kind.Keys(), o) < slices.Index(s.kind.Keys(), r) {
				t.Errorf("Keys() lists the required %q after %q: %q", r, o, s.kind.Keys())
			}
		}
	}
}

// unknown renames key i, or adds a key if i is negative. It expects an error at the position of
// the key with the nearest name.
func (s suite) unknown(t *testing.T, i int, name, near string) {
	t.Helper()
	n := Node(t, s.c.Node)
	at := source.Position{File: File, Line: 900, Column: 7}
	if i < 0 {
		n.Config.Set(source.At(name, at), source.Tree("x", at))
	} else {
		n.Config.Keys[i] = source.At(name, at)
	}
	_, ds := s.kind.Compile(n, s.c.Env)
	for _, d := range ds {
		if d.Code == source.CodeUnknownKey && d.Pos == at {
			if !strings.Contains(d.Error(), `"`+name+`"`) || !strings.Contains(d.Hint, near) {
				t.Errorf("unknown key %q: the finding does not name it and %q: %v", name, near, d)
			}
			return
		}
	}
	t.Errorf("unknown key %q at %s: no %s among the findings: %v", name, at, source.CodeUnknownKey, ds)
}

// shapes replaces each value by a value of every other shape. The kind must not panic, and its
// findings must have positions.
func (s suite) shapes(t *testing.T) {
	for i := range Node(t, s.c.Node).Config.Keys {
		for _, v := range []any{nil, true, int64(-1), int64(1) << 60, 0.5, "", " ", "{{", "$.", []any{}, []any{nil, "x", int64(1)}, value.ObjectOf(), value.ObjectOf("a", value.ObjectOf("b", nil))} {
			n := Node(t, s.c.Node)
			key := n.Config.Keys[i]
			n.Config.Values[i] = source.Tree(v, n.Config.Values[i].Pos)
			_, ds := s.kind.Compile(n, s.c.Env)
			checkPositions(t, ds, key.Value+": "+value.JSON(v))
		}
	}
}

// bareEnv compiles the node in the zero Env.
func (s suite) bareEnv(t *testing.T) {
	made, ds := s.kind.Compile(Node(t, s.c.Node), core.Env{})
	checkPositions(t, ds, "bare environment")
	if !ds.Failed(false) && made.Handler == nil && made.Frame == nil && made.Wait == nil && made.Lacks+made.NoHandler+made.NoModel == "" {
		t.Error("neither a finding nor a result")
	}
}

func checkPositions(t *testing.T, ds source.Diagnostics, what string) {
	t.Helper()
	for _, d := range ds {
		if !d.Pos.IsValid() || d.Code == "" || d.Message == "" {
			t.Errorf("%s: a finding without place, code or text: %v", what, d)
		}
	}
}

// input returns an input of the case with a log, and the log.
func (s suite) input(log *Log) core.Input {
	in := s.c.Input
	in.Log = slog.New(log)
	return core.NewInput("run", "n", 1, in)
}
