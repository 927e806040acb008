package core

import "strconv"

// Ordinal is an optional index from 0. The zero Ordinal means "none". In JSON it is the
// plain index; use the omitzero option to leave it out.
type Ordinal int32

// Nth returns the ordinal of index i.
func Nth(i int) Ordinal { return Ordinal(i + 1) }

// Get returns the index, and whether there is one.
func (o Ordinal) Get() (int, bool) { return int(o) - 1, o > 0 }

// MarshalJSON writes the index.
func (o Ordinal) MarshalJSON() ([]byte, error) {
	if o <= 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(o)-1, 10), nil
}

// UnmarshalJSON reads the index; null means "none".
func (o *Ordinal) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*o = 0
		return nil
	}
	i, err := strconv.ParseInt(string(b), 10, 31)
	if err != nil {
		return err
	}
	*o = Ordinal(i + 1)
	return nil
}
