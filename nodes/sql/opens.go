package sql

import "slices"

// The connection decides what a statement may do to files, see package sqlite. This check
// runs before anything else and rejects the statements that the connection would reject,
// and a few that it cannot detect.

// readingPragmas are the PRAGMA statements with an argument that only read.
var readingPragmas = []string{"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list", "foreign_key_check",
	"integrity_check", "quick_check", "compile_options", "collation_list", "function_list", "module_list", "pragma_list"}

// writingPragmas change something even without an argument.
var writingPragmas = []string{"wal_checkpoint", "optimize", "incremental_vacuum", "shrink_memory"}

// refused returns the reason that a statement cannot run, or "" if it can.
func (s *statement) refused(d dialect, query, outside bool) (message, hint string) {
	if d == sqliteDialect {
		return s.refusedBySQLite(query, outside)
	}
	return s.refusedByPostgres(query)
}

// refusedByPostgres returns the reason that a statement for PostgreSQL cannot run. A
// read-only transaction does not prevent COPY from writing files and running programs on
// the server.
func (s *statement) refusedByPostgres(query bool) (message, hint string) {
	switch {
	case len(s.tokens) == 0 || s.tokens[0] != "copy":
	case query:
		return "COPY writes files or runs programs of the server, a query reads", "query the rows, and write them with a sink"
	case runsProgram(s.tokens):
		return "COPY ... PROGRAM runs a program on the server", "run it with a node of the kind command, and write the rows with table"
	}
	return "", ""
}

// runsProgram reports whether COPY has the word PROGRAM outside of parentheses.
func runsProgram(tokens []string) bool {
	depth := 0
	for i, t := range tokens {
		switch {
		case t == "(":
			depth++
		case t == ")":
			depth--
		case depth == 0 && t == "program" && (tokens[i-1] == "to" || tokens[i-1] == "from"):
			return true
		}
	}
	return false
}

// refusedBySQLite returns the reason that a statement for SQLite cannot run, or "" if it
// can. A query must not change anything, and a statement must not open files that the node
// may not open.
func (s *statement) refusedBySQLite(query, outside bool) (message, hint string) {
	t := append(slices.Clone(s.tokens), "", "", "", "", "")
	switch t[0] {
	case "attach":
		switch {
		case query:
			return "ATTACH is not a query", ""
		case !outside:
			return "ATTACH opens another file", "read it with a node of its own, or set allow_outside: true"
		}
	case "vacuum":
		return "VACUUM does not run in the transaction that a node is", ""
	case "pragma":
		return refusedPragma(t[1:], query)
	}
	return "", ""
}

// refusedPragma checks the parts of a PRAGMA statement after its first word.
func refusedPragma(t []string, query bool) (message, hint string) {
	if t[1] == "." {
		t = t[2:]
	}
	name := t[0]
	if name == "temp_store_directory" || name == "data_store_directory" {
		return "PRAGMA " + name + " sets a folder for all databases of the process", ""
	}
	argument := t[1] == "=" || t[1] == "("
	if query && (argument && !slices.Contains(readingPragmas, name) || slices.Contains(writingPragmas, name)) {
		return "PRAGMA " + name + " changes something, a query reads", "put it under exec"
	}
	return "", ""
}
