// Package table holds the code that the data kinds share: rows, files of rows, and
// expressions over rows.
//
// A row is a *value.Object, a table a []any of rows. The rows of a table need not have
// the same keys. Write and Writer write rows in a Format.
//
// A Reader reads batches of rows from files in csv, tsv, JSON lines and JSON, in memory
// that does not grow with the table. Its FileSource opens the files one after the
// other, and decompresses or downloads them if necessary.
//
// A Scope compiles the expressions of a node: conditions and values over the rows of a
// table. In a row expression, $item is the row, $index its index in the table from 0,
// $.field the state and $input.NAME an input of the run.
package table
