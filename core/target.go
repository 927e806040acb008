package core

// Target is a file, or a table of a database, that a node reads or writes under a
// name that its document spells out.
type Target struct {
	// Name is what the document calls the file; "" for a database that is no file.
	Name Text
	// Key is the same for all names of one file or database. It is not shown: the
	// address of a database may hold a password.
	Key string
	// Pattern makes Key a pattern of path.Match, which means any number of files.
	Pattern bool
	// Table is a table of a database, "" for a whole file.
	Table string
	// Adds tells that a write leaves what others wrote, so that several nodes may
	// write in any order.
	Adds bool
}

// String is how messages call it.
func (t Target) String() string {
	switch {
	case t.Table == "":
		return t.Name.Value
	case t.Name.Value == "":
		return "table " + t.Table
	}
	return "table " + t.Table + " of " + t.Name.Value
}
