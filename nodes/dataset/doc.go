// Package dataset is the node kind "dataset": it loads the rows of files into one
// state field, as an array of objects, or makes the field a stream of them.
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
//	infer          true      find the types of other columns from their cells
//	infer_rows     all       from how many rows; of a stream the first 10000
//	header         true      the first line names the columns; or the list of names
//	                         of a file without such a line
//	delimiter      ,         the character between cells ("tab" for a tab)
//	nulls          [""]      cells that mean null
//	file_column              the name of a last column for the name of the file
//	limit                    how many rows to load
//	min_rows                 how many good rows there must be in all files together
//	allow_empty    false     a file without content has no rows, and no row need be
//	                         good
//	stream         false     make the field a stream
//	check          true      look for the files when the workflow is loaded
//	optional       false     a file that is not there has no rows
//	allow_outside  false     the files may lie outside of the workflow's folder
//	max_row        16MB      limit on the length of a row in its file
//	max_ratio      200       how many times their size gzip files may expand to
//	checks                   conditions every row must hold: {name, expr, severity}
//	on_bad_row     fail      fail, skip or collect
//	rejects                  where bad rows are collected: a file, or a field
//	max_failures             how many bad rows are tolerated: a number, or "5%"
//	report                   a .json file for the quality report
//
// infer, infer_rows, header, delimiter and nulls belong to csv and tsv. A source may
// also be written {type: file, uri: path, format: csv}.
//
// # The files
//
// A path is relative to the workflow's folder. One that leaves it, also through a
// symbolic link, is refused unless allow_outside is true. A file that is not there
// is an error when the workflow is loaded. A file that another node makes needs
// check: false, one that may be absent optional: true. The path may hold values,
// such as in/{{$.day}}.csv, or be an expression whose value it is, such as
// $item.file; it is then looked up when the node runs, and needs the key format
// unless its name tells. A value cannot climb out of the folder that stands before
// it.
//
// A name that ends in a slash is a folder: it means the files in it that end in the
// name of the format, without those that begin with "." or "_". A pattern is one of
// path.Match, in which ** stands for any number of folders. The files of both are
// sorted. Several files have one header, but for optional columns. Rows are numbered
// through all of them.
//
// csv and tsv are UTF-8 with or without a byte order mark, with any line ends;
// cells may be quoted and hold line breaks. Blank lines are passed over. jsonl is
// one object on a line, json an array of objects. Integers of 64 bits stay exact. A
// quote that is never closed fails the node, and so does a header that is one column
// with another delimiter in its name, unless it is declared or delimiter is given.
//
// Every file must have the declared columns: those under columns and select, and those
// of the state schema. A column may be absent with optional: true, or if the schema
// lists required columns without it.
//
// A file without content fails the node, a table without rows is a warning, and one
// with rows none of which is good fails, unless allow_empty is true.
//
// # Parquet
//
// Of a Parquet file the wanted columns are read, page by page; the types are those
// of the file. Decimals, dates, times and timestamps (RFC 3339) are texts, bytes
// without annotation base64, lists and groups arrays and objects. A declared type
// string takes bytes as text and writes numbers, number takes integers and decimals.
//
// # Streams
//
// With stream: true the rows are not stored. The node looks at the files and the
// first rows; the node that reads the field pulls the rows, some thousand at a
// time. Types are found from the first rows, and a later cell that does not fit
// makes a bad row. In the end the field holds source, format, schema, rows, rejected
// and hash, the SHA-256 of the bytes of the files, for Parquet of the footer and of
// the columns that were read.
//
// # Types
//
// A column of csv and tsv gets a type if each cell that is not empty can be
// written as that type without loss, otherwise it is text: leading zeros, plus
// signs, integers beyond 64 bits, and integers beyond 2^53 beside decimals keep
// a column text. true and false, also True and TRUE, are booleans. A declared
// type reads more generously (007 and +7 are 7; yes, no, t, f, y, n, 1 and 0 are
// booleans), and a cell it cannot read makes the row bad. Without columns, the
// types of the written field's items in the state schema count as declared.
// Empty cells are null; with nulls: [] they stay empty text in text columns.
//
// # Bad rows
//
// A row is bad if it has too few or too many cells, is no object, does not have
// its declared types, does not fit the state schema of the field's items, or
// fails a check of severity error. Checks are conditions over the row as $item;
// one of severity warn only counts. The first bad row fails the node, naming
// file, line and reason; on_bad_row: skip leaves bad rows out, collect writes
// them to rejects, and rejects or max_failures alone imply that. More than
// max_failures bad rows fail the node; a share is judged at the end, unless the
// number of rows is known.
//
// rejects is a field among the writes, or a file (.csv, .tsv, .jsonl, .json). A
// rejected row is an object of row (its number from 1), line, node, check (null if
// it could not be read), reason, data, and raw, the bytes of the row in the file
// (raw_base64 if they are not UTF-8). The file is replaced in every run, also without
// bad rows and when the node fails. A node that rejected rows ends partial_success.
//
// report is a file that tells for each check how many rows passed and failed, with
// three examples.
//
// Text in the middle of a json array that is no JSON always fails the node. limit
// counts rows that could be read, before the checks; types are found from the
// rows that are loaded.
//
// The node sends {path, rows, rejected, schema} along its edges, with checks also
// the report as quality, and warnings by check.
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
