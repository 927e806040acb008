package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseJSON(t *testing.T) {
	for _, tt := range []struct{ in, want string }{ // want is the JSON again, or what the error says
		{`null`, `null`}, {` true `, `true`}, {"\t\r\nfalse\n", `false`}, {`""`, `""`}, {`[]`, `[]`}, {`{}`, `{}`}, {` [ ] `, `[]`}, {` { } `, `{}`},
		{`0`, `0`}, {`-0`, `0`}, {`-7`, `-7`}, {`1.0`, `1.0`}, {`-0.0`, `-0.0`}, {`1e2`, `100.0`}, {`1E+2`, `100.0`}, {`25e-1`, `2.5`},
		{`9007199254740993`, `9007199254740993`}, {`999999999999999999`, `999999999999999999`}, {`1234567890123456789`, `1234567890123456789`},
		{`9223372036854775807`, `9223372036854775807`}, {`-9223372036854775808`, `-9223372036854775808`},
		{`9223372036854775808`, `number 9223372036854775808 does not fit 64 bits`}, {`-9223372036854775809`, `does not fit 64 bits`},
		{`123456789012345678901234567890`, `does not fit 64 bits`}, {`1e400`, `number 1e400 is out of range`}, {`1e-400`, `0.0`},
		{`"a\"\\\/\b\f\n\r\tz"`, `"a\"\\/\b\f\n\r\tz"`}, {`"\u0041\u00e9\u20AC"`, `"Aé€"`}, {`"\ud83d\ude00"`, `"😀"`}, {`"😀 é"`, `"😀 é"`},
		{`"\ud83d"`, `"�"`}, {`"\ud83dx"`, `"�x"`}, {`"\ude00\ud83d"`, `"��"`}, {`"\ud83d\u0041"`, `"�A"`}, {"\"\xff\xe2\x28\"", `"��("`},
		{`{"b":1,"a":[{"c":{}},[2,[]]],"":null}`, `{"b":1,"a":[{"c":{}},[2,[]]],"":null}`},
		{`[{"a":1,"b":2},{"a":3,"b":4},{"b":5,"a":6},{"a":7},{"a":8,"b":9,"c":10},{"a":11,"b":12}]`, `[{"a":1,"b":2},{"a":3,"b":4},{"b":5,"a":6},{"a":7},{"a":8,"b":9,"c":10},{"a":11,"b":12}]`},
		{`[{"a":1},{"\u0061":2}]`, `[{"a":1},{"a":2}]`},

		{``, `the JSON ends too early, want a value`}, {` `, `ends too early, want a value`}, {`[`, `ends too early, want a value`},
		{`[1`, `ends too early, want "," or "]"`}, {`[1,`, `ends too early, want a value`}, {`{`, `ends too early, want a key in double quotes`}, {`{"a"`, `ends too early, want ":"`}, {`{"a":`, `ends too early, want a value`},
		{`{"a":1`, `ends too early, want "," or "}"`}, {`{"a":1,`, `ends too early, want a key`}, {`"abc`, `ends too early, want '"'`}, {`"é`, `ends too early, want '"'`}, {`"\`, `ends too early, want one of`},
		{`"\u12`, `ends too early, want four hexadecimal digits`}, {`tru`, `ends too early, want true`}, {`-`, `ends too early, want a digit`}, {`1.`, `ends too early, want a digit`}, {`1e+`, `ends too early, want a digit`},
		{`oops`, `unexpected 'o' at byte 1, want a value`}, {`é`, `unexpected 'é' at byte 1`}, {"\xff", `unexpected byte 0xff at byte 1`}, {"\x00", `unexpected '\x00' at byte 1`},
		{`[1 2]`, `unexpected '2' at byte 4, want "," or "]"`}, {`[1,]`, `unexpected ']' at byte 4, want a value`}, {`[,1]`, `unexpected ',' at byte 2`}, {`]`, `unexpected ']' at byte 1`},
		{`{"a" 1}`, `unexpected '1' at byte 6, want ":"`}, {`{"a":1,}`, `unexpected '}' at byte 8, want a key in double quotes`}, {`{a:1}`, `unexpected 'a' at byte 2, want a key`}, {`{1:1}`, `unexpected '1' at byte 2`},
		{`{"a":1;`, `unexpected ';' at byte 7, want "," or "}"`}, {`'a'`, `unexpected '\'' at byte 1`}, {`nul`, `ends too early, want null`}, {`nule`, `unexpected 'e' at byte 4, want null`},
		{`01`, `unexpected '1' at byte 2, want a number without a leading zero`}, {`-01`, `at byte 3, want a number without a leading zero`}, {`.5`, `unexpected '.' at byte 1`}, {`1.x`, `unexpected 'x' at byte 3, want a digit`},
		{`+1`, `unexpected '+' at byte 1`}, {`1x`, `unexpected text after the JSON value at byte 2`}, {`0x10`, `unexpected text after the JSON value at byte 2`}, {`-x`, `unexpected 'x' at byte 2, want a digit`}, {`1e5.5`, `unexpected text`},
		{`{} {}`, `unexpected text after the JSON value at byte 4`}, {"\"a\nb\"", `unexpected '\n' at byte 3, want an escape`}, {"\"é\tb\"", `unexpected '\t' at byte 4, want an escape`},
		{`"\x"`, `unexpected 'x' at byte 3, want one of`}, {`"\u00g0"`, `unexpected 'g' at byte 6, want four`}, {`"\ud83d\u00"`, `unexpected '"' at byte 12, want four`},
		{`{"id":1,"id":2}`, `duplicate key "id" at byte 9`}, {`{"id":1,"\u0069d":2}`, `duplicate key "id" at byte 9`}, {`[{"a":1,"b":2},{"a":1,"a":2}]`, `duplicate key "a" at byte 23`},
	} {
		v, err := ParseJSON([]byte(tt.in))
		got := JSON(v)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%s\n\tgot  %s\n\twant %s", tt.in, got, tt.want)
		}
		if cut := strings.Contains(got, "ends too early"); cut != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", tt.in, err)
		}
	}
}

