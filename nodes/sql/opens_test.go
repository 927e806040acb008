package sql

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// Statements that leave the folder, and queries that change something, are rejected before anything
// runs.
func TestStatementsThatDoNotRun(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{`"exec": "attach '../x.db' as z"`, "exec: ATTACH opens another file (read it with a node of its own, or set allow_outside: true)"},
		{`"exec": ["DELETE FROM t", "/* a */ -- b\n \"ATTACH\" '../x.db' as z"]`, "exec: ATTACH opens another file (read it with a node of its own, or set allow_outside: true)"},
		{`"exec": "attach '../x.db' as z", "allow_outside": true`, ""},
		{`"query": "attach '../x.db' as z", "writes": ["out"], "allow_outside": true`, "query: ATTACH is not a query"},
		{`"query": "Vacuum INTO '../x.db'", "writes": ["out"]`, "query: VACUUM does not run in the transaction that a node is"},
		{`"exec": "vacuum"`, "exec: VACUUM does not run in the transaction that a node is"},
		{`"exec": "pragma temp_store_directory = '/'", "allow_outside": true`, "exec: PRAGMA temp_store_directory sets a folder for all databases of the process"},
		{`"exec": "pragma main.'Temp_Store_Directory'('/')"`, "exec: PRAGMA temp_store_directory sets a folder for all databases of the process"},
		{`"query": "pragma journal_mode = wal", "writes": ["out"]`, "query: PRAGMA journal_mode changes something, a query reads (put it under exec)"},
		{`"query": "pragma main.user_version(3)", "writes": ["out"]`, "query: PRAGMA user_version changes something, a query reads (put it under exec)"},
		{`"query": "pragma query_only(0)", "writes": ["out"]`, "query: PRAGMA query_only changes something, a query reads (put it under exec)"},
		{`"query": "pragma optimize", "writes": ["out"]`, "query: PRAGMA optimize changes something, a query reads (put it under exec)"},
		{`"query": "pragma user_version", "writes": ["out"]`, ""},
		{`"query": "pragma table_info('t')", "writes": ["out"]`, ""},
		{`"exec": "pragma user_version = 3"`, ""},
		{`"query": "select 'attach', pragma from vacuum", "writes": ["out"]`, ""},
		{`"driver": "postgres", "exec": "vacuum"`, ""},
		{`"driver": "postgres", "query": "copy (select 1) to program 'id'", "writes": ["out"]`, "query: COPY writes files or runs programs of the server, a query reads (query the rows, and write them with a sink)"},
		{`"driver": "postgres", "query": "/* a */ COPY t to '/tmp/x'", "writes": ["out"]`, "query: COPY writes files or runs programs of the server, a query reads (query the rows, and write them with a sink)"},
		{`"driver": "postgres", "exec": ["DELETE FROM t", "COPY t (a, b, c, d, e, f, g, h) FROM -- x\n PROGRAM 'id'"]`, "exec: COPY ... PROGRAM runs a program on the server (run it with a node of the kind command, and write the rows with table)"},
		{`"driver": "postgres", "exec": "copy (select a, b, c from program) to '/tmp/x'"`, ""},
		{`"driver": "postgres", "exec": "copy program from '/tmp/x'"`, ""},
		{`"driver": "postgres", "query": "select copy, program from t", "writes": ["out"]`, ""},
	} {
		_, ds := Kind.Compile(nodestest.Node(t, `{"dsn": "x.db", `+c.keys+`}`), core.Env{Schema: nodestest.Schema(t, fields)})
		got := ""
		if ds.Failed(false) {
			_, got, _ = strings.Cut(ds.Error(), "error: node n: ")
			got = strings.TrimSuffix(got, " [BAD_VALUE]")
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.keys, got, c.want)
		}
	}
}
