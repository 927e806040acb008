package sink

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// config is the configuration of a node in a document.
type config struct {
	To        source.Text     `wavefold:"to,required" doc:"the file to write, - for standard output"`
	From      source.Text     `wavefold:"from" doc:"the field to write, or an expression such as $.report.rows; by default the only declared read"`
	Format    source.Text     `wavefold:"format,oneof=csv|tsv|jsonl|json|parquet|text|markdown|sqlite" doc:"format of the file; by default the ending of its name"`
	Compress  source.Text     `wavefold:"compression,oneof=none|gzip|snappy|zstd" doc:"gzip (default where the name ends in .gz) or none; of parquet snappy (default), zstd, gzip or none"`
	Columns   table.FieldList `wavefold:"columns" doc:"the columns in order: a list of names, or {name: type}; by default all columns of the rows"`
	Header    bool            `wavefold:"header" doc:"begin csv and tsv with a line of column names (default true)"`
	Delimiter source.Text     `wavefold:"delimiter" doc:"the character between cells of csv"`
	Table     source.Text     `wavefold:"table,fixed" doc:"the table of an SQLite database"`
	Mode      source.Text     `wavefold:"mode,oneof=replace|append|upsert" doc:"what happens to rows that are in the table: replace (default), append or upsert"`
	Key       []source.Text   `wavefold:"key,fixed" doc:"the columns of the table's primary key, by which upsert finds rows"`
	Markers   bool            `wavefold:"markers" doc:"in a stored run, record in the table wavefold_commits of the database what was stored, so that no row is stored twice after a crash (default true)"`
	Outside   bool            `wavefold:"allow_outside" doc:"the file may lie outside of the workflow's folder"`
}
