package parquet

import "fmt"

// guarded calls the library. The library panics on some damaged files; guarded returns
// such a panic as an error about the file. column is the name of the column that is
// read, or "" if there is none.
func (r *Reader) guarded(column string, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the file is damaged: %v", p)
		}
		switch {
		case err == nil:
		case column != "":
			err = r.at(fmt.Errorf("row group %d, column %s, after row %d: %w", r.group, column, r.row, err))
		default:
			err = r.at(err)
		}
	}()
	return call()
}

// at adds the name of the file to an error.
func (r *Reader) at(err error) error { return fmt.Errorf("%s: %w", r.file.Name, err) }
