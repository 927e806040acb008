package table

// RowPlace is the position of a row in its source.
type RowPlace struct {
	Row  int64  // the number of the row in the table, from 1
	Line int64  // the line of the file on which the row begins, or 0 if there is none
	File string // the file of the row if the table consists of several, otherwise ""
}

// BadRow is a row that was not accepted, with the reason.
type BadRow struct {
	RowPlace
	Check  string // the check that failed, "" if the row could not be read
	Reason string
	Data   any // the row, or the part of it that could be read
	// Raw holds the bytes of the row in its file, without the line end. It is nil if
	// they are not known.
	Raw []byte
}

// Batch is a sequence of rows of a table.
type Batch struct {
	Rows []any
	// Place returns the place of Rows[i]. If it is nil, rows are numbered
	// consecutively.
	Place func(i int) RowPlace
	// Raw returns the bytes of Rows[i] in its file. It is nil if they are not kept.
	Raw func(i int) []byte
	// Bad holds the rows that could not be read. Their numbers say where they are among
	// Rows.
	Bad []BadRow
}
