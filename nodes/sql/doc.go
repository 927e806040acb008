// Package sql is the node kind "sql": it reads rows from a database, changes it, or
// writes rows to a table. The databases are SQLite and PostgreSQL.
//
// # Fields
//
//	dsn            required  the database: a file of SQLite, or the connection
//	                         string of a PostgreSQL server; {secret: NAME} reads it
//	                         from the environment
//	driver         by dsn    sqlite or postgres; a secret dsn needs it
//	query                    a statement that reads
//	into           by writes beside query: the field for the rows
//	stream         false     beside query: the rows are a stream
//	exec                     statements that change something, one or a list
//	table                    the table that rows are written to
//	schema                   beside table: the schema of PostgreSQL it is in
//	from           by reads  beside table: what is written, a field or an expression
//	                         such as $.report.rows
//	mode           insert    beside table: insert, upsert or replace
//	key                      beside table: the columns by which upsert finds rows
//	columns        all       beside table: the columns to fill, a list of names or
//	                         {name: type}
//	create         false     beside table: make the table if it is not there
//	batch          5000      beside table: how many rows are sent at once; by default
//	                         fewer of wide rows
//	transaction    all       beside table: all rows are one transaction, or each
//	                         batch is (of 1000 rows unless batch says it)
//	allow_outside  false     a file of SQLite may lie outside of the workflow's folder
//
// One of query, exec and table says what the node does.
//
// # Databases
//
// A dsn that begins with postgres:// or postgresql:// is a PostgreSQL server, one
// that begins with sqlite: or is a file that ends in .db, .sqlite or .sqlite3 is a
// file; for others, such as "host=db user=etl", driver says it. A file of SQLite
// lies below the workflow's folder unless allow_outside is true. Passwords belong
// into the environment; they, and a dsn that comes from there, are shown nowhere.
//
// Each execution has a connection of its own, which it closes.
//
// # Parameters
//
// A value is a parameter :name, and args says what it is. It is sent beside the
// text, so it can never become part of the statement; templates in SQL are errors.
// Other forms of parameters (?, $1, @name) are errors too. In PostgreSQL a colon
// that is no parameter needs a blank behind it, as in a[1 : n]. Arrays fit array
// parameters, as in id = ANY(:ids); everywhere else arrays and objects are JSON,
// which json_each of SQLite takes apart. PostgreSQL is handed texts, which it reads
// as the type the parameter has there; a cast says which (:day::date).
//
// # Query
//
// The rows go into the only declared write, or the field that into names, as an
// array of objects. With stream: true the field is a stream: the node lets the
// database check the statement, and the rows are read, in memory for a batch of
// 1,000, when the one reader asks for them. The statement can change nothing.
//
//	PostgreSQL                     value
//	smallint, integer, bigint      integer
//	real, double precision         number; NaN and infinity are errors
//	numeric                        integer without a point, else the nearest number;
//	                               more than 64 bits are an error
//	boolean                        boolean
//	json, jsonb                    what it holds
//	arrays                         array
//	timestamp, timestamptz         text as in RFC 3339, the latter in UTC
//	everything else                text, as the server writes it
//
//	SQLite                         value
//	INTEGER                        integer; 0 and 1 in a BOOLEAN column are booleans
//	REAL                           number
//	TEXT                           text; in columns for dates and times as SQLite
//	                               writes them
//	BLOB                           an error: use hex() in the query
//
// # Exec
//
// The statements run one after the other in one transaction: all of them, or none.
// The node sends {rows, statements} along its edges: how many rows were stored,
// changed or removed, and a list of these numbers by statement.
//
// # Table
//
//	insert   rows are added
//	upsert   rows whose key is in the table update it, others are added; of two
//	         rows with one key the later wins; the table needs a primary key or
//	         unique index on the key
//	replace  the rows of the table go, its layout stays
//
// All rows are one transaction: the table holds them all, or is what it was. With
// transaction: batch each batch is one, so a failure leaves the batches before it,
// says how many rows these are, and is not followed by another attempt when rows
// were inserted. PostgreSQL gets the rows by COPY, an upsert by way of a temporary
// table. A stream is written as it comes, in memory for one batch.
//
// Every row fills the same columns: those of columns, or else of all rows of an
// array and of the first batch of a stream. A column that a row lacks is null. A
// text in a column for numbers is an error, whatever the text is, and so is
// everything else that the column would change; texts in other columns are read by
// the type of the column (dates, exact decimals, JSON). A failure names the row, its
// key and, where it is known, the column.
//
// With create a table that is not there is made, with key as its primary key: of
// BIGINT, DOUBLE PRECISION, NUMERIC (whole numbers beyond 2^53 beside decimals),
// BOOLEAN, JSONB and TEXT in PostgreSQL, for SQLite as the kind sink does.
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
