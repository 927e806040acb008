package value

import "testing"

// A float32 becomes the shortest number that it is, as in JSON.
func TestCanonicalFloat32(t *testing.T) {
	type small float32
	for _, v := range []any{float32(0.1), small(0.1), []float32{0.1}, map[string]float32{"a": 0.1}, struct{ A float32 }{0.1}} {
		c, err := Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := JSON(c); len(got) > len(`{"A":0.1}`) {
			t.Errorf("%T: got %s", v, got)
		}
	}
}
