package transform

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Default limits on what a step may hold back.
const (
	defaultHeld   = 10_000_000
	defaultMemory = 1 << 30
)

// limits limits the rows and the bytes that one step may hold back.
type limits struct{ rows, bytes int64 }

// budget counts the rows, groups or keys that one step holds back, and roughly the
// memory that they take. A string that several rows share counts for each of them.
type budget struct {
	limits
	noun       string // what is counted: row, group, key or partition
	held, size int64
}

// budget returns a budget with the limits of the node.
func (w *work) budget(noun string) budget { return budget{limits: w.handler.limits, noun: noun} }

// hold adds one item of this size. It returns an error if a limit is exceeded.
func (b *budget) hold(bytes int64) error {
	b.held++
	if b.held > b.rows {
		return core.Permanent(fmt.Errorf("more than %s (max_held)", table.Count(int(b.rows), b.noun)))
	}
	return b.grow(bytes)
}

// grow adds bytes to the memory of the items that are held. It returns an error if the
// limit is exceeded.
func (b *budget) grow(bytes int64) error {
	b.size += bytes
	if b.size > b.bytes {
		take := "take"
		if b.held == 1 {
			take = "takes"
		}
		return core.Permanent(fmt.Errorf("%s %s more than %s of memory (max_memory)", table.Count(int(b.held), b.noun), take, megabytes(b.bytes)))
	}
	return nil
}

// megabytes formats a number of bytes for a message.
func megabytes(n int64) string {
	if n < 1<<20 {
		return table.Count(int(n), "byte")
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// Approximate sizes in memory, in bytes.
const (
	valueSize = 16 // an interface; also the number or string header that it points to
	rowSize   = 80 // an object with shared keys, and its place in a list
)

// keySize returns the approximate memory of a key and its entry in the index.
func keySize(key []any) int64 {
	size := int64(rowSize + 2*valueSize*len(key))
	for _, v := range key {
		size += sizeOf(v)
	}
	return size
}

// sizeOf returns the approximate memory of a value, without the interface that holds
// it.
func sizeOf(v any) int64 {
	switch v := v.(type) {
	case string:
		return valueSize + int64(len(v))
	case []any:
		n := int64(valueSize)
		for _, e := range v {
			n += valueSize + sizeOf(e)
		}
		return n
	case *value.Object:
		n := int64(rowSize)
		for _, e := range v.All() {
			n += valueSize + sizeOf(e)
		}
		return n
	}
	return 0
}
