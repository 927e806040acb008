package machine

import (
	"encoding/json"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// TestMissingIsToldFromAnObject: an object of the user's that looks like the
// mark of Missing came back as Missing.
func TestMissingIsToldFromAnObject(t *testing.T) {
	mark := core.ObjectOf("$missing", true)
	for _, v := range []any{core.Missing, nil, mark, core.ObjectOf("$value", mark), []any{mark}, int64(1 << 60), 1.0, core.ObjectOf("$value", int64(1), "x", nil)} {
		data, err := json.Marshal(anyJSON{v})
		if err != nil {
			t.Fatal(err)
		}
		var back anyJSON
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if core.TypeName(back.v) != core.TypeName(v) || core.JSON(back.v) != core.JSON(v) {
			t.Errorf("%s %s came back as %s %s", core.TypeName(v), core.JSON(v), core.TypeName(back.v), core.JSON(back.v))
		}
	}
}
