package transform

import "math/bits"

// pane computes one window column for all partitions, which are numbered from 0.
type pane interface {
	// open begins the next partition and returns the memory that it takes, in bytes.
	open() int64
	// next takes the argument's value for the next row of a partition and returns the
	// value of the column.
	next(partition int, v any) (any, error)
}

// pane returns a pane that computes the column. It charges the values that it keeps to
// the budget.
func (w *windowed) pane(held *budget) pane {
	recent := rings{rows: w.rows, held: held}
	switch {
	case w.word == "row_number":
		return &rowNumbers{}
	case w.word == "lag":
		return &lags{recent}
	case w.word == "min" || w.word == "max":
		f := minimum
		if w.word == "max" {
			f = maximum
		}
		return &extremes{picks{f: f, held: held}, recent}
	}
	return &moving{rings: recent, mean: w.word == "mean"}
}

// rowNumbers counts the rows from 1.
type rowNumbers struct{ counts }

func (r *rowNumbers) next(partition int, _ any) (any, error) {
	r.list[partition]++
	return r.list[partition], nil
}

// rings keeps the last rows values of each partition, or none if rows is 0.
type rings struct {
	rows int
	list []ring
	held *budget
}

// ring is a ring buffer.
type ring struct {
	values []any
	next   int // index of the next write, which is the oldest value if the ring is full
}

func (r *rings) open() int64 {
	r.list = append(r.list, ring{})
	return 32
}

// push adds a value to a partition. If the ring was full, push returns the value that
// it replaced.
func (r *rings) push(partition int, v any) (old any, full bool, err error) {
	if r.rows == 0 {
		return nil, false, nil
	}
	x := &r.list[partition]
	if len(x.values) < r.rows {
		x.values = append(x.values, v)
		return nil, false, r.held.grow(valueSize + sizeOf(v))
	}
	old, x.values[x.next] = x.values[x.next], v
	x.next = (x.next + 1) % r.rows
	return old, true, r.held.grow(sizeOf(v) - sizeOf(old))
}

// lags computes lag: the value n rows before, or null if there is no such row.
type lags struct{ rings }

func (l *lags) next(partition int, v any) (any, error) {
	old, _, err := l.push(partition, v)
	return old, err
}

// extremes computes the smallest or largest value so far, or of the last rows.
type extremes struct {
	picks
	rings
}

func (e *extremes) open() int64 { return e.picks.open() + e.rings.open() }

func (e *extremes) next(partition int, v any) (any, error) {
	old, _, err := e.push(partition, v)
	if err != nil {
		return nil, err
	}
	if old != nil && compare(old, e.picks.list[partition]) == 0 { // the extreme may have been removed
		if err := e.reset(partition); err != nil {
			return nil, err
		}
		for _, v := range e.rings.list[partition].values {
			if err := e.add(partition, v); err != nil {
				return nil, err
			}
		}
	}
	if err := e.add(partition, v); err != nil {
		return nil, err
	}
	return e.picks.list[partition], nil
}

// moving computes the sum or mean of the numbers so far, or of the last rows. Integers
// that leave the window are subtracted. Floats are summed again, because subtracting
// one would not undo its rounding error.
type moving struct {
	rings
	mean   bool
	totals []total
}

func (m *moving) open() int64 {
	m.totals = append(m.totals, total{})
	return m.rings.open() + 48
}

func (m *moving) next(partition int, v any) (any, error) {
	if !isNumber(v) {
		return nil, notNumber(v)
	}
	old, _, err := m.push(partition, v)
	if err != nil {
		return nil, err
	}
	t := &m.totals[partition]
	switch n := old.(type) {
	case int64:
		t.integers.subtract(n)
		t.count--
	case float64:
		*t = total{}
		for _, v := range m.list[partition].values {
			if err := t.add(v); err != nil {
				return nil, err
			}
		}
		v = nil // it is already among the values
	}
	if err := t.add(v); err != nil {
		return nil, err
	}
	if m.mean {
		return t.mean()
	}
	return t.sum()
}

// isNumber reports whether a value is a number or null.
func isNumber(v any) bool {
	switch v.(type) {
	case nil, int64, float64:
		return true
	}
	return false
}

// subtract subtracts a number that was added before.
func (w *wide) subtract(n int64) {
	low, borrow := bits.Sub64(w.low, uint64(n), 0)
	w.low = low
	w.high -= n>>63 + int64(borrow)
}