func TestParseJSONDepth(t *testing.T) {
	for n, ok := range map[int]bool{MaxJSONDepth: true, MaxJSONDepth + 1: true, MaxJSONDepth + 2: false, 1_000_000: false} {
		for _, in := range []string{strings.Repeat("[", n) + strings.Repeat("]", n), strings.Repeat(`{"a":`, n-1) + "[]" + strings.Repeat("}", n-1)} {
			if _, err := ParseJSON([]byte(in)); (err == nil) != ok {
				t.Errorf("%d levels: %v", n, err)
			}
		}
	}
	in := strings.Repeat("[", MaxJSONDepth+1) + "1" + strings.Repeat("]", MaxJSONDepth+1)
	if _, err := ParseJSON([]byte(in)); !errors.Is(err, errJSONDepth) {
		t.Errorf("a value inside of the deepest array: %v", err)
	}
}

// TestParsedObjectsShareKeys: the rows of a table share their keys, and changing one of
// them changes no other.
func TestParsedObjectsShareKeys(t *testing.T) {
	for _, n := range []int{2, indexFrom - 1, indexFrom, indexFrom + 1, 40} {
		var row bytes.Buffer
		for i := range n {
			fmt.Fprintf(&row, `%s"k%d":%d`, strings.Repeat(",", min(i, 1)), i, i)
		}
		v, err := ParseJSON(fmt.Appendf(nil, `[{%s},{%s},{%s}]`, &row, &row, &row))
		if err != nil {
			t.Fatal(err)
		}
		rows := v.([]any)
		a, b, c := rows[0].(*Object), rows[1].(*Object), rows[2].(*Object)
		if &a.Keys()[0] != &b.Keys()[0] || &b.Keys()[0] != &c.Keys()[0] {
			t.Errorf("%d keys are not shared", n)
		}
		before := JSON(b)
		a.Set("new", true)
		c.Delete("k1")
		a.Set("k0", "x")
		if got := JSON(b); got != before {
			t.Errorf("got %s, want %s", got, before)
		}
		if v, ok := a.Get("new"); !ok || v != true || a.Len() != n+1 {
			t.Errorf("%s", JSON(a))
		}
		if _, ok := c.Get("k1"); ok || c.Len() != n-1 {
			t.Errorf("%s", JSON(c))
		}
		if v, ok := b.Get(fmt.Sprint("k", n-1)); !ok || v != int64(n-1) {
			t.Errorf("%s", JSON(b))
		}
	}
}

// TestManyKeys: objects of many keys are read in time that grows with their number,
// duplicates are found among them.
func TestManyKeys(t *testing.T) {
	var a, b strings.Builder
	const n = 60_000
	for i := range n {
		fmt.Fprintf(&a, `"a%d":1,`, i)
		if i > n/2 {
			fmt.Fprintf(&b, `"b%d":1,`, i)
		} else {
			fmt.Fprintf(&b, `"a%d":1,`, i)
		}
	}
	text := "[{" + a.String() + `"z":1},{` + b.String() + `"z":1},{` + a.String() + `"a7":1}]`
	if _, err := ParseJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), `duplicate key "a7"`) {
		t.Errorf("%v", err)
	}
}

// reference reads JSON as ParseJSON should, by encoding/json: the slow way that is
// easy to believe.
func reference(data []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if !json.Valid(data) {
		return nil, false
	}
	return referenceValue(dec)
}

