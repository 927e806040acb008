package plan

// group groups n values by key and keeps their order: the values of key k are
// flat[start[k]:start[k+1]].
func group(keys, n int, key, value func(i int) int32) (flat, start []int32) {
	start = make([]int32, keys+1)
	for i := range n {
		start[key(i)+1]++
	}
	for k := range keys {
		start[k+1] += start[k]
	}
	flat = make([]int32, n)
	next := append([]int32(nil), start[:keys]...)
	for i := range n {
		k := key(i)
		flat[next[k]] = value(i)
		next[k]++
	}
	return flat, start
}

// marks is a set of numbers that reset empties. The cost of reset does not depend on the size of
// the set.
type marks struct {
	at  []int32
	now int32
}

func (m *marks) reset(size int) {
	if len(m.at) < size {
		m.at = make([]int32, size)
		m.now = 0
	}
	m.now++
}

// first adds a number and reports whether it is new.
func (m *marks) first(i int32) bool {
	if m.at[i] == m.now {
		return false
	}
	m.at[i] = m.now
	return true
}

// arena keeps many small lists in few allocations.
type arena[T any] struct{ room []T }

// keep returns a copy of a list.
func (a *arena[T]) keep(list []T) []T {
	if len(list) == 0 {
		return nil
	}
	if cap(a.room)-len(a.room) < len(list) {
		a.room = make([]T, 0, max(len(list), min(4096, max(64, 2*cap(a.room)))))
	}
	from := len(a.room)
	a.room = append(a.room, list...)
	return a.room[from:len(a.room):len(a.room)]
}
