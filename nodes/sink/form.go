package sink

import (
	"fmt"
	"path"
	"strings"

	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Formats in addition to the formats of rows.
const (
	sqliteFormat  table.Format = "sqlite"
	parquetFormat table.Format = "parquet"
)

// form says how a file is written.
type form struct {
	format table.Format
	// compression is a value of the key compression; "" means the default of parquet, and
	// no compression for other formats.
	compression string
}

// formOf returns the form according to the document and the file's name. Its format is ""
// if neither says it.
func formOf(format, compression, name string) (form, error) {
	inner, gzipped := table.Gzipped(name)
	f := form{table.Format(format), compression}
	if format == "markdown" {
		f.format = table.Text
	}
	if f.format == "" {
		f.format = formatOf(inner)
	}
	switch f.format {
	case sqliteFormat:
		return f, nil
	case parquetFormat:
		if gzipped {
			return f, fmt.Errorf("%q: a parquet file is compressed inside; leave .gz out of its name", name)
		}
		return f, nil
	}
	if f.compression == "" && gzipped {
		f.compression = "gzip"
	}
	if f.compression == "none" {
		f.compression = ""
	}
	return f, nil
}

// formatOf returns the format that a file name ends in, or "" if there is none.
func formatOf(name string) table.Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".db", ".sqlite", ".sqlite3":
		return sqliteFormat
	case ".parquet":
		return parquetFormat
	}
	return table.FormatOf(name)
}
