package benchmarks

import "sync"

// Row is a row of the measured pipelines: a number, a value and a string.
type Row struct {
	ID  int64
	V   float64
	Tag string
}

// RowOf returns row i.
func RowOf(i int) Row { return Row{ID: int64(i), V: float64(i & 1023), Tag: "t"} }

// Scale is the stage that changes a row: it doubles the value.
func Scale(r Row) Row { r.V *= 2; return r }

// Keep is the stage that drops rows: every eighth one.
func Keep(r Row) bool { return r.ID&7 != 0 }

// Add is the stage that sums the values.
func Add(sum float64, r Row) float64 { return sum + r.V }

// Rows runs the stages in a single loop.
func Rows(n int) float64 {
	sum := 0.0
	for i := range n {
		if r := Scale(RowOf(i)); Keep(r) {
			sum = Add(sum, r)
		}
	}
	return sum
}

// batchRows is the size of a batch, and ahead the number of batches that may wait between
// two stages.
const (
	batchRows = 256
	ahead     = 4
)

// RowsInBatches runs the stages as a program written only for them would: a goroutine for
// each stage, batches over channels, and a pool of buffers. It has no errors, no
// cancellation and no recover.
func RowsInBatches(n int) float64 {
	free := sync.Pool{New: func() any { b := make([]Row, 0, batchRows); return &b }}
	made := make(chan *[]Row, ahead)
	go func() {
		defer close(made)
		for i := 0; i < n; {
			b := free.Get().(*[]Row)
			*b = (*b)[:0]
			for ; len(*b) < batchRows && i < n; i++ {
				*b = append(*b, RowOf(i))
			}
			made <- b
		}
	}()
	scaled := batchStage(made, func(b []Row) []Row {
		for i := range b {
			b[i] = Scale(b[i])
		}
		return b
	})
	kept := batchStage(scaled, func(b []Row) []Row {
		out := b[:0]
		for _, r := range b {
			if Keep(r) {
				out = append(out, r)
			}
		}
		return out
	})
	sum := 0.0
	for b := range kept {
		for _, r := range *b {
			sum = Add(sum, r)
		}
		free.Put(b)
	}
	return sum
}

func batchStage(in <-chan *[]Row, work func([]Row) []Row) <-chan *[]Row {
	out := make(chan *[]Row, ahead)
	go func() {
		defer close(out)
		for b := range in {
			*b = work(*b)
			out <- b
		}
	}()
	return out
}