func referenceValue(dec *json.Decoder) (any, bool) {
	tok, err := dec.Token()
	if err != nil {
		return nil, false
	}
	switch t := tok.(type) {
	case json.Number:
		n, err := ParseNumber(t.String())
		return n, err == nil
	case json.Delim:
		list, o, good := []any{}, &Object{}, true
		for dec.More() {
			var key string
			if t == '{' {
				k, _ := dec.Token()
				key = k.(string)
			}
			v, ok := referenceValue(dec)
			_, twice := o.Get(key)
			good = good && ok && (!twice || t == '[')
			list = append(list, v)
			o.Set(key, v)
		}
		dec.Token()
		if t == '[' {
			return list, good
		}
		return o, good
	}
	return tok, true
}

func compareParsers(t interface{ Fatalf(string, ...any) }, data []byte) {
	got, err := ParseJSON(data)
	want, ok := reference(data)
	if (err == nil) != ok || ok && JSON(got) != JSON(want) {
		t.Fatalf("%q\n\tgot  %s, %v\n\twant %s, %v", data, JSON(got), err, JSON(want), ok)
	}
}

// TestParseJSONAgrees compares with encoding/json on texts that are nearly JSON.
func TestParseJSONAgrees(t *testing.T) {
	valid, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		writeJSON(t, &b, 3)
		text := []byte(b.String())
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "faults") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text[at] = rapid.SampledFrom([]byte("\"\\{}[],:019-+.eEtu \n\x00\x80é")).Draw(t, "fault")
		}
		all++
		if json.Valid(text) {
			valid++
		}
		compareParsers(t, text)
	})
	if valid < all/3 || valid == all {
		t.Errorf("%d of %d texts were valid", valid, all)
	}
}

func writeJSON(t *rapid.T, b *strings.Builder, depth int) {
	space := func() { b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\n\t"}).Draw(t, "space")) }
	space()
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case depth > 0 && kind < 2:
		b.WriteString("[")
		for i := range rapid.IntRange(0, 3).Draw(t, "elements") {
			b.WriteString(strings.Repeat(",", min(i, 1)))
			writeJSON(t, b, depth-1)
		}
		b.WriteString("]")
	case depth > 0 && kind < 4:
		b.WriteString("{")
		for i := range rapid.IntRange(0, 14).Draw(t, "members") {
			b.WriteString(strings.Repeat(",", min(i, 1)))
			space()
			fmt.Fprintf(b, `"%s%d"`, rapid.SampledFrom([]string{"k", "k", "k", "k", "k", "k", "k", `\u006b`, "é"}).Draw(t, "key"), rapid.SampledFrom([]int{i, i, i, i, i, i, i, i, 3}).Draw(t, "number"))
			space()
			b.WriteString(":")
			writeJSON(t, b, 0)
		}
		b.WriteString("}")
	default:
		b.WriteString(rapid.SampledFrom([]string{`null`, `true`, `false`, `0`, `-1`, `12`, `1.5`, `-2e3`, `9223372036854775807`, `""`, `"a"`, `"a b"`, `"é"`, `"\n\u00e9\""`, `"\ud83d\ude00"`}).Draw(t, "scalar"))
	}
	space()
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,-3e4,null,true,"x\u00e9\n"],"b":{"a":9223372036854775807}}`, `[{"a":1},{"a":2},{"b":3}]`, `"\ud83d\ude00\ud83d"`, "\"\xff\"", `1e`, `[01]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareParsers(t, data) })
}

var jsonTexts = []struct{ name, text string }{
	{"row", `{"id": 104233, "date": "2001/02/23 01:20", "delay": -12, "distance": 1304.5, "origin": "SAN", "destination": "PHX", "late": false}`},
	{"rows", "[" + strings.Repeat(`{"id": 104233, "date": "2001/02/23 01:20", "delay": -12, "distance": 1304.5, "origin": "SAN", "destination": "PHX", "late": false},`, 999) + `{}]`},
	{"nested", `{"data":{"items":[{"user":{"name":"Ada L\u00f6vel\u00e4ce","tags":["a","b"]},"n":1},{"user":{"name":"Grace","tags":[]},"n":2}],"next":null},"ok":true}`},
	{"numbers", "[" + strings.Repeat("12345678, 3.14159, ", 500) + "0]"},
}

// BenchmarkParseJSON measures ParseJSON, and for comparison encoding/json, which
// returns maps and floats.
func BenchmarkParseJSON(b *testing.B) {
	for _, c := range jsonTexts {
		data := []byte(c.text)
		b.Run("text="+c.name+"/parser=core", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseJSON(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("text="+c.name+"/parser=encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
