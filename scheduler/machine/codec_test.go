package machine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// An object of the user that looks like the mark of Missing used to come back as Missing.
func TestMissingIsToldFromAnObject(t *testing.T) {
	mark := value.ObjectOf("$missing", true)
	for _, v := range []any{value.Missing, nil, mark, value.ObjectOf("$value", mark), []any{mark}, int64(1 << 60), 1.0, value.ObjectOf("$value", int64(1), "x", nil)} {
		data, err := json.Marshal(anyJSON{v})
		if err != nil {
			t.Fatal(err)
		}
		var back anyJSON
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if value.TypeName(back.v) != value.TypeName(v) || value.JSON(back.v) != value.JSON(v) {
			t.Errorf("%s %s came back as %s %s", value.TypeName(v), value.JSON(v), value.TypeName(back.v), value.JSON(back.v))
		}
	}
}

// A command without an operation used to be decoded as the end of the run.
func TestUnknownOperation(t *testing.T) {
	for _, data := range []string{`{"id": {}}`, `{"op": "jump", "id": {}}`} {
		if c, err := DecodeCommand(onePlan(t), nil, []byte(data)); err == nil || !strings.Contains(err.Error(), "has the unknown operation") {
			t.Errorf("%s: got %+v, %v", data, c, err)
		}
	}
	for op := OpRun; op <= OpFinish; op++ {
		data, err := EncodeCommand(&Command{Op: op, ID: ID{Attempt: 1}, Delay: 7, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := DecodeCommand(onePlan(t), nil, data); err != nil || c.Op != op || c.ID.Attempt != 1 || c.Delay != 7 || !c.Keep {
			t.Errorf("%s came back as %+v, %v", data, c, err)
		}
	}
}
