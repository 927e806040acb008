// Package sink is the node kind "sink": it writes a value of the state, or a stream
// of rows, to a file, to standard output or into a table of an SQLite database.
//
// # Fields
//
//	to             required  the file, - for standard output
//	from           by reads  what is written: a field, or an expression such as
//	                         $.report.rows or $item; by default the only declared
//	                         read
//	format         by name   csv, tsv, jsonl, json, parquet, text, markdown or
//	                         sqlite
//	compression    by name   gzip, where the name ends in .gz, or none; of parquet
//	                         snappy (default), zstd, gzip or none
//	columns        all       the columns in order: a list of names, or
//	                         {name: type} to check types too
//	header         true      begin csv and tsv with a line of names
//	delimiter      ,         the character between cells ("tab" for a tab)
//	table                    the table of a database (.db, .sqlite, .sqlite3)
//	mode           replace   replace, append or upsert
//	key                      the primary key of the table; upsert finds rows by it
//	allow_outside  false     the file may lie outside of the workflow's folder
//
// # Files
//
// The path is relative to the workflow's folder, which it must not leave (also
// not through a symbolic link) unless allow_outside is true. Missing folders are
// made. The file is written beside its place, flushed to the disk and renamed:
// if anything fails or the run is cancelled, the old file stays as it was and
// nothing else remains. It keeps its permissions; a link is replaced by a file.
// The name may hold values, such as out/{{$.day}}.csv, which cannot climb out of
// the folder that stands before them, or be an expression such as $item.file. In a
// fan-out it must depend on the item.
//
// csv and tsv hold rows, which are objects. Without columns the file has all
// columns of all rows: those of the first row in its order, then others as they
// first appear, then those that only the state schema knows. null is an empty cell,
// arrays and objects are JSON text, floats keep a point or exponent, integers of
// 64 bits are exact. jsonl and json hold any array, json any value; an array is
// written with one element on a line. text and markdown hold a text as it is. A
// listed column that no row has fails the node: at the end of the rows, or before the
// first one of a stream whose columns are known. One that the state schema declares is
// empty instead, and logged.
//
// gzip compresses any of them, also where standard output is meant.
//
// parquet holds rows. Each column has one type, that of the document, the state
// schema or the values, and may be null: INT64, DOUBLE, BOOLEAN, text (UTF8), and
// JSON for arrays and objects. Values of several types in one column are an error,
// and so are integers beyond 2^53 beside decimals. Row groups end after 131,072
// rows or 32 MB of values.
//
// # Standard output
//
// to: "-" writes to the standard output of the program, which needs the key format.
// One node of a workflow may do so, once: not in a fan-out, pipeline or loop. The
// command line then prints its summary on standard error, and refuses --json and
// --events -. Rows are shown as they are written, so a failure leaves what was
// written before it, and is not followed by another attempt.
//
// # Streams
//
// The rows of a stream are written as they come, in memory for one batch. What
// depends on all rows is decided by the first batch then: the columns of csv and
// tsv, the columns and types of parquet and of a table. A later row with another
// column or a value of another type fails the node and is named; columns: says what
// there will be.
// The node tells its progress after each batch.
//
// # Databases
//
// The rows are stored in one transaction: the table is there whole or as it was.
// Other writers are waited for, up to a minute.
//
//	replace  the table is made anew, its indexes are lost
//	append   rows are added; the table is made when it is not there
//	upsert   rows whose key is in the table update it, others are added; of two
//	         rows with one key the later wins
//
// A table is made with the types the document gives, or else the values show:
// INTEGER, REAL, BOOLEAN, TEXT (also for arrays and objects, as JSON). A column of
// mixed values, or of integers beyond 2^53 beside decimals, gets no type, so that
// SQLite keeps each value as it is. A row without a key, a column that the table
// does not have, or a text in a column for numbers fails the node. A new file in
// which nothing could be stored stays behind as an empty database.
//
// The node sends {path, rows}, for databases also table, along its edges. Its
// work is visible outside of the run.
//
// # Example
//
//	name: export
//	state:
//	  schema:
//	    delays: {type: array}
//	graph:
//	  nodes:
//	    - id: file
//	      kind: sink
//	      reads: [delays]
//	      to: out/delays.csv
//	      columns: [origin, flights, mean_delay]
//	    - id: database
//	      kind: sink
//	      reads: [delays]
//	      to: out/flights.db
//	      table: delays
//	      mode: upsert
//	      key: [origin]
package sink
