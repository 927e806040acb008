package value

import "testing"

func TestPaths(t *testing.T) {
	v := ObjectOf("a", ObjectOf("b c", []any{int64(1), ObjectOf("d", "x")}), "e", nil)
	for path, want := range map[string]string{
		``:                 `"new"`,
		`.e`:               `{"a":{"b c":[1,{"d":"x"}]},"e":"new"}`,
		`.f`:               `{"a":{"b c":[1,{"d":"x"}]},"e":null,"f":"new"}`,
		`.a["b c"][0]`:     `{"a":{"b c":["new",{"d":"x"}]},"e":null}`,
		`.a["b c"][1].d`:   `{"a":{"b c":[1,{"d":"new"}]},"e":null}`,
		`.a["b c"][2]`:     "[2] is not in an array of 2",
		`.a["b c"].d`:      "d is not in an array of 2",
		`.f.g`:             "f is not in an object with a, e",
		`.e.g`:             "g is not in null",
		`[0]`:              "[0] is not in an object with a, e",
		`.a["b c"][1].d.e`: "e is not in string",
	} {
		steps, ok := ParsePath(path)
		if !ok {
			t.Errorf("%s is not a path", path)
			continue
		}
		got, text := "", ""
		for _, s := range steps {
			text += s.String()
		}
		if changed, err := With(v, steps, "new"); err != nil {
			got = err.Error()
		} else {
			got = JSON(changed)
		}
		if got != want || text != path {
			t.Errorf("%s (%s): %s, want %s", path, text, got, want)
		}
	}
	if got := JSON(v); got != `{"a":{"b c":[1,{"d":"x"}]},"e":null}` {
		t.Errorf("the value was changed: %s", got)
	}
	for _, path := range []string{"a", ".", "..a", "[", "[x]", "[-1]", `["a"`, "[1]b"} {
		if _, ok := ParsePath(path); ok {
			t.Errorf("%s is a path", path)
		}
	}
}
