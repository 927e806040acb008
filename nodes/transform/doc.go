// Package transform implements the node kind "transform", which turns a table, an array
// of objects, into another one, step by step and without code.
//
// # Fields
//
//	from          by reads   the table: a field, or an expression such as
//	                         $.report.rows or $item
//	into          by writes  the field for the result
//	steps                    what is done, one step after the other
//
// A single step may be on the node itself instead:
//
//	filter        condition         keep the rows for which it holds
//	map           {name: expr}      new rows of exactly these columns
//	derive        {name: expr}      add or replace columns
//	select        [columns]         keep these columns, in this order
//	drop          [columns]         drop these columns
//	rename        {old: new}        rename columns
//	group         {by, aggregate}   one row for each group
//	window        {by, columns}     add columns over the rows before
//	sort          [column, -other]  order; with a minus in descending order
//	limit         n                 keep the first rows
//	dedupe        [columns]         keep the first of equal rows; [] for all columns
//	checks        [{name, expr}]    remove bad rows
//	on_bad_row    fail              next to checks: fail, skip or collect
//	rejects                         next to checks: a file, or a field
//	max_failures                    next to checks: how many are tolerated
//	report                          next to checks: a file for the quality report
//	allow_empty   false             with checks: all rows may be bad
//
// These keys apply to the whole node:
//
//	stream        false      make a stream, which one other node reads
//	max_held      10000000   limit of the rows, groups or keys that a step holds back
//	max_memory    1GB        approximate limit of the memory that a step takes for them
//
// Under steps there is also join, {with, on, kind, match, take, prefix}; on the node,
// the key join has its usual meaning: how the node waits for its predecessors. An
// object in place of the table is a table of one row. If the field of the result is
// declared as an object, the result must have exactly one row, which becomes the value
// of the field.
//
// # Expressions
//
// Expressions see the row as $item, its index from 0 as $index, the state as $.field
// and the inputs as $input.name. A column whose name is not an identifier is written
// $item['Cost Total $']. A condition holds under the same rules as in when. In map and
// derive every expression sees the input row of the step, and a missing value becomes
// null; so derive: {x: "coalesce($item.x, null)"} makes sure that the column x exists.
//
// # Columns
//
// After map, select and group, and wherever the state schema declares them, columns are
// known when the workflow is loaded. A column that cannot exist, or that has the wrong
// type for the step, is then an error. Otherwise a step that names a column, or reads
// it in an expression, fails the node if no input row of the step has the column:
// before the first row of a stream whose columns are known, else at the end of the
// step. A read within coalesce($item.x, ...) does not count, and a declared column that
// required does not list may be absent. If only some rows have a column, it is null in
// the others.
//
// # Streams
//
// The table may be a stream, and with stream: true the result is one. Steps that work
// row by row are then done while rows are pulled, with only a few rows in memory. The
// rows and their order are the same as for an array.
//
// Some steps hold data back. group holds a row for each group and what its aggregates
// need: all values for list, the percentiles and count_distinct. sort holds all rows,
// or only the first ones if a limit directly follows. dedupe holds the keys of the rows
// that it passed on, window the last values of each partition. A step that holds more
// than max_held of them, or more than about max_memory bytes, fails the node, for
// arrays as well as for streams. A string that several rows share counts for each of
// them. The other table of a join is always an array.
//
// A limit ends the reading of the table, unless checks precede it: checks evaluate all
// rows. The rejects of a node that makes a stream go to a file.
//
// # group
//
// by lists columns. Without it all rows are one group, which exists even if there are
// no rows. Groups are in the order of their first rows; 1 and 1.0 are equal, and null
// is a value. Aggregates take a column or an expression, such as sum(delay) or
// sum($item.price * $item.amount):
//
//	count            rows; count(x) counts rows where x is not null
//	count_if(cond)   rows for which the condition holds
//	count_distinct   distinct values
//	sum, mean        of numbers; a sum of integers is exact, and an error beyond
//	                 64 bits; a mean is a float
//	min, max         in the order below
//	median, p0–p100  by nearest rank, so always one of the values
//	first, last      of the group's first and last row
//	list             all values, including null
//
// Functions other than count, first, last and list ignore nulls. If there is no value,
// a sum is 0 and the other results are null.
//
// # window
//
// window adds columns that depend on preceding rows, in the order of the table (put
// sort before it if the order matters) and within the partition: the rows that are
// equal in the columns of by, or all rows without by. Every function sees the input row
// of the step.
//
//	row_number       1, 2, 3 ...
//	lag(x), lag(x,n) the value in the row before, or n rows before; null if there
//	                 is none
//	sum(x), mean(x)  of all numbers so far, including this row
//	min(x), max(x)   the smallest and largest value so far
//	sum(x, n) ...    of the last n rows, including this one; n is at most 100000
//
// Nulls are ignored as in group, and sums of integers are exact.
//
// # join
//
//	with     required  the field of the other table
//	on       required  the columns that must be equal: a name, a list, {left: right}
//	kind     inner     inner drops rows without a match, left keeps them
//	match    all       of several matches all or the first are taken; with one,
//	                   two rows of the other table with the same key fail the node
//	take     all       the columns of the other table: a list, or {column: name};
//	                   by default all that are not in on
//	prefix             put before their names
//	max_rows 10000000  limit of the rows that it adds
//
// A row with several matches appears once for each, in the other table's order. null
// matches nothing. If both tables have many rows with the same key, the result is far
// larger than the tables: the join of 20,000 rows with 20,000 equal ones has 400
// million. A join that adds more than max_rows, beyond one for each input row, fails
// the node. Rows of 32 columns count twice, of 64 three times, and so on.
//
// # Order
//
// sort is stable. Values of different types are ordered null, false, true, numbers,
// strings (by code point), arrays (element by element), objects. Integers and floats
// are compared exactly.
//
// # Checks
//
// checks, on_bad_row, rejects, max_failures and report have the same meaning as for a
// dataset. If all rows are bad, the node fails, unless allow_empty is true or the table
// is the item of a pipeline or fan-out, or a part of it. A rejected row is an object of
// row (its number from 1 in the input of the step), check, reason and data. A node that
// rejected rows ends partial_success.
//
// # Result
//
// The node sends {rows, from} along its edges, where from is the number of input rows;
// if a limit cut a stream short, only the rows that were read count. With checks it
// also sends rejected and warnings. Rows that no step changes are shared, not copied. A
// node that makes a stream sends {source}; the state shows {source, rows, from} once it
// has been read.
//
// # Example
//
//	name: delays
//	state:
//	  schema:
//	    flights: {type: array}
//	    delays: {type: array}
//	graph:
//	  nodes:
//	    - id: worst
//	      kind: transform
//	      reads: [flights]
//	      writes: [delays]
//	      steps:
//	        - filter: $item.distance > 500
//	        - group:
//	            by: [origin]
//	            aggregate: {flights: count, mean_delay: mean(delay), worst: max(delay)}
//	        - sort: [-mean_delay]
//	        - limit: 10
package transform
