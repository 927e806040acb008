package plan

import (
	"testing"
	"unsafe"
)

// The fields of a node that every visit reads are in one cache line of 64 bytes, and no node shares
// that line with the node before it.
func TestNodeFillsCacheLines(t *testing.T) {
	const line = 64
	var n Node
	if size := unsafe.Sizeof(n); size%line != 0 {
		t.Errorf("a node has %d bytes, want a multiple of %d", size, line)
	}
	if end := unsafe.Offsetof(n.Value) + unsafe.Sizeof(n.Value); end > line {
		t.Errorf("the fields that every visit reads end at byte %d, want at most %d", end, line)
	}
}
