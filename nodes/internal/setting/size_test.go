package setting

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

func TestBytes(t *testing.T) {
	tests := []struct {
		in   any
		want Bytes // 0 means that the size is rejected
	}{
		{int64(4096), 4096}, {"4096", 4096}, {"10MB", 10 << 20}, {"2 kb", 2048}, {"1GB", 1 << 30}, {"7B", 7},
		{int64(0), 0}, {int64(-1), 0}, {"", 0}, {"MB", 0}, {"1.5MB", 0}, {"10TB", 0}, {"9GB", 0}, {true, 0}, {1.5, 0}, {nil, 0},
	}
	for _, tt := range tests {
		var got Bytes
		ds := got.DecodeValue(source.Tree(tt.in, source.Position{}))
		if got != tt.want || ds.Failed(false) != (tt.want == 0) {
			t.Errorf("%v: got %d, %v, want %d", tt.in, got, ds, tt.want)
		}
	}
}
