// Package dataset is the node kind "dataset": it loads the rows of files into one state
// field, as an array of objects, or makes the field a stream of them.
//
// # Fields
//
//	source         required  the files: a path, a folder such as in/, a pattern such
//	                         as in/*.csv, a list of them, - for standard input, or
//	                         {files, format}
//	format         by name   csv, tsv, jsonl, json or parquet
//	compression    by name   gzip or none
//	columns                  columns that the files must have, with their types:
//	                         {name: integer} or {name: {type, optional}}; string,
//	                         integer, number, boolean, in JSON also array and object
//	select         all       the columns of the rows, in this order
//	unknown        keep      what happens to columns that are not declared: keep, drop,
//	                         or fail the node
//	infer          true      infer the types of other columns from their cells
//	infer_rows     all       the number of rows to infer types from; for a stream
//	                         the first 10000
//	header         true      the first line names the columns; or the list of names
//	                         of a file without such a line
//	delimiter      ,         the character between cells ("tab" for a tab)
//	nulls          [""]      cells that mean null
//	file_column              the name of an additional last column with the file name
//	limit                    the maximum number of rows to load
//	min_rows                 the minimum number of good rows in all files together
//	allow_empty    false     accept files without content, and tables without good
//	                         rows
//	stream         false     make the field a stream
//	check          true      look for the files when the workflow is loaded
//	optional       false     a missing file has no rows
//	allow_outside  false     the files may be outside of the workflow's folder
//	max_row        16MB      limit on the length of a row in its file
//	max_ratio      200       limit on the expansion of gzip files, as a factor
//	checks                   conditions on every row: {name, expr, severity}
//	on_bad_row     fail      fail, skip or collect
//	rejects                  where bad rows are collected: a file, or a field
//	max_failures             how many bad rows are tolerated: a number, or "5%"
//	report                   a .json file for the quality report
//
// infer, infer_rows, header, delimiter and nulls belong to csv and tsv. A source may also
// be written {type: file, uri: path, format: csv}.
//
// # The files
//
// A path is relative to the workflow's folder. A path that leaves the folder, also through
// a symbolic link, is rejected unless allow_outside is true. A missing file is an error
// when the workflow is loaded. A file that another node creates needs check: false, and a
// file that may be absent needs optional: true. The path may contain values, as in
// in/{{$.day}}.csv, or be an expression such as $item.file. It is then resolved when the
// node runs, and needs the key format unless the ending of the name shows the format. A
// value cannot leave the folder that precedes it in the path.
//
// A name that ends in a slash is a folder. It means the files in that folder whose names
// end in the name of the format, without those that begin with "." or "_". A pattern has
// the syntax of path.Match, and ** matches any number of folders. The files of folders and
// patterns are sorted. Several files must have the same header, except for optional
// columns. Rows are numbered across all files.
//
// csv and tsv are UTF-8 with or without a byte order mark, with any line endings. Cells may
// be quoted and contain line breaks. Blank lines are skipped. jsonl has one object per
// line, json an array of objects. Integers of 64 bits stay exact. A quote that is never
// closed fails the node. So does a header that is one column with another delimiter in its
// name, unless the column is declared or delimiter is given.
//
// Every file must have the declared columns: the columns under columns and select and those
// of the state schema. A column may be absent if it has optional: true, or if the schema
// lists required columns without it.
//
// A file without content fails the node. A table without rows is a warning. A table with
// rows but without good rows fails the node. allow_empty: true accepts all three.
//
// # Parquet
//
// Only the selected columns of a Parquet file are read, page by page; their types are those
// of the file. Decimals, dates, times and timestamps (RFC 3339) become strings, bytes
// without annotation become base64 strings, and lists and groups become arrays and objects.
// A column declared as string accepts bytes as UTF-8 and formats numbers; a column declared
// as number accepts integers and decimals.
//
// # Streams
//
// With stream: true the rows are not stored. The node looks at the files and the first
// rows. The node that reads the field pulls the rows in batches of a few thousand. Types
// are inferred from the first rows, and a later cell of another type makes its row bad. At
// the end the field holds source, format, schema, rows, rejected and hash. The hash is the
// SHA-256 of the bytes of the files; for Parquet, of the footer and of the columns that
// were read.
//
// # Types
//
// A column of csv and tsv has a type if every cell that is not empty can be represented as
// that type without loss. Otherwise it is a string column: leading zeros, plus signs,
// integers beyond 64 bits, and integers beyond 2^53 next to decimals keep a column a string
// column. true and false, also True and TRUE, are booleans. Declared types accept more
// forms: 007 and +7 are 7, and yes, no, t, f, y, n, 1 and 0 are booleans. A cell that does
// not have the declared type makes the row bad. Without columns, the types of the items of
// the written field in the state schema count as declared. Empty cells are null; with
// nulls: [] they are empty strings in string columns.
//
// # Bad rows
//
// A row is bad if it has too few or too many cells, is not an object, does not have its
// declared types, does not match the state schema of the field's items, or fails a check of
// severity error. Checks are conditions on the row as $item. Failures of checks of severity
// warn are only counted. The first bad row fails the node, with its file, line and reason.
// on_bad_row: skip leaves bad rows out, and collect writes them to rejects; rejects or
// max_failures without on_bad_row imply these. More than max_failures bad rows fail the
// node. A percentage is evaluated at the end, unless the number of rows is known before.
//
// rejects is a field among the writes, or a file (.csv, .tsv, .jsonl, .json). A rejected
// row is an object with row (its number from 1), line, node, check (null if the row could
// not be read), reason, data, and raw, the bytes of the row in the file (raw_base64 if they
// are not UTF-8). The file is replaced in every run, also if there are no bad rows or the
// node fails. A node that rejected rows ends with partial_success.
//
// report is a file with the number of rows that passed and failed each check, with three
// examples.
//
// Invalid JSON in the middle of a json array always fails the node. limit counts rows that
// could be read, before the checks. Types are inferred from the rows that are loaded.
//
// The node sends {path, rows, rejected, schema} along its edges. If it has checks, it also
// sends the report as quality and the warnings by check.
//
// # Example
//
//	name: flights
//	state:
//	  schema:
//	    flights: {type: array}
//	graph:
//	  nodes:
//	    - id: load
//	      kind: dataset
//	      source: data/flights.csv
//	      checks:
//	        - {name: sane_delay, expr: "$item.delay > -120 && $item.delay < 1440"}
//	      rejects: out/rejects.csv
//	      max_failures: 100
//	      writes: [flights]
package dataset
