package parquet

import (
	"bufio"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A page is decompressed as a whole, so its header determines how much memory is
// needed. These limits are far beyond the size of usual pages, about a megabyte.
const (
	maxPageBytes  = 512 << 20
	maxPageValues = 32 << 20
)

// checkPages checks the headers of all pages of a column. The library trusts them, and
// a damaged or malicious header could make it allocate gigabytes. rows is the maximum
// number of values, -1 if it is not known.
func checkPages(r io.ReaderAt, from, size, rows int64) error {
	in := bufio.NewReaderSize(nil, 1<<10)
	var compact thrift.CompactProtocol
	for at := from; at < from+size; {
		section := io.NewSectionReader(r, at, from+size-at)
		in.Reset(section)
		var h format.PageHeader
		if err := thrift.NewDecoder(compact.NewReader(in)).Decode(&h); err != nil {
			return fmt.Errorf("the header of the page at byte %d: %w", at, err)
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		next := at + read - int64(in.Buffered()) + int64(h.CompressedPageSize)
		values := valuesOf(&h)
		switch {
		case h.CompressedPageSize < 0, next > from+size:
			return fmt.Errorf("the page at byte %d has %d bytes, which are not in the file: it is damaged", at, h.CompressedPageSize)
		case h.UncompressedPageSize < 0, h.UncompressedPageSize > maxPageBytes:
			return fmt.Errorf("the page at byte %d expands to %d bytes, more than the %d that are allowed", at, h.UncompressedPageSize, maxPageBytes)
		case values < 0, values > maxPageValues, rows >= 0 && values > rows && h.Type != format.DictionaryPage:
			return fmt.Errorf("the page at byte %d has %d values, more than the row group or than the %d that are allowed", at, values, maxPageValues)
		}
		at = next
	}
	return nil
}

func valuesOf(h *format.PageHeader) int64 {
	switch h.Type {
	case format.DataPage:
		return int64(h.DataPageHeader.V.NumValues)
	case format.DataPageV2:
		return max(int64(h.DataPageHeaderV2.V.NumValues), int64(h.DataPageHeaderV2.V.NumRows))
	case format.DictionaryPage:
		return int64(h.DictionaryPageHeader.V.NumValues)
	}
	return 0
}
