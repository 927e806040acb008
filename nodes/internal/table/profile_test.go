package table

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

func TestProfile(t *testing.T) {
	rows := func(text string) []any {
		v, err := value.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v.([]any)
	}
	p := NewProfile(Types{{Name: "d", Kind: value.NumberType}})
	p.Add(rows(`[{"a":null,"b":"x","n":1},{"a":7,"b":null,"n":1.5},{"a":8,"b":true}]`))
	p.Add(rows(`[{"a":9,"e":null,"d":1,"l":[1]},{"l":[2],"o":{"x":1}}]`))
	p.Add(rows(`[{"b":"` + strings.Repeat("é", 100) + `"}]`))
	const want = `[{"column":"a","type":"integer","nulls":3,"example":7},{"column":"b","type":"any","nulls":3,"example":"x"},{"column":"n","type":"number","nulls":4,"example":1},` +
		`{"column":"e","type":"null","nulls":6,"example":null},{"column":"d","type":"number","declared":true,"nulls":5,"example":1},` +
		`{"column":"l","type":"array","nulls":4,"example":"[1]"},{"column":"o","type":"object","nulls":5,"example":"{\"x\":1}"}]`
	if got := value.JSON(p.Schema()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	long := NewProfile(nil)
	long.Add(rows(`[{"b":"` + strings.Repeat("é", 100) + `"}]`))
	if got := long.Columns()[0].Example; got != strings.Repeat("é", 30)+"..." {
		t.Errorf("a long example is %q", got)
	}
	p = NewProfile(Types{{Name: "d", Kind: value.NumberType}})
	p.Expect(Types{{Name: "d", Kind: value.NumberType}, {Name: "t", Kind: value.StringType}})
	p.Add(rows(`[{"t":null,"d":null}]`))
	if got := value.JSON(p.Schema()); got != `[{"column":"d","type":"number","declared":true,"nulls":1,"example":null},{"column":"t","type":"string","nulls":1,"example":null}]` {
		t.Errorf("of a header and nulls: %s", got)
	}
	if got := value.JSON(NewProfile(nil).Schema()); got != "[]" {
		t.Errorf("of nothing: %s", got)
	}
}
