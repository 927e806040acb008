package transform

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Defaults of what a step may hold back.
const (
	defaultHeld   = 10_000_000
	defaultMemory = 1 << 30
)

// limits bounds what one step may hold back.
type limits struct{ rows, bytes int64 }

// budget keeps account of what one step holds back. The bytes are what the rows or
// keys take in memory, roughly: texts that rows share count for each of them.
type budget struct {
	limits
	noun       string // of what is held: row, group, key
	held, size int64
}

// budget returns that of a step.
func (w *work) budget(noun string) budget { return budget{limits: w.handler.limits, noun: noun} }

// hold takes account of one more thing of so many bytes.
func (b *budget) hold(bytes int64) error {
	b.held++
	if b.held > b.rows {
		return core.Permanent(fmt.Errorf("more than %s (max_held)", table.Count(int(b.rows), b.noun)))
	}
	return b.grow(bytes)
}

// grow takes account of so many bytes more of what is held.
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

// megabytes writes a number of bytes for people.
func megabytes(n int64) string {
	if n < 1<<20 {
		return table.Count(int(n), "byte")
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// Sizes in memory.
const (
	valueSize = 16 // of an interface, and of a number or text behind it
	rowSize   = 80 // of an object with shared keys, and its place in a list
)

// keySize is about what a key takes, with its place in the index.
func keySize(key []any) int64 {
	size := int64(rowSize + 2*valueSize*len(key))
	for _, v := range key {
		size += sizeOf(v)
	}
	return size
}

// sizeOf is what a value takes beside its place in a row.
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
