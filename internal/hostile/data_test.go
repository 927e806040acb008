//go:build unix

package hostile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

const load = "name: x\nstate: {schema: {file: {type: string}, rows: {type: array}}}\ngraph: {nodes: [{id: a, kind: dataset, source: %, writes: [rows]}]}\n"

// Malformed tables. Errors give the line, and nothing of the file is stored.
func TestHostileTables(t *testing.T) {
	for name, c := range map[string]struct{ data, rows, err string }{
		"too few cells":       {"id,v\n1,a\n2\n3,c\n", "", "node a: rows.csv:3: row 2: has 1 cell, want 2"},
		"too many cells":      {"id,v\n1,a\n\n2,b,c\n", "", "node a: rows.csv:4: row 2: has 3 cells, want 2"},
		"open quote":          {"id,v\n1,\"a\n2,b\n", "", `node a: rows.csv:2: byte 3 of line 2: the cell begins with a quote, and no quote ends it`},
		"quote in a cell":     {"id,v\n1,a\"b\n", "", `node a: rows.csv:2: row 1: byte 4 of line 2: a quote in a cell that does not begin with one`},
		"doubled column":      {"id,id\n1,2\n", "", `node a: rows.csv:1: column "id" appears twice in the header`},
		"no UTF-8":            {"id,v\n1,\xff\n", "", "node a: rows.csv:2: row 1: column 2 (v) is not UTF-8"},
		"UTF-16":              {"\xff\xfei\x00d\x00", "", "node a: rows.csv: the file is UTF-16; save it as UTF-8"},
		"20,001 columns":      {strings.Repeat("c,", 20_000) + "c\n", "", "node a: rows.csv:1: 20001 columns are more than the 16384 that are allowed"},
		"nothing":             {"", "", "node a: rows.csv: the file is empty"},
		"blank lines":         {"\n\n\n", "", "node a: rows.csv: the file is empty"},
		"header only":         {"id,v\n", "[]", ""},
		"BOM and CRLF":        {"\ufeffid,v\r\n1,a\r\n", `[{"id":1,"v":"a"}]`, ""},
		"CR alone":            {"id,v\r1,a\r2,\"b\rc\"\r", `[{"id":1,"v":"a"},{"id":2,"v":"b\rc"}]`, ""},
		"CR in a cell":        {"id,v\n1,\"a\rb\"\n", `[{"id":1,"v":"a\rb"}]`, ""},
		"ids above 2^53":      {"id\n9007199254740993\n9223372036854775807\n-9223372036854775808\n", `[{"id":9007199254740993},{"id":9223372036854775807},{"id":-9223372036854775808}]`, ""},
		"id above 2^63":       {"id\n9007199254740993\n9223372036854775808\n", `[{"id":"9007199254740993"},{"id":"9223372036854775808"}]`, ""},
		"id beside a float":   {"id\n9007199254740993\n1.5\n", `[{"id":"9007199254740993"},{"id":"1.5"}]`, ""},
		"numbers of others":   {"v\nNaN\nInfinity\n1e999\n0x10\n1_000\n007\n", `[{"v":"NaN"},{"v":"Infinity"},{"v":"1e999"},{"v":"0x10"},{"v":"1_000"},{"v":"007"}]`, ""},
		"cells of a megabyte": {"id,v\n1,\"" + strings.Repeat("a\n", 500_000) + "\"\n", `[{"id":1,"v":"` + strings.Repeat(`a\n`, 500_000) + `"}]`, ""},
		"names of others":     {"__proto__,constructor\n1,2\n", `[{"__proto__":1,"constructor":2}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "rows.csv"), c.data)
			r, err := run(t, t.Context(), mustIn(t, dir, nil, strings.Replace(load, "%", "rows.csv", 1)), nil, scheduler.Options{})
			rows, ok := r.State.Get("rows")
			if !strings.HasPrefix(text(err), c.err) || (err == nil) != (c.err == "") || ok != (err == nil) || ok && value.JSON(rows) != c.rows {
				t.Errorf("got  %.300s, %v\nwant %s%s", value.JSON(rows), err, c.rows, c.err)
			}
		})
	}
}

// A cell of the wrong type after 100,000 rows is reported with its file, line and column,
// both in an array and in a stream, whose types are inferred from its first rows.
func TestLateWrongCell(t *testing.T) {
	const flow = `name: late
state: {schema: {rows: {}}}
graph:
  nodes:
    - {id: load, kind: dataset, source: rows.csv, writes: [rows]%}
    - {id: save, kind: sink, reads: [rows], to: out.csv}
  edges: [{from: load, to: save}]
`
	data := "id,a,b,c,d,e,delay\n" + strings.Repeat("1,x,1.5,true,2001-01-01,7,3\n", 100_000) + "1,x,1.5,true,2001-01-01,7,soon\n1,x,1.5,true,2001-01-01,7,3\n"
	const where = "rows.csv:100002: row 100001: column 7 (delay): want integer"
	for more, want := range map[string]string{
		", columns: {delay: integer}":               "node load: " + where + `, got "soon"`,
		", columns: {delay: integer}, stream: true": `node save: out.csv: stream "rows" of node load: ` + where + `, got "soon"`,
		", stream: true":                            `node save: out.csv: stream "rows" of node load: ` + where + ` (as in the first 10000 rows), got "soon"`,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "rows.csv"), data)
		text := strings.Replace(flow, "%", more, 1)
		_, err := run(t, t.Context(), mustIn(t, dir, nil, text), nil, scheduler.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", more, err, want)
		}
		onlyWhole(t, dir, "rows.csv", "flow.yaml")
	}
}

// Paths that lead elsewhere, to nothing or to a non-file, as literals and in values. A
// named pipe used to block the node until the run abandoned it.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.csv"), 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.csv"), 0o700); err != nil {
		t.Fatal(err)
	}
	symlink(t, "/etc/passwd", filepath.Join(dir, "link.csv"))
	symlink(t, "loop.csv", filepath.Join(dir, "loop.csv"))
	byValue := mustIn(t, dir, nil, strings.Replace(load, "%", "'{{$.file}}', format: csv", 1))
	for file, c := range map[string]struct{ early, late string }{
		"pipe.csv":    {`is not a regular file`, "pipe.csv is not a regular file"},
		"dir.csv":     {`is not a regular file`, "dir.csv is not a regular file"},
		"link.csv":    {`"link.csv" leaves the workflow's folder`, "through a symbolic link; allow_outside: true allows that"},
		"loop.csv":    {`too many levels of symbolic links`, "too many levels of symbolic links"},
		"/etc/passwd": {`"/etc/passwd" leaves the workflow's folder`, `"/etc/passwd" leaves the workflow's folder`},
		"../x.csv":    {`"../x.csv" leaves the workflow's folder`, `"../x.csv" leaves the workflow's folder`},
		"no.csv":      {`there is no file "no.csv"`, `there is no file "no.csv"`},
		"a\x00b.csv":  {"", `"a\x00b.csv" contains a NUL byte, which no path can have`},
		"":            {"", "{{$.file}} gives an empty file name"},
	} {
		if c.early != "" {
			p, ds := compileIn(t, dir, nil, strings.Replace(load, "%", file+", format: csv", 1), false)
			if got := lines(ds); p != nil || !strings.Contains(got, c.early) {
				t.Errorf("%q: plan %v\n%s\nwant %s", file, p != nil, got, c.early)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := run(t, ctx, byValue, map[string]any{"file": file}, scheduler.Options{})
		cancel()
		if got := text(err); !strings.Contains(got, c.late) {
			t.Errorf("%q by value: %s\nwant %s", file, got, c.late)
		}
	}
}

// A value in the file name of a sink cannot leave the folder before it.
func TestSinksStayInTheirFolder(t *testing.T) {
	outside := t.TempDir()
	for _, file := range []string{"../x.csv", "../../x.csv", outside + "/x.csv", "a/../../x.csv", "away/x.csv", "toaway.csv", "null.csv", "a\x00b.csv", strings.Repeat("n", 300) + ".csv"} {
		dir := filepath.Join(t.TempDir(), "work")
		write(t, filepath.Join(dir, "out", "keep"), "")
		for _, folder := range []string{dir, filepath.Join(dir, "out")} {
			symlink(t, outside, filepath.Join(folder, "away"))
			symlink(t, filepath.Join(outside, "x.csv"), filepath.Join(folder, "toaway.csv"))
			symlink(t, "/dev/null", filepath.Join(folder, "null.csv"))
		}
		for _, to := range []string{"'{{$.file}}'", "$.file", "'out/{{$.file}}'"} {
			p := mustIn(t, dir, nil, "name: x\nstate: {schema: {file: {type: string}, rows: {type: array, default: [{a: 1}]}}}\ngraph: {nodes: [{id: a, kind: sink, to: "+to+", reads: [rows]}]}\n")
			_, err := run(t, t.Context(), p, map[string]any{"file": file}, scheduler.Options{})
			absolute := to == "'out/{{$.file}}'" && strings.HasPrefix(file, "/") // becomes a path below out
			if (err == nil) != absolute {
				t.Errorf("%.40q %s: %v", file, to, err)
			}
		}
		if got := names(t, outside) + names(t, filepath.Dir(dir)); got != "work" {
			t.Fatalf("%q: files outside: %s", file, got)
		}
		if got := names(t, dir); strings.Contains(got, ".tmp") {
			t.Errorf("%q: left behind: %s", file, got)
		}
	}
}

// Names of tables and columns are quoted as names, whatever their characters, and values
// are stored unchanged. A database that cannot be written stays unchanged.
func TestHostileDatabases(t *testing.T) {
	needs(t, "sqlite3")
	junk := strings.Repeat("this is not a database ", 100)
	for _, c := range []struct{ file, table, rows, dump, err string }{
		{"x.db", `t\"; DROP TABLE u; --`, `[{a: 1}]`, `CREATE TABLE IF NOT EXISTS "t""; DROP TABLE u; --" ("a" INTEGER);`, ""},
		{"x.db", "t", `[{'a"); DROP TABLE u; --': 1}]`, `("a""); DROP TABLE u; --" INTEGER);`, ""},
		{"a?b#c%20d.db", "t", `[{a: 1}]`, "INSERT INTO t VALUES(1);", ""},
		{"x.db", "t", `[{rowid: 7, oid: 8, _rowid_: 9}]`, "INSERT INTO t VALUES(7,8,9);", ""},
		{"x.db", "t", `[{a: 9007199254740993}, {a: 9223372036854775807}]`, "INSERT INTO t VALUES(9223372036854775807);", ""},
		{"x.db", "t", `[{a: 9007199254740993}, {a: 1.5}]`, "INSERT INTO t VALUES(9007199254740993);\nINSERT INTO t VALUES(1.5);", ""},
		{"x.db", "t", `[{"a\0b": 1}]`, "", `x.db: column "a\x00b": the name contains a NUL byte; rename it`},
		{"x.db", "t", `[{a: 1, A: 2}]`, "", `x.db: columns "a" and "A" are the same to SQLite, which ignores case; rename one`},
		{"x.db", "t", `[{'': 2}]`, "", `x.db: a column has the empty name; rename it`},
		{"junk.db", "t", `[{a: 1}]`, "", "junk.db: file is not a database"},
		{"dir.db", "t", "[{a: 1}]", "", "dir.db is not a regular file"},
		{"link.db", "t", "[{a: 1}]", "", "through a symbolic link; allow_outside: true allows that"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "junk.db"), junk)
		write(t, filepath.Join(dir, "dir.db", "x"), "")
		symlink(t, filepath.Join(t.TempDir(), "away.db"), filepath.Join(dir, "link.db"))
		p := mustIn(t, dir, nil, "name: x\nstate: {schema: {rows: {type: array, default: "+c.rows+"}}}\ngraph: {nodes: [{id: a, kind: sink, to: '"+c.file+"', table: \""+c.table+"\", reads: [rows]}]}\n")
		_, err := run(t, t.Context(), p, nil, scheduler.Options{})
		if got := text(err); !strings.Contains(got, c.err) || (err == nil) != (c.err == "") {
			t.Errorf("%v: %v", c, err)
		}
		if err != nil {
			if got := names(t, dir); got != "dir.db flow.yaml junk.db link.db" || read(t, filepath.Join(dir, "junk.db")) != junk {
				t.Errorf("%v: files %s", c, got)
			}
			continue
		}
		out, err := exec.Command("sqlite3", filepath.Join(dir, c.file), ".dump").CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.dump) {
			t.Errorf("%v: %v\n%s", c, err, out)
		}
	}
	for table, want := range map[string]string{"sqlite_master": "names that begin with sqlite_ belong to SQLite", "SQLite_x": "names that begin with sqlite_", `a\0b`: "the name contains a NUL byte"} {
		p, ds := compile(t, nil, "name: x\nstate: {schema: {rows: {type: array}}}\ngraph: {nodes: [{id: a, kind: sink, to: x.db, table: \""+table+"\", reads: [rows]}]}\n", false)
		if p != nil || !strings.Contains(lines(ds), want) {
			t.Errorf("%s: plan %v\n%s", table, p != nil, lines(ds))
		}
	}
}

// On a full disk, the existing file is unchanged, and there is no other file next to it.
func TestSinkOnAFullDisk(t *testing.T) {
	var limit syscall.Rlimit
	if os.Getenv(onFullDisk) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSinkOnAFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), onFullDisk+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	// A limit on the size of files simulates a full disk; Go ignores its signal.
	limit.Cur, limit.Max = 64<<10, 64<<10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	for _, file := range []string{"out.csv", "out.json", "out.jsonl", "out.tsv", "out.db, table: t"} {
		dir := t.TempDir()
		name, _, _ := strings.Cut(file, ",")
		doc := "name: x\nstate: {schema: {rows: {type: array}}}\ngraph: {nodes: [{id: a, kind: sink, to: " + file + ", reads: [rows], on_error: {policy: retry, attempts: 2, base_ms: 1}}]}\n"
		p := mustIn(t, dir, nil, doc)
		row := value.ObjectOf("text", strings.Repeat("x", 1000))
		if _, err := run(t, t.Context(), p, map[string]any{"rows": []any{row}}, scheduler.Options{}); err != nil {
			t.Fatal(err)
		}
		before := read(t, filepath.Join(dir, name))
		many := make([]any, 1000)
		for i := range many {
			many[i] = row
		}
		_, err := run(t, t.Context(), p, map[string]any{"rows": many}, scheduler.Options{})
		if err == nil || read(t, filepath.Join(dir, name)) != before || names(t, dir) != "flow.yaml "+name {
			t.Errorf("%s: %v, files %s, unchanged %v", name, err, names(t, dir), read(t, filepath.Join(dir, name)) == before)
		}
		t.Log(err)
	}
}

