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
	// Name names the subtest; "" counts the cases.
	Name string
	// Node is the node as a JSON mapping, see Node. It must be valid.
	Node string
	// Env is what the kind may ask for while it compiles the node.
	Env core.Env
	// Input is the content of an input that the handler must succeed with.
	Input core.Shared
	// Want is what Text must give of the result; "" accepts everything.
	Want string
	// Hangs says that the handler works until it is cancelled. It must log the
	// line "ready" when it is at work; it is then cancelled and must return.
	Hangs bool
	// Ignores says that the handler is allowed to finish its work when it is
	// called with a context that has already ended: code of the user runs in
	// it, and that alone decides.
	Ignores bool
	// Shares says that the result may hold values of the input as they are. That
	// is allowed, neither is ever changed; but the suite, which does change what
	// a handler returned, cannot look for values it kept then.
	Shares bool
	// Varies says that two calls need not give equal results.
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

// commonKeys are the keys that the formats read themselves.
var commonKeys = []string{"id", "kind", "phase", "description", "reads", "writes", "args",
	"for_each", "on_error", "allow_partial", "auto_status", "timeout", "join", "priority", "effects"}

// suite runs the checks of one case.
type suite struct {
	kind core.Kind
	c    Case
	h    core.Handler
	// before is the input as text, before any call.
	before string
}

func (s suite) made(t *testing.T, node string) (core.Compiled, source.Diagnostics) {
	t.Helper()
	return s.kind.Compile(Node(t, node), s.c.Env)
}

// compile checks what the kind makes of the valid node.
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

// keys takes each key away, misspells it, and adds one that nobody knows.
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

// unknown renames key i, or adds a key when i is negative, and wants the error at
// its place with the near name in it.
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

// shapes replaces each value by one of every other shape. Whatever the kind says
// to it must have a place, and it must not panic.
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

// bareEnv compiles in an environment where nothing can be found.
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
