// Package sink is the node kind "sink": it writes a value of the state, or a stream of
// rows, to a file, to standard output or into a table of an SQLite database.
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
//	                         {name: type} to check types, too
//	header         true      begin csv and tsv with a line of names
//	delimiter      ,         the character between cells ("tab" for a tab)
//	table                    the table of a database (.db, .sqlite, .sqlite3)
//	mode           replace   replace, append or upsert
//	key                      the primary key of the table; upsert finds rows by it
//	markers        true      of a database: in a stored run, record in the table
//	                         wavefold_commits what was stored
//	allow_outside  false     the file may be outside of the workflow's folder
//
// # Files
//
// The path is relative to the workflow's folder. It must not leave the folder, also not
// through a symbolic link, unless allow_outside is true. Missing folders are created. The
// file is written next to its final place, flushed to disk and renamed: if anything fails
// or the run is cancelled, the old file is unchanged and no other file remains. It keeps
// its permissions; a symbolic link is replaced by a file. The name may contain values, as
// in out/{{$.day}}.csv, which cannot leave the folder that precedes them, or be an
// expression such as $item.file. In a fan-out it must depend on the item.
//
// csv and tsv contain rows, which are objects. Without columns, the file has all columns of
// all rows: the columns of the first row in its order, then others in the order in which
// they first appear, then columns that only the state schema declares. null is an empty
// cell, arrays and objects are JSON, floats keep a point or exponent, and integers of 64
// bits are exact. jsonl and json contain any array, json any value; each element of an
// array is on a separate line. text and markdown contain a string unchanged. A listed
// column that no row has fails the node: at the end of the rows, or before the first one
// for a stream whose columns are known. If the state schema declares the column, it is
// empty instead, and this is logged.
//
// gzip compresses files of these formats, and also standard output.
//
// parquet contains rows. Each column has one type, from the document, the state schema or
// the values, and may be null: INT64, DOUBLE, BOOLEAN, strings (UTF8), and JSON for arrays
// and objects. Values of several types in one column are an error, and so are integers
// beyond 2^53 next to decimals. Row groups end after 131,072 rows or 32 MB of values.
//
// # Standard output
//
// to: "-" writes to the standard output of the program and needs the key format. Only one
// node of a workflow may do so, and only once: not in a fan-out, pipeline or loop. The
// command line then prints its summary on standard error, and rejects --json and --events
// -. Rows appear as soon as they are written. Therefore, rows that were written before a
// failure remain, and the node is not attempted again.
//
// # Streams
//
// The rows of a stream are written as they arrive, with one batch in memory. The first
// batch then decides what otherwise depends on all rows: the columns of csv and tsv, and
// the columns and types of parquet and of a table. A later row with another column or a
// value of another type fails the node, and the error names it; columns: declares the
// columns in advance. The node reports its progress after each batch.
//
// # Databases
//
// The rows are stored in one transaction: either all of them are stored or the table is
// unchanged. The node waits up to a minute for other writers.
//
//	replace  the table is created again; its indexes are lost
//	append   rows are added; the table is created if it does not exist
//	upsert   rows whose key is in the table update it, others are added; of two
//	         rows with the same key the later one wins
//
// A new table has the types of the document, or else the types of the values: INTEGER,
// REAL, BOOLEAN, TEXT (also for arrays and objects, as JSON). A column of mixed values, or
// of integers beyond 2^53 next to decimals, has no type, so that SQLite keeps each value as
// it is. A row without a key, a column that the table does not have, or a string in a
// numeric column fails the node. If nothing could be stored in a new file, an empty
// database remains.
//
// The node sends {path, rows} along its edges, and for databases also table. Its work is
// visible outside of the run.
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
