package sql

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/postgrestest"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// The tests share one server, which the first of them starts.
var shared struct {
	once   sync.Once
	server *postgrestest.Server
	stop   func()
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

// testServer is the server, seen from a schema that a test has for itself.
type testServer struct {
	*postgrestest.Server
	t      testing.TB
	schema string
}

// server returns the server; see postgrestest.Missing for the case that there
// is none.
func server(t testing.TB) *testServer {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.stop, shared.err = postgrestest.Start() })
	if shared.err != nil {
		postgrestest.Missing(t, shared.err)
	}
	s := &testServer{shared.server, t, strings.ToLower(strings.NewReplacer("/", "_", " ", "_", ",", "").Replace(t.Name()))}
	s.schema = s.schema[max(0, len(s.schema)-60):]
	s.must("CREATE SCHEMA " + s.schema)
	return s
}

func (s *testServer) dsn() string { return s.DSN(s.schema) }

// must runs statements and returns the rows of the last one.
func (s *testServer) must(statements string) string {
	s.t.Helper()
	out, err := s.Query(s.schema, statements)
	if err != nil {
		s.t.Fatalf("%s: %v", statements, err)
	}
	return out
}

const fields = `{"rows": {"type": "array", "items": {"type": "object"}}, "any": {}, "out": {"type": "array"}, "text": {"type": "string"},
	"typed": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}, "delay": {"type": "number"}}}}}`

func kindWith(dsn string) core.Kind {
	return New(Options{LookupEnv: func(name string) (string, bool) { return dsn, name == "DSN" }})
}

// compiled compiles a node; its dsn may be {secret: DSN}.
func compiled(t testing.TB, dsn, node string) core.Handler {
	t.Helper()
	made, ds := kindWith(dsn).Compile(nodestest.Node(t, node), core.Env{Schema: nodestest.Schema(t, fields)})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	return made.Handler
}

// onServer is compiled for a node of the server; the keys follow those of the
// connection.
func onServer(s *testServer, keys string) core.Handler {
	s.t.Helper()
	return compiled(s.t, s.dsn(), `{"dsn": {"secret": "DSN"}, "driver": "postgres", `+keys+`}`)
}

func valueOf(t testing.TB, text string) any {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// input returns an input with rows and arguments, given as JSON; "" means
// none.
func input(t testing.TB, dir, rows, args string) core.Input {
	t.Helper()
	s := core.Shared{Dir: dir}
	if rows != "" {
		s.View = core.NewView([]string{"rows", "typed"}, []any{valueOf(t, rows), valueOf(t, rows)})
	}
	if args != "" {
		s.Args = valueOf(t, args).(*value.Object)
	}
	return core.NewInput("run", "n", 1, s)
}

// feed gives batches of rows, and calls then before the last of them and end behind
// it.
type feed struct {
	batches [][]any
	then    func() error
	end     func()
	closed  int
}

func (s *feed) Next(context.Context) ([]any, error) {
	if len(s.batches) == 0 {
		if s.end != nil {
			s.end()
		}
		return nil, io.EOF
	}
	if len(s.batches) == 1 && s.then != nil {
		if err := s.then(); err != nil {
			return nil, err
		}
	}
	rows := s.batches[0]
	s.batches = s.batches[1:]
	return rows, nil
}

func (s *feed) Summary() *value.Object { return nil }
func (s *feed) Close() error           { s.closed++; return nil }

// fedBy is an input whose field rows is a stream.
func fedBy(dir string, s core.Stream) core.Input {
	return core.NewInput("run", "n", 1, core.Shared{Dir: dir,
		Open: func(_ context.Context, field string, _ *value.Object) (core.Stream, bool, error) {
			return s, field == "rows", nil
		}})
}

// numbered returns rows {id, name} from one id to another.
func numbered(from, to int) []any {
	var rows []any
	for i := from; i <= to; i++ {
		rows = append(rows, value.ObjectOf("id", int64(i), "name", "x"))
	}
	return rows
}
