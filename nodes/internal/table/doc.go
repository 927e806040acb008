// Package table is what the kinds for data share: rows, files of rows, expressions over rows,
// and checks.
//
// A row is a *value.Object, a table a []any of rows. Rows of one table need not have the same
// keys. Write and Writer write rows in a Format.
//
// A Reader makes batches of rows from files with csv, tsv, JSON lines and arrays of JSON
// objects, in memory that does not grow with the table. Its FileSource opens the files,
// one after the other, and decompresses or fetches them if necessary.
//
// A Scope compiles the expressions of a node: conditions and values over the rows of a table,
// and names of files with values of the state. A row expression has the row as $item, its
// index in the table (from 0) as $index, the state as $.field and the run's inputs as
// $input.NAME.
//
// A Collector evaluates the checks of a document on rows. It handles bad rows as the Policy
// of the document says: the first one fails the node, or they are left out, or collected in
// a file or field with the reason.
package table
