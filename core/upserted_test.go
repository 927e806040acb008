package core

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What a map of keys has depends neither on their order nor on the maps they came from.
func TestKeyMapHasAShareThatDependsOnTheKeysAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, 3*maxKeys)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	sorted := func(m *KeyMap[struct{}]) []uint64 {
		var out []uint64
		for h := range m.All() {
			out = append(out, h)
		}
		slices.Sort(out)
		return out
	}
	var forward, parts KeyMap[struct{}]
	for _, k := range keys {
		forward.Set(k, struct{}{})
	}
	var pieces [3]KeyMap[struct{}]
	for i, k := range slices.Backward(keys) {
		pieces[i%3].Set(k, struct{}{})
	}
	for i := range pieces {
		for k := range pieces[i].All() {
			parts.Set(k, struct{}{})
		}
	}
	if forward.Share() != 4 || forward.Len() > maxKeys || forward.Len() < maxKeys/2 {
		t.Errorf("one of %d keys, %d of them", forward.Share(), forward.Len())
	}
	if forward.Share() != parts.Share() || !slices.Equal(sorted(&forward), sorted(&parts)) {
		t.Errorf("one of %d keys, by way of other maps one of %d", forward.Share(), parts.Share())
	}
}
