package parquet

import "fmt"

// guarded calls the library. It panics on some files that are not what they
// should be; that is an error of the file, and must not be one of the program.
// column says which column is read, "" for none.
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

// at puts the file's name in front of an error.
func (r *Reader) at(err error) error { return fmt.Errorf("%s: %w", r.file.Name, err) }
