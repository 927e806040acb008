package value

import "testing"

// A comparison with a value of a Go type once depended on the side it stood on:
// Equal("a", named("a")) was false and Equal(named("a"), "a") true.
func TestEqualLooksThroughGoTypesOnBothSides(t *testing.T) {
	type (
		text  string
		flag  bool
		count int
		point struct {
			X int `json:"x"`
		}
	)
	for _, c := range []struct {
		plain, typed any
		want         bool
	}{
		{"a", text("a"), true},
		{"a", text("b"), false},
		{"1", count(1), false},
		{true, flag(true), true},
		{true, flag(false), false},
		{nil, (*point)(nil), true},
		{nil, &point{}, false},
		{int64(2), count(2), true},
		{2.0, count(2), true},
		{[]any{int64(1)}, []int{1}, true},
		{ObjectOf("x", int64(1)), point{1}, true},
		{Missing, (*point)(nil), false},
	} {
		if Equal(c.plain, c.typed) != c.want || Equal(c.typed, c.plain) != c.want {
			t.Errorf("%v and %T %v: %t and %t, want %t", c.plain, c.typed, c.typed, Equal(c.plain, c.typed), Equal(c.typed, c.plain), c.want)
		}
	}
}

// What an embedded struct of an unexported type refers to was shared by a clone, though
// everybody can reach it.
func TestCloneOfEmbeddedStructs(t *testing.T) {
	type base struct{ Tags []string }
	type order struct {
		base
		ID int
	}
	v := order{base{[]string{"a"}}, 1}
	c := Clone([]order{v}).([]order)
	c[0].Tags[0] = "changed"
	if v.Tags[0] != "a" || c[0].ID != 1 {
		t.Errorf("the original is %v, the clone %v", v, c)
	}
}
