package transform

import "math/bits"

// pane computes one column of a window for all partitions, which it knows by their
// numbers from 0.
type pane interface {
	// open begins the next partition and returns what it takes in memory.
	open() int64
	// next takes the value of the next row of a partition and returns that of the
	// column.
	next(partition int, v any) (any, error)
}

// pane returns what computes the column; what it keeps of rows goes on the budget.
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

// rings keeps the last values of each partition, none when rows is 0.
type rings struct {
	rows int
	list []ring
	held *budget
}

// ring is a list that begins anew when it is full.
type ring struct {
	values []any
	next   int // the place of the next value, which is that of the oldest in a full one
}

func (r *rings) open() int64 {
	r.list = append(r.list, ring{})
	return 32
}

// push takes in a value, and returns the one that leaves a full ring for it.
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

// lags gives the value so many rows before, null where there is none.
type lags struct{ rings }

func (l *lags) next(partition int, v any) (any, error) {
	old, _, err := l.push(partition, v)
	return old, err
}

// extremes gives the least or greatest value until now or of the last rows.
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
	if old != nil && compare(old, e.picks.list[partition]) == 0 { // it may be another now
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

// moving gives the sum or mean of the numbers until now or of the last rows.
// Integers that leave are taken off the sum; floats are added up anew, because
// taking one off would leave what it had rounded away.
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
		v = nil // it is among them
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

// subtract takes a number off that was added.
func (w *wide) subtract(n int64) {
	low, borrow := bits.Sub64(w.low, uint64(n), 0)
	w.low = low
	w.high -= n>>63 + int64(borrow)
}
