package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/database"
)

// An array that is written and read again is unchanged.
func TestArraysReadBack(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab ,{}\"\\'NUL\n\tä")))
	var list *rapid.Generator[[]any]
	element := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 5).Draw(t, "element") {
		case 0:
			return nil
		case 1:
			return list.Draw(t, "inner")
		}
		return text.Draw(t, "text")
	})
	list = rapid.Custom(func(t *rapid.T) []any { return rapid.SliceOfN(element, 0, 4).Draw(t, "list") })
	same := func(b []byte) (any, error) { return string(b), nil }
	rapid.Check(t, func(t *rapid.T) {
		want := list.Draw(t, "array")
		written, err := appendArray(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseArray(string(written), same)
		if err != nil || !value.Equal(got, want) {
			t.Fatalf("%s reads back as %s, %v, want %s", written, value.JSON(got), err, value.JSON(want))
		}
	})
}

func FuzzParseArray(f *testing.F) {
	for _, s := range []string{`{1,2,NULL}`, `{{1},{2}}`, `{"a\"b","\\",""}`, `[0:1]={7,8}`, `{}`, `{a`, `"x"`, `{a,}`, `{a}b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := parseArray(s, func(b []byte) (any, error) { return string(b), nil })
		if _, ok := v.([]any); ok != (err == nil) {
			t.Fatalf("%q: %v, %v", s, v, err)
		}
	})
}

// COPY must read what was written. A simple reader of its format is the oracle.
func TestCopyReadsBack(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab\\N\n\r\t. ä")))
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(text, 1, 4).Draw(t, "row")
		var buf []byte
		for i, s := range want {
			if i > 0 {
				buf = append(buf, '\t')
			}
			var err error
			if buf, err = appendCopy(buf, s, plainForm); err != nil {
				t.Fatal(err)
			}
		}
		if strings.ContainsAny(string(buf), "\n\r") {
			t.Fatalf("%q: a line end in %q", want, buf)
		}
		cells := strings.Split(string(buf), "\t")
		unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t")
		for i, c := range cells {
			if c == `\N` {
				t.Fatalf("%q: a text became null", want)
			}
			cells[i] = unescape.Replace(c)
		}
		if !slices.Equal(cells, want) {
			t.Fatalf("%q reads back as %q", want, cells)
		}
	})
	for _, c := range []struct {
		v    any
		form form
		want string
	}{
		{nil, plainForm, `\N`}, {true, plainForm, "true"}, {int64(9007199254740993), plainForm, "9007199254740993"}, {2.0, plainForm, "2.0"}, {1e300, plainForm, "1e+300"},
		{[]any{int64(1), "a\tb"}, arrayForm, `{1,"a\tb"}`}, {[]any{int64(1), "a\\"}, jsonForm, `[1,"a\\\\"]`}, {value.ObjectOf("a", nil), plainForm, `{"a":null}`},
	} {
		got, err := appendCopy(nil, c.v, c.form)
		if string(got) != c.want || err != nil {
			t.Errorf("%v: %s, %v, want %s", c.v, got, err, c.want)
		}
	}
	if _, err := appendCopy(nil, "a\x00b", plainForm); err == nil {
		t.Error("a NUL byte is written")
	}
}

func TestPasswords(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://u:secret@h/d":                      "secret",
		"postgres://u:se%20cr%2Fet@h/d":                "se cr/et",
		"postgres://u:se@cret@h:x/d":                   "se@cret",
		"postgres://u:se%zzcret@h/d":                   "se%zzcret",
		"postgres://h/d?user=u&password=se%20cret":     "se cret",
		"postgres://h/d?user=u&password=secret&port=x": "secret",
		"host=h password=secret":                       "secret",
		"host=h password='se cret' port=x":             "se cret",
		"postgres://h/d":                               "",
		"host=h":                                       "",
		"":                                             "",
	} {
		got := slices.DeleteFunc(Passwords(dsn), func(p string) bool { return p == "" })
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", dsn, got, want)
		}
	}
}

func TestNumbersAndTimes(t *testing.T) {
	for in, want := range map[string]string{"1": "1", "1.0": "1.0", "-12.50": "-12.5", "9007199254740993": "9007199254740993", "0.1": "0.1",
		"NaN": "NaN is not a number", "-Infinity": "-Infinity is not a number", "18446744073709551616": "does not fit 64 bits"} {
		v, err := numeric([]byte(in))
		got := value.JSON(v)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"2024-01-31 10:20:30": "2024-01-31T10:20:30", "2024-01-31 10:20:30.5+00": "2024-01-31T10:20:30.5Z", "infinity": "infinity",
		"-infinity": "-infinity", "0044-03-15 00:00:00 BC": "0044-03-15 00:00:00 BC", "12024-01-31 10:20:30": "12024-01-31 10:20:30"} {
		if got := timestamp(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// Names with % and names that are already taken do not break the statements of an
// upsert.
func TestMergeNames(t *testing.T) {
	m := newMerge(&database.Table{Name: "t%d", Key: []string{"k%s"}, Mode: database.Upsert}, []string{"k%s", "wavefold_row", "wavefold_row_"})
	if m.number != "wavefold_row__" {
		t.Errorf("number %s", m.number)
	}
	if got := fmt.Sprintf(m.insert, 7); strings.Contains(got, "%!") || !strings.Contains(got, `"t%d"`) || !strings.Contains(got, `("k%s")`) {
		t.Errorf("statement %s", got)
	}
}
