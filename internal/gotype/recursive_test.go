package gotype

import (
	"reflect"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

type (
	tree    []tree
	trees   [][]trees
	byName  map[string]byName
	pairs   [2]*pairs
	pointer *pointer
	lists   []*lists

	selfEmbedded struct {
		A             int
		*selfEmbedded //lint:ignore U1000 the type of the test
	}
	embedsA struct {
		*embedsB
		*embedsC
		X int
	}
	embedsB struct {
		*embedsA
		*embedsC
		Y int
	}
	embedsC struct {
		*embedsA
		*embedsB
		Z int
	}

	order struct {
		Lines []line
		From  address
		To    *address
	}
	line    struct{ Order *order }
	address struct{ Zip string }
)

// A type that contains itself without a struct in between used to exhaust the stack.
func TestTypesThatHoldThemselves(t *testing.T) {
	for _, c := range []struct {
		t    reflect.Type
		want string // with all members
	}{
		{reflect.TypeFor[tree](), "array"},
		{reflect.TypeFor[trees](), "array of array"},
		{reflect.TypeFor[byName](), "object"},
		{reflect.TypeFor[pairs](), "array"},
		{reflect.TypeFor[pointer](), "any"},
		{reflect.TypeFor[lists](), "array"},
		{reflect.TypeFor[selfEmbedded](), "{A integer}"},
		{reflect.TypeFor[embedsA](), "{Z any, Y any, X integer}"},
		{reflect.TypeFor[order](), "{Lines array of {Order any}, From {Zip string}, To {Zip string}}"},
	} {
		if got := whole(Of(c.t)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.t, got, c.want)
		}
		New(c.t) // must terminate, too
	}
}

// whole formats a type with all its members.
func whole(t *value.Type) string {
	switch {
	case t == nil:
		return "any"
	case t.Items != nil:
		return "array of " + whole(t.Items)
	case t.Properties == nil:
		return t.Kind.String()
	}
	s := ""
	for _, p := range t.Properties {
		s += ", " + p.Name + " " + whole(p.Type)
	}
	return "{" + s[2:] + "}"
}

// parts counts the types in a description, including repetitions.
func parts(t *value.Type) int {
	if t == nil {
		return 1
	}
	n := 1
	if t.Items != nil {
		n += parts(t.Items)
	}
	for _, p := range t.Properties {
		n += parts(p.Type)
	}
	return n
}

// Structs that refer to each other, such as generated models of databases, used to be
// described once for each path between them: ten of them took seconds and a gigabyte.
func TestManyTypesThatReferToEachOther(t *testing.T) {
	described := Of(reflect.TypeFor[g16]())
	if got := parts(described); got > maxParts {
		t.Errorf("the description has %d parts, want at most %d", got, maxParts)
	}
	if own, ok := described.Property("Own"); !ok || whole(own) != "{Zip string}" {
		t.Errorf("the member of its own is %s", whole(own))
	}
	if first, ok := described.Property("A"); !ok || first.Kind != value.ArrayType {
		t.Errorf("a member for which there is no room is %s", whole(first))
	}
	New(reflect.TypeFor[g16]())
	New(reflect.TypeFor[model0]())
	if got := parts(Of(reflect.TypeFor[model0]())); got > maxParts {
		t.Errorf("the description has %d parts, want at most %d", got, maxParts)
	}
}

// Each struct refers to the next one three times.
type (
	refers[T any] struct {
		A, B, C []T
		Own     address
	}
	g1  = refers[address]
	g2  = refers[g1]
	g3  = refers[g2]
	g4  = refers[g3]
	g5  = refers[g4]
	g6  = refers[g5]
	g7  = refers[g6]
	g8  = refers[g7]
	g9  = refers[g8]
	g10 = refers[g9]
	g11 = refers[g10]
	g12 = refers[g11]
	g13 = refers[g12]
	g14 = refers[g13]
	g15 = refers[g14]
	g16 = refers[g15]
)

// Twelve structs, each of which refers to all.
type (
	all struct {
		M0  *model0
		M1  []model1
		M2  *model2
		M3  []model3
		M4  *model4
		M5  []model5
		M6  *model6
		M7  []model7
		M8  *model8
		M9  []model9
		M10 *model10
		M11 []model11
	}
	model0 struct {
		Has0 all
		All0 *all
	}
	model1  struct{ Has1 *all }
	model2  struct{ Has2 []all }
	model3  struct{ Has3 *all }
	model4  struct{ Has4 map[string]all }
	model5  struct{ Has5 *all }
	model6  struct{ Has6 []*all }
	model7  struct{ Has7 *all }
	model8  struct{ Has8 *all }
	model9  struct{ Has9 *all }
	model10 struct{ Has10 *all }
	model11 struct{ Has11 *all }
)
