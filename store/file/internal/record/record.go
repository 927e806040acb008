// Package record is the binary form of the records of a journal.
//
// A file begins with Magic. A record is, little endian:
//
//	length u32 | crc32c u32 | version u8 | type u8 | flags u16 | token u32 | seq u64 | payload
//
// Length is the length of the payload, and never 0: a length of 0 followed only by zeros is the end of a file
// that was allocated in advance. The checksum covers everything after itself.
package record

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/wavefold/wavefold/store"
)

// Magic is the beginning of each file of a journal. The digit is the version of the layout of records.
const Magic = "WAVEFOLD JRNL 1\n"

const (
	headerSize = 24
	sumStart   = 8 // the checksum covers the bytes from here on

	flagZstd   = 1
	knownFlags = flagZstd

	// compressFrom is the size from which payloads are compressed: below it a flush costs more
	// than the bytes that are saved.
	compressFrom = 4 << 10

	// maxPayload limits what a compressed payload may become. Larger values are blobs long before.
	maxPayload = 1 << 30
)

// castagnoli returns a table that crc32 makes when it is first needed.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Append appends the binary form of rec to dst. Version 0 means store.Format.
func Append(dst []byte, rec store.Record) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, headerSize)...)
	flags := uint16(0)
	if len(rec.Data) >= compressFrom {
		dst, flags = Compress(dst, rec.Data), flagZstd
	}
	if flags == 0 || len(dst)-start-headerSize >= len(rec.Data) {
		dst, flags = append(dst[:start+headerSize], rec.Data...), 0
	}
	h := dst[start:]
	binary.LittleEndian.PutUint32(h, uint32(len(h)-headerSize))
	h[8], h[9] = cmp.Or(rec.Version, store.Format), byte(rec.Type)
	binary.LittleEndian.PutUint16(h[10:], flags)
	binary.LittleEndian.PutUint32(h[12:], rec.Token)
	binary.LittleEndian.PutUint64(h[16:], rec.Seq)
	binary.LittleEndian.PutUint32(h[4:], crc32.Checksum(h[sumStart:], castagnoli()))
	return dst
}

// header is the part of a record before its payload.
type header struct {
	length uint32
	sum    uint32
	flags  uint16
	rec    store.Record
}

func parseHeader(h []byte) header {
	return header{
		length: binary.LittleEndian.Uint32(h),
		sum:    binary.LittleEndian.Uint32(h[4:]),
		flags:  binary.LittleEndian.Uint16(h[10:]),
		rec: store.Record{
			Version: h[8],
			Type:    store.Type(h[9]),
			Token:   binary.LittleEndian.Uint32(h[12:]),
			Seq:     binary.LittleEndian.Uint64(h[16:]),
		},
	}
}

// window is the window size of the compressor in bytes. The default of 4 MiB needs 7 MB more memory, which a
// process must first allocate, and does not make payloads smaller.
const window = 512 << 10

// Compress and Decompress share one encoder and decoder: both are safe for concurrent use.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(window))
	if err != nil {
		panic(err) // the options are constant
	}
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPayload))
	if err != nil {
		panic(err)
	}
	return d
})

// Compress appends the zstd form of data to dst.
func Compress(dst, data []byte) []byte { return encoder().EncodeAll(data, dst) }

// Decompress returns the data whose zstd form is given, up to a gigabyte.
func Decompress(data []byte) ([]byte, error) { return decoder().DecodeAll(data, nil) }
