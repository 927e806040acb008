package chunk_test

import (
	"slices"
	"testing"

	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
)

func TestNext(t *testing.T) {
	for _, tt := range []struct {
		name                       string
		size, waiting, limit, want int
	}{
		{"nothing is known of the items", 1, 1000, 4, 1},
		{"the zero value", 0, 1000, 4, 1},
		{"quick items", 64, 1000, 4, 64},
		{"half of what each could get", 64, 100, 4, 12},
		{"few are left", 64, 5, 4, 1},
		{"one at a time", 64, 100, 1, 50},
		{"nothing waits", 64, 0, 4, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := chunk.Ranges{Size: tt.size}
			if got := r.Next(tt.waiting, tt.limit); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestAdapt(t *testing.T) {
	for _, tt := range []struct {
		name          string
		size, n, took int64
		growing       bool
		want          int
	}{
		{"quick", 1, 1, chunk.Quick - 1, true, 2},
		{"not quick", 8, 1, chunk.Quick, true, 1},
		{"quick on the average", 8, 8, 8*chunk.Quick - 1, true, 16},
		{"slow on the average", 8, 8, 8 * chunk.Quick, true, 1},
		{"cut short", 8, 3, 0, false, 1},
		{"as large as it gets", chunk.Max, chunk.Max, 0, true, chunk.Max},
		{"almost as large", chunk.Max - 1, chunk.Max, 0, true, chunk.Max},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := chunk.Ranges{Size: int(tt.size)}
			if r.Adapt(tt.n, tt.took, tt.growing); r.Size != tt.want {
				t.Errorf("the size is %d, want %d", r.Size, tt.want)
			}
		})
	}
}

// open returns ranges in flight with the given bounds.
func open(ends ...int32) *chunk.Ranges {
	r := &chunk.Ranges{Size: 8}
	for i := 0; i < len(ends); i += 2 {
		r.Add(chunk.Span{From: ends[i], To: ends[i+1]})
	}
	return r
}

func TestWithheld(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    *chunk.Ranges
		do   func(r *chunk.Ranges)
		want int
	}{
		{"nothing is in flight", open(), nil, -1},
		{"single items withhold nothing", open(0, 1, 1, 2), nil, -1},
		{"the wide one", open(0, 1, 1, 4), nil, 1},
		{"the first by item, not by time", open(4, 8, 0, 4), nil, 1},
		{"one at a time", open(0, 4, 4, 8), func(r *chunk.Ranges) { r.Ask(0) }, -1},
		{"the next one once the first has yielded", open(0, 4, 4, 8), func(r *chunk.Ranges) { r.Ask(0); r.Yield(0, 1) }, 1},
		{"none twice", open(0, 4), func(r *chunk.Ranges) { r.Ask(0); r.Yield(0, 2) }, -1},
		{"a range that yielded all but one item", open(0, 4), func(r *chunk.Ranges) { r.Yield(0, 1) }, -1},
		{"a range that yielded unasked and has more", open(0, 4), func(r *chunk.Ranges) { r.Yield(0, 2) }, 0},
		{"after the end of the asked one", open(0, 4, 4, 8), func(r *chunk.Ranges) { r.Ask(0); r.Ended(0, nil); r.Remove(0) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.do != nil {
				tt.do(tt.r)
			}
			if got := tt.r.Withheld(); got != tt.want {
				t.Errorf("got %d, want %d, of %v", got, tt.want, tt.r.Open())
			}
		})
	}
}

func TestYield(t *testing.T) {
	r := open(0, 8, 8, 16)
	if end := r.Yield(1, 10); end != 16 || r.Size != 1 {
		t.Errorf("the range ended at %d and the size is %d, want 16 and 1", end, r.Size)
	}
	if s := r.Open()[1]; s.From != 8 || s.To != 10 {
		t.Errorf("the range is %v, want 8 to 10", s)
	}
	r.Size = 4
	if end := r.Yield(0, 8); end != 8 || r.Size != 4 {
		t.Errorf("a range that yields nothing ends at %d, and the size is %d, want 8 and 4", end, r.Size)
	}
}

// A range that later ranges overtake is asked for its items once.
func TestPatience(t *testing.T) {
	r := open(0, 4, 4, 5)
	var asked []int32
	for end := int32(1); end <= 2*chunk.Patience; end++ {
		r.Ended(1, func(s chunk.Span) { asked = append(asked, s.From, end) })
		r.Remove(1)
		r.Add(chunk.Span{From: 4 + end, To: 5 + end})
	}
	if want := []int32{0, chunk.Patience}; !slices.Equal(asked, want) {
		t.Errorf("asked (range, after) %v, want %v", asked, want)
	}
	if at := r.Withheld(); at >= 0 {
		t.Errorf("range %d is asked again", at)
	}
}

// Single items have nothing to yield, regardless of how many ranges overtake them.
func TestPatienceWithSingleItems(t *testing.T) {
	r := open(0, 1, 1, 2)
	for range 3 * chunk.Patience {
		r.Ended(1, func(s chunk.Span) { t.Errorf("range %v is asked", s) })
	}
}

func TestFind(t *testing.T) {
	r := open(4, 8, 0, 4)
	for from, want := range map[int32]int{4: 0, 0: 1, 5: -1} {
		if got := r.Find(from); got != want {
			t.Errorf("the range from %d is at %d, want %d", from, got, want)
		}
	}
}
