// Package sql is the node kind "sql": it reads rows from a database, changes it, or writes
// rows to a table. The databases are SQLite and PostgreSQL.
//
// # Fields
//
//	dsn            required  the database: a file of SQLite, or the connection
//	                         string of a PostgreSQL server; {secret: NAME} reads it
//	                         from the environment
//	driver         by dsn    sqlite or postgres; a secret dsn needs it
//	query                    a statement that reads
//	into           by writes with query: the field for the rows
//	stream         false     with query: the rows are a stream
//	exec                     statements that change something, one or a list
//	table                    the table that rows are written to
//	schema                   with table: its schema in PostgreSQL
//	from           by reads  with table: what is written, a field or an expression
//	                         such as $.report.rows
//	mode           insert    with table: insert, upsert or replace
//	key                      with table: the columns by which upsert finds rows; with
//	                         query and stream: the unique column by which the rows
//	                         are ordered
//	columns        all       with table: the columns to fill, a list of names or
//	                         {name: type}
//	create         false     with table: create the table if it does not exist
//	batch          5000      with table: the number of rows sent at once; by default
//	                         fewer if rows are wide
//	transaction    all       with table: all rows are one transaction, or each
//	                         batch is (of 1000 rows unless batch is set)
//	markers        true      with exec and table: in a stored run, record in the table
//	                         wavefold_commits what was done
//	allow_outside  false     an SQLite file may be outside of the workflow's folder
//
// Each node has exactly one of query, exec and table.
//
// # Databases
//
// A dsn that begins with postgres:// or postgresql:// is a PostgreSQL server. A dsn that
// begins with sqlite: or ends in .db, .sqlite or .sqlite3 is a file. For others, such as
// "host=db user=etl", driver is needed. An SQLite file must be below the workflow's folder
// unless allow_outside is true. Passwords should be in the environment. Passwords, and a
// dsn from the environment, are never shown.
//
// Each execution opens and closes its own connection.
//
// # Parameters
//
// A value is written as a parameter :name, and args gives its value. It is sent separately
// from the statement, so it can never become part of it; templates in SQL are errors. Other
// forms of parameters (?, $1, @name) are errors, too. In PostgreSQL a colon that does not
// begin a parameter must be followed by a blank, as in a[1 : n]. An array can be the value
// of an array parameter, as in id = ANY(:ids). Otherwise arrays and objects are sent as
// JSON, which json_each of SQLite can read. PostgreSQL receives strings and converts them
// to the type of the parameter; a cast sets that type (:day::date).
//
// # Query
//
// The rows become the value of the only declared write, or of the field in into, as an
// array of objects. With stream: true the field is a stream: the node has the database
// check the statement, and the rows are read when the one reader requests them, with one
// batch of 1,000 in memory. The statement cannot change anything.
//
// In a resumed run, a stream begins again. With key, it continues after the key of the last
// row that was read. The statement must end with ORDER BY and the key.
//
//	PostgreSQL                     value
//	smallint, integer, bigint      integer
//	real, double precision         number; NaN and infinity are errors
//	numeric                        integer without a point, otherwise the nearest
//	                               number; more than 64 bits are an error
//	boolean                        boolean
//	json, jsonb                    the value that it contains
//	arrays                         array
//	timestamp, timestamptz         string as in RFC 3339, the latter in UTC
//	everything else                string, as the server writes it
//
//	SQLite                         value
//	INTEGER                        integer; 0 and 1 in a BOOLEAN column are booleans
//	REAL                           number
//	TEXT                           string; in columns for dates and times as SQLite
//	                               writes them
//	BLOB                           an error: use hex() in the query
//
// # Exec
//
// The statements are executed in order, in one transaction: either all of them take effect
// or none. The node sends {rows, statements} along its edges: the number of rows that were
// stored, changed or removed, and a list of these numbers by statement.
//
// # Table
//
//	insert   rows are added
//	upsert   rows whose key is in the table update it, others are added; of two
//	         rows with the same key the later one wins; the table needs a primary
//	         key or unique index on the key
//	replace  the rows of the table are removed; its definition stays
//
// All rows are one transaction: either all of them are stored or the table is unchanged.
// With transaction: batch each batch is a transaction, so a failure keeps the batches
// before it. The error gives the number of their rows, and there is no other attempt if
// rows were inserted. PostgreSQL receives the rows by COPY, for an upsert through a
// temporary table. A stream is written as it arrives, with one batch in memory.
//
// Every row fills the same columns: those in columns, or else the columns of all rows of an
// array, or of the first batch of a stream. A column that a row lacks is null. A string in
// a numeric column is always an error, and so is any other value that the column would
// change. Strings in other columns are converted to the type of the column (dates, exact
// decimals, JSON). An error names the row, its key and, if it is known, the column.
//
// With create, a missing table is created, with key as its primary key. Its columns are
// BIGINT, DOUBLE PRECISION, NUMERIC (whole numbers beyond 2^53 next to decimals), BOOLEAN,
// JSONB and TEXT in PostgreSQL; in SQLite they are as for the kind sink.
//
// The node sends {table, rows} along its edges.
//
// # Example
//
//	name: delays
//	state:
//	  schema:
//	    flights: {type: array, default: [{id: 1, origin: SFO, delay: 12}, {id: 2, origin: JFK, delay: -3}]}
//	    late: {type: array}
//	graph:
//	  nodes:
//	    - id: save
//	      kind: sql
//	      reads: [flights]
//	      dsn: sqlite:out/flights.db
//	      table: flights
//	      mode: upsert
//	      key: [id]
//	      create: true
//	    - id: mark
//	      kind: sql
//	      dsn: sqlite:out/flights.db
//	      args: {least: 10}
//	      exec:
//	        - CREATE TABLE IF NOT EXISTS late (id INTEGER PRIMARY KEY)
//	        - INSERT OR IGNORE INTO late SELECT id FROM flights WHERE delay >= :least
//	    - id: late
//	      kind: sql
//	      dsn: sqlite:out/flights.db
//	      args: {origin: SFO}
//	      query: |
//	        SELECT f.id, f.delay FROM flights f JOIN late USING (id)
//	        WHERE f.origin = :origin ORDER BY f.id
//	      writes: [late]
//	  edges:
//	    - {from: save, to: mark}
//	    - {from: mark, to: late}
package sql
