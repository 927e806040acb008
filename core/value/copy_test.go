package value

import "testing"

// BenchmarkClone measures copies of values of Go types, whose copiers are built for each.
func BenchmarkClone(b *testing.B) {
	type line struct {
		ID     int64
		Name   string
		Amount float64
	}
	type order struct {
		line
		Tags  []string
		Meta  map[string]int
		Lines []line
		Next  *order
	}
	o := order{Tags: []string{"a", "b"}, Meta: map[string]int{"x": 1}, Lines: make([]line, 3)}
	many := make([]order, 100)
	for i := range many {
		many[i] = o
	}
	for _, tt := range []struct {
		name  string
		value any
	}{
		{"flat", line{}}, {"strings", []string{"a", "b"}}, {"map", map[string]string{"a": "b"}}, {"struct", o}, {"pointer", &o}, {"structs", many}, {"anys", []any{"a", int64(1), o}},
	} {
		b.Run("value="+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Clone(tt.value)
			}
		})
	}
}
