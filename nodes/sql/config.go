package sql

import (
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// config is the configuration of a node in a document.
type config struct {
	DSN         secret.Value    `wavefold:"dsn,required" doc:"the database: a file of SQLite, or the connection string of a PostgreSQL server; {secret: NAME} reads it from the environment"`
	Driver      source.Text     `wavefold:"driver,oneof=sqlite|postgres" doc:"what the database is; by default what the dsn begins with, or a file's name ends in"`
	Query       source.Text     `wavefold:"query" doc:"a statement that reads; its rows go into the one declared write"`
	Into        source.Text     `wavefold:"into" doc:"with query: the field for the rows; by default the only declared write"`
	Stream      bool            `wavefold:"stream" doc:"with query: the rows are a stream, read by one other node"`
	Exec        statements      `wavefold:"exec" doc:"statements that change something, one or a list; they run in one transaction"`
	Table       source.Text     `wavefold:"table,fixed" doc:"the table that rows are written to"`
	Schema      source.Text     `wavefold:"schema,fixed" doc:"with table: the schema of PostgreSQL it is in"`
	From        source.Text     `wavefold:"from" doc:"with table: the field to write, or an expression such as $.report.rows; by default the only declared read"`
	Mode        source.Text     `wavefold:"mode,oneof=insert|upsert|replace" doc:"with table: what happens to rows that are there: insert adds to them (default), upsert updates those with the key, replace removes them"`
	Key         []source.Text   `wavefold:"key,fixed" doc:"with table: the columns by which upsert finds rows; with query and stream: the unique column by which the rows are ordered"`
	Columns     table.FieldList `wavefold:"columns" doc:"with table: the columns to fill, a list of names or {name: type}; by default all columns of the rows"`
	Create      bool            `wavefold:"create" doc:"with table: create the table if it does not exist"`
	Batch       source.Int      `wavefold:"batch,min=1,max=100000" doc:"with table: number of rows that are sent at once, and with transaction: batch stored at once; by default at most 5000, and 1000 in a transaction"`
	Transaction source.Text     `wavefold:"transaction,oneof=all|batch" doc:"with table: all rows are one transaction (default), or each batch is"`
	Markers     bool            `wavefold:"markers" doc:"with exec and table: in a stored run, record in the table wavefold_commits what was done, so that nothing is done twice after a crash (default true)"`
	Outside     bool            `wavefold:"allow_outside" doc:"a file of SQLite may lie outside of the workflow's folder"`
}

// statements is one statement or a list of them.
type statements []source.Text

// DecodeValue reads the statements.
func (s *statements) DecodeValue(v *source.Value) source.Diagnostics {
	if text, ok := v.Scalar.(string); ok {
		*s = statements{source.At(text, v.Pos)}
		return nil
	}
	if v.Kind != source.ArrayValue || len(v.Items) == 0 {
		return source.WrongType(v, "a statement or a list of statements")
	}
	return source.Decode(v, (*[]source.Text)(s))
}

// Names of drivers.
const (
	sqliteDriver   = "sqlite"
	postgresDriver = "postgres"
)

// transactionRows is the default number of rows in a transaction.
const transactionRows = 1000

// driverOf returns the driver that a connection string implies, or "" if it implies none.
func driverOf(dsn string) string {
	if driver := schemeDriver(dsn); driver != "" {
		return driver
	}
	for _, ext := range []string{".db", ".sqlite", ".sqlite3"} {
		if strings.HasSuffix(strings.ToLower(dsn), ext) && !strings.Contains(dsn, "://") {
			return sqliteDriver
		}
	}
	return ""
}

// schemeDriver returns the driver of the scheme of a connection string, or "" if it has
// none.
func schemeDriver(dsn string) string {
	switch scheme, _, ok := strings.Cut(dsn, ":"); {
	case ok && (scheme == "postgres" || scheme == "postgresql"):
		return postgresDriver
	case ok && scheme == "sqlite":
		return sqliteDriver
	}
	return ""
}

// fileOf returns the file name in a connection string of SQLite.
func fileOf(dsn string) string {
	name, ok := strings.CutPrefix(dsn, "sqlite:")
	if ok {
		name = strings.TrimPrefix(name, "//")
	}
	return name
}