const onFullDisk = "WAVEFOLD_HOSTILE_FULL_DISK"

// An id above 2^53 is preserved in CSV, state, arguments, conditions, a program, a nested
// workflow, JSON and SQLite, and back.
func TestLargeIDsStayExact(t *testing.T) {
	needs(t, "cat")
	const id = "9007199254740993"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "id,v\n"+id+",1\n")
	write(t, filepath.Join(dir, "inner.yaml"), "name: inner\ninputs: {id: {type: integer}}\nstate: {schema: {out: {type: integer}}}\ngraph: {nodes: [{id: n, kind: tool, impl: same, args: {id: $input.id}, writes: [out]}]}\n")
	p := mustIn(t, dir, tools{"same": func(in struct{ ID int64 }) int64 { return in.ID }}, `name: x
inputs: {given: {type: integer}}
state:
  schema: {rows: {type: array}, back: {type: array}, out: {type: integer}, sub: {type: integer}, sum: {type: integer, merge: sum}, max: {type: integer, merge: max}}
graph:
  nodes:
    - {id: load, kind: dataset, source: in.csv, writes: [rows]}
    - {id: cmd, kind: command, run: [cat], stdin: json, args: {id: "$.rows[0].id"}, output: json}
    - {id: json, kind: sink, to: out.json, reads: [rows]}
    - {id: csv, kind: sink, to: out.csv, reads: [rows]}
    - {id: db, kind: sink, to: out.db, table: t, reads: [rows]}
    - {id: back, kind: dataset, source: out.json, check: false, writes: [back]}
    - {id: tool, kind: tool, impl: same, args: {id: "$.back[0].id"}, writes: [out]}
    - {id: sub, kind: workflow, file: inner.yaml, args: {id: $.out}, outputs: {sub: out}, writes: [sub]}
    - {id: sum, kind: tool, impl: same, args: {id: $.sub}, writes: [sum]}
    - {id: max, kind: tool, impl: same, args: {id: $.sub}, writes: [max]}
  edges:
    - {from: load, to: cmd}
    - {from: load, to: json}
    - {from: load, to: csv}
    - {from: load, to: db}
    - {from: json, to: back, when: "$.rows[0].id == `+id+` && $.rows[0].id != 9007199254740992 && $.given == $.rows[0].id"}
    - {from: back, to: tool}
    - {from: tool, to: sub}
    - {from: sub, to: sum}
    - {from: sub, to: max}
`)
	r, err := run(t, t.Context(), p, map[string]any{"given": int64(9007199254740993)}, scheduler.Options{Concurrency: 4})
	if err != nil {
		t.Fatal(err)
	}
	state := value.JSON(r.State)
	if want := `"out":` + id + `,"sub":` + id + `,"sum":` + id + `,"max":` + id; !strings.Contains(state, want) || !strings.Contains(state, `"back":[{"id":`+id) {
		t.Errorf("state %s", state)
	}
	cmd, _ := r.Node("cmd")
	for what, got := range map[string]string{"the program": value.JSON(cmd.Output), "out.json": read(t, filepath.Join(dir, "out.json")), "out.csv": read(t, filepath.Join(dir, "out.csv"))} {
		if !strings.Contains(got, id) {
			t.Errorf("%s has %s", what, got)
		}
	}
	if _, err := exec.LookPath("sqlite3"); err == nil {
		if out, err := exec.Command("sqlite3", filepath.Join(dir, "out.db"), "SELECT id, typeof(id) FROM t").CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != id+"|integer" {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// The same for the command line and its JSON output.
func TestLargeIDsOnTheCommandLine(t *testing.T) {
	const id = "9007199254740993"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), "name: x\ninputs: {a: {type: integer}, b: {}, c: {}}\ngraph: {nodes: [{id: w, kind: wait, duration: 1ms}]}\n")
	write(t, filepath.Join(dir, "c.yaml"), "c: {id: "+id+"}\n")
	cmd := command(t, dir, "run", "-q", "--json", "-i", "a="+id, "-i", "b=["+id+"]", "--inputs", "c.yaml", "--events", "log")
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), id) != 3 || strings.Count(read(t, filepath.Join(dir, "log")), id) != 6 {
		t.Errorf("%v\n%s\n%s", err, out, read(t, filepath.Join(dir, "log")))
	}
	for _, bad := range []string{"9223372036854775808", "1e3.5", "0x10", "true", `"1"`, "1.5", ""} {
		cmd := command(t, dir, "run", "-q", "-i", "a="+bad)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "--input a: ") {
			t.Errorf("%q: exit code %d\n%s", bad, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// TestLinksOutOfTheFolder checks that every kind rejects a link that leads out of the
// folder, with an error that names the file and the folder and does not quote the system's
// message.
func TestLinksOutOfTheFolder(t *testing.T) {
	away := t.TempDir()
	for _, file := range []string{"a.csv", "b.yaml", "c.py", "d.txt", "e/f.csv"} {
		write(t, filepath.Join(away, file), "x\n")
	}
	dir := t.TempDir()
	for _, file := range []string{"a.csv", "b.yaml", "c.py", "d.txt", "e"} {
		symlink(t, filepath.Join(away, file), filepath.Join(dir, file))
	}
	for _, c := range []struct{ node, file string }{
		{"kind: dataset, source: a.csv, writes: [rows]", "a.csv"},
		{"kind: dataset, source: e/f.csv, writes: [rows]", "e/f.csv"},
		{"kind: workflow, file: b.yaml, writes: []", "b.yaml"},
		{"kind: tool, impl: c.py, writes: []", "c.py"},
		{"kind: tool, impl: ./c, writes: []", "./c"},
		{"kind: command, run: [./c.py]", "./c.py"},
		{"kind: template, file: d.txt, writes: []", "d.txt"},
	} {
		p, ds := compileIn(t, dir, nil, "name: x\nstate: {schema: {rows: {type: array}}}\ngraph: {nodes: [{id: a, "+c.node+"}]}\n", false)
		want := `"` + c.file + `" leaves the workflow's folder (` + dir + ") through a symbolic link"
		if got := lines(ds); p != nil || !strings.Contains(got, want) || !strings.Contains(got, "files must lie in the workflow's folder") {
			t.Errorf("%s: %v\n%s\nwant %s", c.node, p != nil, got, want)
		}
	}
}
