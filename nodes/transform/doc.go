// Package transform is the node kind "transform": it turns a table, which is an
// array of objects, into another one, step by step and without code.
//
// # Fields
//
//	from          by reads   the table: a field, or an expression such as
//	                         $.report.rows or $item
//	into          by writes  the field for the result
//	steps                    what is done, one step after the other
//
// A single step may stand on the node itself instead:
//
//	filter        condition         keep the rows for which it holds
//	map           {name: expr}      new rows of exactly these columns
//	derive        {name: expr}      add or replace columns
//	select        [columns]         keep these columns, in this order
//	drop          [columns]         leave these columns out
//	rename        {old: new}        rename columns
//	group         {by, aggregate}   one row for each group
//	window        {by, columns}     add columns over the rows before
//	sort          [column, -other]  order; with a minus from high to low
//	limit         n                 keep the first rows
//	dedupe        [columns]         keep the first of equal rows; [] for all columns
//	checks        [{name, expr}]    take bad rows out
//	on_bad_row    fail              beside checks: fail, skip or collect
//	rejects                         beside checks: a file, or a field
//	max_failures                    beside checks: how many are tolerated
//	report                          beside checks: a file for the quality report
//	allow_empty   false             with checks: all rows may be bad
//
// What goes for the node as a whole:
//
//	stream        false      make a stream, which one other node pulls
//	max_held      10000000   how many rows, groups or keys a step may hold back
//	max_memory    1GB        about how much memory a step may take for them
//
// Under steps there is also join, {with, on, kind, match, take, prefix}; on the node
// that key says how it waits for its predecessors. An object in place of the table
// is a table of one row, and a field that is declared as an object takes the row of
// a result that has exactly one.
//
// # Expressions
//
// Expressions see the row as $item, its place from 0 as $index, the state as
// $.field and the inputs as $input.name; a column with an odd name is
// $item['Cost Total $']. A condition holds as in when. In map and derive every
// expression sees the row as it came into the step, and a missing value becomes
// null; so derive: {x: "coalesce($item.x, null)"} makes sure that a column is there.
//
// # Columns
//
// After map, select and group, and wherever the state schema tells, columns are
// known when the workflow is loaded: a column that cannot be there, or has the
// wrong type for what is done to it, is an error then. Otherwise a step that names
// a column, or reads it in an expression, fails the node if none of the rows that came
// in has it: before the first row of a stream whose columns are known, else at the end
// of the step. coalesce($item.x, ...) is no such reading, and a declared column that
// required does not list may be absent. A column of some rows is null in others.
//
// # Streams
//
// The table may be a stream, and with stream: true the result is one: what can be
// done row by row is done while rows are pulled, in memory for a few of them. The
// rows and their order are the same as for an array.
//
// group, sort and dedupe hold back what they have to: group a row for each
// group and what its aggregates need (list, the percentiles and count_distinct
// all values), sort all rows, or just the first ones when a limit comes directly
// behind it, dedupe the keys of the rows it let through, window the last values of
// each partition. More than max_held of
// them in one step, or about max_memory bytes, fail the node, whatever the table
// is; texts that rows share count for each of them. The other table of a join
// is always an array.
//
// A limit stops the reading, unless checks stand in front of it: these judge all
// rows. The rejects of a node that makes a stream go to a file.
//
// # group
//
// by lists columns; without it all rows are one group, which is there without
// rows too. Groups come in the order of their first rows; 1 and 1.0 are equal,
// null is a value. Aggregates take a column or an expression, such as
// sum(delay) or sum($item.price * $item.amount):
//
//	count            rows; count(x) counts those where x is not null
//	count_if(cond)   rows for which the condition holds
//	count_distinct   different values
//	sum, mean        of numbers; a sum of integers is exact, and an error beyond
//	                 64 bits; a mean is a float
//	min, max         by the order below
//	median, p0–p100  by nearest rank, so always one of the values
//	first, last      of the group's first and last row
//	list             all values, null too
//
// Except for count, first, last and list, nulls are passed over; without any
// value a sum is 0 and the others are null.
//
// # window
//
// columns are added that depend on the rows before, in the table's order (sort
// comes first where it matters) and within the partition: the rows that are equal
// in the columns of by, all rows without it. Every function sees the row as it
// came into the step.
//
//	row_number       1, 2, 3 ...
//	lag(x), lag(x,n) the value in the row before, or n rows before; null if there
//	                 is none
//	sum(x), mean(x)  of all numbers until now, this row included
//	min(x), max(x)   the least and greatest value until now
//	sum(x, n) ...    of the last n rows, this one included; n is at most 100000
//
// Nulls are passed over as in group, and sums of integers are exact.
//
// # join
//
//	with     required  the field of the other table
//	on       required  the columns that must be equal: a name, a list, {left: right}
//	kind     inner     inner drops rows without a match, left keeps them
//	match    all       of several matches all or the first are taken; with one,
//	                   two rows of the other table with the same key fail the node
//	take     all       the columns of the other table: a list, or {column: name};
//	                   by default those not in on
//	prefix             put before their names
//	max_rows 10000000  how many rows it may add
//
// A row with several matches comes once for each, in the other table's order.
// null matches nothing. Where the same values stand often on both sides, the
// result is far larger than the tables: the join of 20,000 rows with 20,000 equal
// ones has 400 million. A join that adds more than max_rows, beyond one for each
// row that came in, fails the node. Rows of 32 columns count twice, of 64 three
// times, and so on.
//
// # Order
//
// sort is stable. Values of different types are ordered null, false, true,
// numbers, texts (by code point), arrays (element by element), objects. Integers
// and floats are compared exactly.
//
// # Checks
//
// checks, on_bad_row, rejects, max_failures and report mean what they mean for a dataset.
// Rows that are all bad fail the node, unless allow_empty is true or the table is the item
// of a pipeline or fan-out, or a part of it. A rejected row is an object of row (its number from 1 in the table that came
// into the step), check, reason and data. A node that rejected rows ends
// partial_success.
//
// # Result
//
// The node sends {rows, from} along its edges, where from is the number of rows
// that came in (of a stream that a limit cut short, those until then); with checks
// also rejected and warnings. Rows that no step changes are shared, not copied.
// A node that makes a stream sends {source}; the state shows {source, rows, from}
// once it has been read.
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
