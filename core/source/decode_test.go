package source

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// tree builds a positioned tree from a JSON text: every value and key is on line 1,
// in the column where it begins in the text.
func tree(t *testing.T, text string) *Value {
	t.Helper()
	p := &treeParser{text: text}
	v := p.value()
	if p.space(); p.at != len(text) {
		t.Fatalf("tree(%s): text left over at byte %d", text, p.at)
	}
	return v
}

type treeParser struct {
	text string
	at   int
}

func (p *treeParser) pos() Position { return Position{Line: 1, Column: int32(p.at + 1)} }

func (p *treeParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \n\t,:", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *treeParser) value() *Value {
	p.space()
	v := &Value{Pos: p.pos()}
	switch p.text[p.at] {
	case '{':
		v.Kind = ObjectValue
		for p.at++; p.more('}'); {
			key := At("", p.pos())
			key.Value = p.scalar().(string)
			v.Set(key, p.value())
		}
	case '[':
		v.Kind = ArrayValue
		for p.at++; p.more(']'); {
			v.Items = append(v.Items, p.value())
		}
	default:
		return Tree(p.scalar(), v.Pos)
	}
	return v
}

func (p *treeParser) more(end byte) bool {
	p.space()
	if p.text[p.at] != end {
		return true
	}
	p.at++
	return false
}

func (p *treeParser) scalar() any {
	end := p.at + 1
	if p.text[p.at] == '"' {
		end += strings.IndexByte(p.text[end:], '"') + 1
	}
	for end < len(p.text) && strings.IndexByte(" ,:]}", p.text[end]) < 0 {
		end++
	}
	v, err := value.ParseJSON([]byte(p.text[p.at:end]))
	if err != nil {
		panic(err)
	}
	p.at = end
	return v
}

type inner struct {
	Name Text `wavefold:"name,required"`
	Size int  `wavefold:"size,min=1,max=9"`
}

func (*inner) DecodeSubject(v *Value) string {
	if s, ok := v.Get("name").Plain().(string); ok {
		return "inner " + s
	}
	return ""
}

// lines is a type that reads its own part of a tree: a text or a list of them.
type lines []string

func (l *lines) DecodeValue(v *Value) Diagnostics {
	if s, ok := v.Scalar.(string); ok {
		*l = lines{s}
		return nil
	}
	if v.Kind != ArrayValue {
		return WrongType(v, "a text or a list of texts")
	}
	return Decode(v, (*[]string)(l))
}

type shared struct {
	Verbose bool `wavefold:"verbose"`
}

type everything struct {
	shared
	Str      string                  `wavefold:"str"`
	Text     Text                    `wavefold:"text"`
	Word     Text                    `wavefold:"word,oneof=red|green|blue"`
	Fixed    Text                    `wavefold:"fixed,fixed"`
	Fixeds   []string                `wavefold:"fixeds,fixed"`
	Int      int                     `wavefold:"int"`
	Small    int8                    `wavefold:"small"`
	Unsigned uint16                  `wavefold:"unsigned"`
	Big      int64                   `wavefold:"big,min=-5"`
	Float    float64                 `wavefold:"float,min=0,max=1"`
	Loc      *Int                    `wavefold:"loc,min=1"`
	Wait     time.Duration           `wavefold:"wait"`
	Timeout  *Located[time.Duration] `wavefold:"timeout,min=1ms"`
	Pause    time.Duration           `wavefold:"millis,ms"`
	Names    []Text                  `wavefold:"names"`
	Words    []string                `wavefold:"words,oneof=a|b"`
	Env      map[string]string       `wavefold:"env"`
	Counts   Members[int]            `wavefold:"counts,min=0"`
	Inner    inner                   `wavefold:"inner"`
	Opt      *inner                  `wavefold:"opt"`
	Many     []inner                 `wavefold:"many"`
	Own      lines                   `wavefold:"own"`
	Raw      *Value                  `wavefold:"raw"`
	Any      any                     `wavefold:"any"`
	Obj      *value.Object           `wavefold:"obj"`
	Pos      Position                `wavefold:",pos"`
	Untagged string
}

func TestDecodeFills(t *testing.T) {
	at := func(col int) Position { return Position{Line: 1, Column: int32(col)} }
	tests := []struct {
		in   string
		want func(e *everything)
	}{
		{`{}`, func(e *everything) {}},
		{`null`, func(e *everything) {}},
		{`{"str":"x","verbose":true}`, func(e *everything) { e.Str, e.Verbose = "x", true }},
		{`{"text":"x"}`, func(e *everything) { e.Text = At("x", at(9)) }},
		{`{"word":"green"}`, func(e *everything) { e.Word = At("green", at(9)) }},
		{`{"int":-3,"small":127,"unsigned":65535,"big":9007199254740993}`, func(e *everything) {
			e.Int, e.Small, e.Unsigned, e.Big = -3, 127, 65535, 9007199254740993
		}},
		{`{"int":3.0}`, func(e *everything) { e.Int = 3 }},
		{`{"float":1}`, func(e *everything) { e.Float = 1 }},
		{`{"loc":7}`, func(e *everything) { e.Loc = &Int{7, at(8)} }},
		{`{"wait":"1.5s"}`, func(e *everything) { e.Wait = 1500 * time.Millisecond }},
		{`{"wait":"0"}`, func(e *everything) { e.Wait = 0 }},
		{`{"timeout":"200ms"}`, func(e *everything) {
			e.Timeout = &Located[time.Duration]{200 * time.Millisecond, at(12)}
		}},
		{`{"millis":250}`, func(e *everything) { e.Pause = 250 * time.Millisecond }},
		{`{"millis":"250us"}`, func(e *everything) { e.Pause = 250 * time.Microsecond }},
		{`{"names":["a","b"]}`, func(e *everything) { e.Names = []Text{At("a", at(11)), At("b", at(15))} }},
		{`{"names":null}`, func(e *everything) { e.Names = []Text{} }},
		{`{"env":{"b":"2","a":"1"}}`, func(e *everything) { e.Env = map[string]string{"a": "1", "b": "2"} }},
		{`{"counts":{"b":2,"a":1}}`, func(e *everything) {
			e.Counts = Members[int]{{At("b", at(12)), 2}, {At("a", at(18)), 1}}
		}},
		{`{"opt":{"name":"x","size":9}}`, func(e *everything) { e.Opt = &inner{At("x", at(16)), 9} }},
		{`{"own":"x"}`, func(e *everything) { e.Own = lines{"x"} }},
		{`{"own":["x","y"]}`, func(e *everything) { e.Own = lines{"x", "y"} }},
		{`{"any":{"b":[1,null],"a":2.5}}`, func(e *everything) {
			e.Any = value.ObjectOf("b", []any{int64(1), nil}, "a", 2.5)
		}},
		{`{"any":null}`, func(e *everything) { e.Any = nil }},
		{`{"obj":{"b":1}}`, func(e *everything) { e.Obj = value.ObjectOf("b", int64(1)) }},
		{`{"obj":null}`, func(e *everything) { e.Obj = &value.Object{} }},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got := everything{Untagged: "kept", Any: value.Missing}
			want := got
			want.Pos = at(1)
			tt.want(&want)
			if ds := Decode(tree(t, tt.in), &got); len(ds) > 0 {
				t.Fatalf("Decode(%s): %v", tt.in, ds)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("Decode(%s)\n got %+v\nwant %+v", tt.in, got, want)
			}
		})
	}
}

func TestDecodeKeepsRawTree(t *testing.T) {
	in := tree(t, `{"raw":{"a":[1]}}`)
	var e everything
	if ds := Decode(in, &e); len(ds) > 0 {
		t.Fatal(ds)
	}
	if e.Raw != in.Values[0] {
		t.Errorf("got %v, want the very tree", e.Raw)
	}
}

func TestDecodeFindings(t *testing.T) {
	tests := []struct {
		in   string
		want []string // column code message (hint)
	}{
		{`{"strr":"x"}`, []string{`2 UNKNOWN_KEY unknown key "strr" (did you mean "str"? known keys: verbose, str, text, word, fixed,`}},
		{`{"opt":{"name":"x","sise":1}}`, []string{`20 UNKNOWN_KEY inner x: unknown key "sise" (did you mean "size"? known keys: name, size)`}},
		{`{"opt":{"name":"x","or more":null}}`, []string{`20 UNKNOWN_KEY inner x: unknown key "or more" (is it the end of a string? in {…} a string with a comma needs quotes; known keys: name, size)`}},
		{`{"zzz":1,"qqq":2}`, []string{`2 UNKNOWN_KEY unknown key "zzz" (known keys: `, `10 UNKNOWN_KEY unknown key "qqq" (known keys: `}},
		{`{"str":1,"str":"x"}`, []string{
			`8 WRONG_TYPE str: want a string, found number 1 (put it in quotes to make it a string)`,
			`10 DUPLICATE_KEY key "str" appears twice (the first one is on line 1)`,
		}},
		{`{"str":null}`, []string{`8 WRONG_TYPE str: want a string, found nothing`}},
		{`{"fixed":"t_{{x}}","fixeds":["a","{{b}}"]}`, []string{`10 BAD_VALUE fixed: a template is not allowed here: "t_{{x}}" is used as it is written`, `34 BAD_VALUE fixeds[1]: a template is not allowed here: "{{b}}" is used as it is written`}},
		{`{"text":["x"]}`, []string{`9 WRONG_TYPE text: want a string, found a list`}},
		{`{"word":"grene"}`, []string{`9 BAD_VALUE word: "grene" is none of red, green, blue (did you mean "green"?)`}},
		{`{"word":7}`, []string{`9 WRONG_TYPE word: want one of red, green, blue, found number 7 (put it in quotes`}},
		{`{"verbose":"yes"}`, []string{`12 WRONG_TYPE verbose: want true or false, found string "yes"`}},
		{`{"int":"3"}`, []string{`8 WRONG_TYPE int: want a whole number, found string "3"`}},
		{`{"int":2.5}`, []string{`8 WRONG_TYPE int: want a whole number, found number 2.5`}},
		{`{"int":1e300}`, []string{`8 WRONG_TYPE int: want a whole number, found number 1e+300`}},
		{`{"small":128}`, []string{`10 BAD_VALUE small: want a whole number, found 128`}},
		{`{"unsigned":-1}`, []string{`13 BAD_VALUE unsigned: want a whole number, found -1`}},
		{`{"big":-6}`, []string{`8 BAD_VALUE big: want a whole number of at least -5, found -6`}},
		{`{"float":1.5}`, []string{`10 BAD_VALUE float: want a number from 0 to 1, found 1.5`}},
		{`{"float":true}`, []string{`10 WRONG_TYPE float: want a number from 0 to 1, found boolean true`}},
		{`{"loc":0}`, []string{`8 BAD_VALUE loc: want a whole number of at least 1, found 0`}},
		{`{"wait":30}`, []string{`9 WRONG_TYPE wait: want a duration such as "30s" or "1.5h", found number 30 (write "30s" for seconds or "30ms" for milliseconds)`}},
		{`{"wait":"30"}`, []string{`9 BAD_VALUE wait: want a duration such as "30s" or "1.5h", found string "30"`}},
		{`{"wait":"-1s"}`, []string{`9 BAD_VALUE wait: want a duration that is not negative, found string "-1s"`}},
		{`{"timeout":"0s"}`, []string{`12 BAD_VALUE timeout: want a duration of at least 1ms, found string "0s"`}},
		{`{"millis":1.5}`, []string{`11 WRONG_TYPE millis: want a whole number of milliseconds or a duration such as "1.5s", found number 1.5`}},
		{`{"millis":9223372036854775807}`, []string{`11 BAD_VALUE millis: 9223372036854775807 milliseconds are too many`}},
		{`{"names":"a"}`, []string{`10 WRONG_TYPE names: want a list, found string "a" (write [a])`}},
		{`{"names":["a",2]}`, []string{`15 WRONG_TYPE names[1]: want a string, found number 2 (put it`}},
		{`{"words":["a","c"]}`, []string{`15 BAD_VALUE words[1]: "c" is none of a, b`}},
		{`{"env":{"a":1}}`, []string{`13 WRONG_TYPE env.a: want a string, found number 1 (put it`}},
		{`{"env":[1]}`, []string{`8 WRONG_TYPE env: want a mapping, found a list`}},
		{`{"env":{"a":"1","a":"2"}}`, []string{`17 DUPLICATE_KEY env: key "a" appears twice`}},
		{`{"counts":{"a":-1}}`, []string{`16 BAD_VALUE counts.a: want a whole number of at least 0, found -1`}},
		{`{"inner":{}}`, []string{`10 MISSING_KEY inner: key "name" is missing`}},
		{`{"inner":null}`, []string{`10 MISSING_KEY inner: key "name" is missing`}},
		{`{"inner":{"name":" "}}`, []string{`18 MISSING_KEY inner  : key "name" is empty`}},
		{`{"inner":"x"}`, []string{`10 WRONG_TYPE inner: want a mapping, found string "x"`}},
		{`{"many":[{"name":"x"},{"size":0}]}`, []string{
			`23 MISSING_KEY many[1]: key "name" is missing`,
			`31 BAD_VALUE many[1].size: want a whole number from 1 to 9, found 0`,
		}},
		{`{"many":[{"name":"x","size":10}]}`, []string{`29 BAD_VALUE inner x: size: want a whole number from 1 to 9, found 10`}},
		{`{"own":3}`, []string{`8 WRONG_TYPE own: want a text or a list of texts, found number 3`}},
		{`{"own":["x",3]}`, []string{`13 WRONG_TYPE own[1]: want a string, found number 3 (put it`}},
		{`{"obj":[1]}`, []string{`8 WRONG_TYPE obj: want a mapping, found a list`}},
		{`"text"`, []string{`1 WRONG_TYPE want a mapping, found string "text"`}},
		{`{"str":"` + strings.Repeat("x", 60) + `","text":1,"word":"` + strings.Repeat("é", 60) + `"}`, []string{
			`78 WRONG_TYPE text: want a string, found number 1`,
			`87 BAD_VALUE word: "` + strings.Repeat("é", 37) + `..." is none of`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			var got []string
			for _, d := range Decode(tree(t, tt.in), &everything{}).Sorted() {
				s := fmt.Sprintf("%d %s %s", d.Pos.Column, d.Code, d.Message)
				if d.Hint != "" {
					s += " (" + d.Hint + ")"
				}
				got = append(got, s)
			}
			if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
				t.Errorf("Decode(%s)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestDecodeRequired(t *testing.T) {
	type target struct {
		Text  Text          `wavefold:"text,required"`
		List  []Text        `wavefold:"list,required"`
		Map   Members[Text] `wavefold:"map,required"`
		Any   any           `wavefold:"any,required"`
		Ptr   *Int          `wavefold:"ptr,required"`
		Inner struct {
			N int `wavefold:"n"`
		} `wavefold:"inner,required"`
	}
	tests := []struct {
		in   string
		want string // the keys complained about
	}{
		{`{"text":"x","list":["x"],"map":{"k":"v"},"any":null,"ptr":0,"inner":{}}`, ""},
		{`{}`, "text list map any ptr inner"},
		{`{"text":"","list":[],"map":{},"any":"","ptr":null,"inner":null}`, "text list map ptr inner"},
	}
	for _, tt := range tests {
		var got []string
		for _, d := range Decode(tree(t, tt.in), &target{}) {
			if d.Code != CodeMissingKey {
				t.Errorf("Decode(%s): unexpected %v", tt.in, d)
			}
			got = append(got, strings.Split(d.Message, `"`)[1])
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("Decode(%s) missed %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestDecodeRest(t *testing.T) {
	var got struct {
		Name string `wavefold:"name"`
		Rest *Value `wavefold:",rest"`
	}
	if ds := Decode(tree(t, `{"b":1,"name":"x","a":[2]}`), &got); len(ds) > 0 {
		t.Fatal(ds)
	}
	if s := value.JSON(got.Rest.Plain()); s != `{"b":1,"a":[2]}` || got.Name != "x" {
		t.Errorf("got name %q, rest %s", got.Name, s)
	}
	if got.Rest.Keys[1].Pos.Column != 19 || got.Rest.Pos.Column != 1 {
		t.Errorf("rest lost its positions: %+v", got.Rest)
	}
}

func TestDecodeAbsentTree(t *testing.T) {
	var e everything
	if ds := Decode(nil, &e); len(ds) > 0 {
		t.Error(ds)
	}
	if ds := Decode(nil, &inner{}); !ds.Has(CodeMissingKey) {
		t.Errorf("got %v, want the missing name", ds)
	}
}

// TestDecodeRefusedLeavesField: a number out of range once came back as a zero with a
// position, which the next check reported again.
func TestDecodeRefusedLeavesField(t *testing.T) {
	e := everything{Str: "kept", Int: 7, Word: At("red", Position{})}
	ds := Decode(tree(t, `{"str":1,"int":"x","word":"pink","loc":0,"timeout":3,"text":4,"opt":{"size":3}}`), &e)
	if len(ds) != 7 {
		t.Errorf("got %d findings: %v", len(ds), ds)
	}
	want := everything{Str: "kept", Int: 7, Word: At("red", Position{}), Opt: &inner{Size: 3}, Pos: Position{Line: 1, Column: 1}}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got %+v, want %+v", e, want)
	}
}

func TestDecodePanicsOnProgramFaults(t *testing.T) {
	cases := map[string]any{
		"no pointer": everything{},
		"nil":        (*everything)(nil),
		"channel": &struct {
			C chan int `wavefold:"x"`
		}{},
		"interface": &struct {
			E error `wavefold:"x"`
		}{},
		"map key": &struct {
			M map[int]int `wavefold:"x"`
		}{},
		"unknown option": &struct {
			X int `wavefold:"x,requird"`
		}{},
		"bad limit": &struct {
			X int `wavefold:"x,min=one"`
		}{},
		"no name": &struct {
			X int `wavefold:",required"`
		}{},
	}
	for name, into := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("did not panic")
				}
			}()
			Decode(tree(t, `{"x":1}`), into)
		})
	}
}

func TestKeyNames(t *testing.T) {
	type target struct {
		shared
		B int  `wavefold:"b" doc:"second"`
		A Text `wavefold:"a,required,oneof=x|y"`
	}
	if got := KeyNames(target{}); !slices.Equal(got, []string{"a", "verbose", "b"}) {
		t.Errorf("KeyNames: %q", got)
	}
	keys := KeysOf(&target{})
	if len(keys) != 3 || keys[0].Name != "verbose" || keys[1].Doc != "second" || !slices.Equal(keys[2].OneOf, []string{"x", "y"}) {
		t.Errorf("KeysOf: %+v", keys)
	}
}

func TestMembersOf(t *testing.T) {
	if v, ok := MembersOf(reflect.TypeFor[Members[Text]]()); !ok || v != reflect.TypeFor[Text]() {
		t.Errorf("Members[Text]: %v, %v", v, ok)
	}
	for _, other := range []reflect.Type{reflect.TypeFor[[]Member[int]](), reflect.TypeFor[int]()} {
		if v, ok := MembersOf(other); ok {
			t.Errorf("%v: %v", other, v)
		}
	}
}

func TestMembersGet(t *testing.T) {
	m := Members[int]{{At("a", Position{}), 1}}
	if v, ok := m.Get("a"); v != 1 || !ok {
		t.Errorf("Get(a) = %d, %v", v, ok)
	}
	if v, ok := m.Get("b"); v != 0 || ok {
		t.Errorf("Get(b) = %d, %v", v, ok)
	}
}

// FuzzDecode holds that no tree makes Decode panic and that each finding has a
// code and a message.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"str":1,"names":["a",null],"opt":{"size":0},"counts":{"a":{}},"millis":9e99}`))
	f.Add([]byte(`{"timeout":"-1s","own":{},"any":[[]],"word":"","loc":-0.0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := value.ParseJSON(data)
		if err != nil {
			return
		}
		var e everything
		ds := Decode(Tree(v, Position{Line: 1}), &e)
		for _, d := range ds {
			if d.Message == "" || d.Code == "" {
				t.Errorf("%s: bare finding %+v", data, d)
			}
		}
	})
}

// lossy is a struct that keeps account of what could not be read.
type lossy struct {
	Name  Text           `wavefold:"name,required"`
	Limit *Int           `wavefold:"limit,min=1"`
	Words []Text         `wavefold:"words"`
	Inner *lossy         `wavefold:"inner"`
	All   []lossy        `wavefold:"all"`
	By    Members[lossy] `wavefold:"by"`
	Plain struct {
		X Int `wavefold:"x"`
	} `wavefold:"plain"`
	Any  *Value `wavefold:"any"`
	Lost Lost   `wavefold:",lost"`
}

// text lists the lost keys, including the lost keys of nested parts.
func (l *lossy) text() string {
	s := strings.Join(l.Lost, " ")
	if l.Inner != nil {
		s += " inner(" + l.Inner.text() + ")"
	}
	for i := range l.All {
		s += " all(" + l.All[i].text() + ")"
	}
	for i := range l.By {
		s += " " + l.By[i].Key.Value + "(" + l.By[i].Value.text() + ")"
	}
	return s
}

// TestLost: keys that were lost because of an error are distinguished from absent
// keys, and the parts that could be read are present.
func TestLost(t *testing.T) {
	const everything = "name limit words inner all by plain any"
	for _, c := range []struct{ text, lost, found string }{
		{`{"name": "a"}`, "", ""},
		{`{}`, "name", `key "name" is missing`},
		{`{"name": ""}`, "name", `key "name" is empty`},
		{`{"name": 3, "limit": 0}`, "name limit", "name: want a string; limit: want a whole number"},
		{`{"name": "a", "words": ["x", 3, "y"]}`, "words", "words[1]: want a string"},
		{`{"name": "a", "lmit": 3}`, "limit", `unknown key "lmit"`},
		{`{"name": "a", "limit": 2, "lmit": 3}`, "", `unknown key "lmit"`},
		{`{"name": "a", "nothing_like_it": 3}`, "", `unknown key "nothing_like_it"`},
		{`{"nmae": "a"}`, "name", `unknown key "nmae"`}, // that it is missing follows from that
		{`{"name": "a", "inner": 3}`, " inner(" + everything + ")", "inner: want a mapping"},
		{`{"name": "a", "inner": {"limit": "x"}}`, " inner(limit name)", `inner: key "name" is missing; inner.limit: want`},
		{`{"name": "a", "all": [{"name": "b"}, 3, {"name": 4}]}`, " all() all(" + everything + ") all(name)", "all[1]: want a mapping; all[2].name: want"},
		{`{"name": "a", "all": 3}`, "all", "all: want a list"},
		{`{"name": "a", "by": {"x": {"name": "b"}, "y": 3}}`, " x() y(" + everything + ")", "by.y: want a mapping"},
		{`{"name": "a", "plain": {"x": "y"}}`, "plain", "plain.x: want"},
		{`{"name": "a", "plain": {"y": 1}}`, "plain", `plain: unknown key "y"`},
	} {
		var l lossy
		ds := Decode(tree(t, c.text), &l)
		var found []string
		for _, d := range ds.Sorted() {
			found = append(found, d.Message)
		}
		want := strings.Split(c.found, "; ")
		ok := len(found) == len(want) || c.found == "" && len(found) == 0
		for i := range found {
			ok = ok && strings.Contains(strings.Join(found, "; "), want[i])
		}
		if got := l.text(); got != c.lost || !ok {
			t.Errorf("%s: lost %q, want %q\n%q, want %q", c.text, got, c.lost, found, want)
		}
	}
	var l lossy
	Decode(tree(t, `{"name": "a", "words": ["x", 3, "y"]}`), &l)
	if got := strings.Join(Strings(l.Words), " "); got != "x y" {
		t.Errorf("the words that could be read: %q", got)
	}
}

// TestLostKeysOfOtherSystems tests that a key that has another name in another system is lost, not
// missing.
func TestLostKeysOfOtherSystems(t *testing.T) {
	for _, c := range []struct{ text, lost, found string }{
		{`{"strategy": "x"}`, "merge", `unknown key "strategy"`},
		{`{"reducer": "x", "merge": "y"}`, "", `unknown key "reducer"`},
		{`{"merge": "y", "limit": 3}`, "", `unknown key "limit"`}, // it means attempts only next to base_ms
		{`{"something": "x"}`, "merge", `key "merge" is missing; unknown key "something"`},
	} {
		var v struct {
			Merge    Text `wavefold:"merge,required"`
			Attempts Int  `wavefold:"attempts"`
			Lost     Lost `wavefold:",lost"`
		}
		var found []string
		for _, d := range Decode(tree(t, c.text), &v).Sorted() {
			found = append(found, d.Message)
		}
		if got := strings.Join(v.Lost, " "); got != c.lost || strings.Join(found, "; ") != c.found {
			t.Errorf("%s: lost %q, found %q", c.text, got, found)
		}
	}
}

// TestLostValues: there are no further findings about a value that could not be read.
func TestLostValues(t *testing.T) {
	v := tree(t, `{"name": "a", "limit": 1, "words": ["x", "y"], "inner": {"name": "b"}, "all": [{"name": "c"}], "any": [1, 2]}`)
	if !v.Whole() {
		t.Fatal("the tree is not whole")
	}
	for _, key := range []string{"limit", "inner"} {
		*v.Get(key) = Value{Lost: true}
	}
	*v.Get("words").Items[0] = Value{Lost: true}
	*v.Get("all").Items[0] = Value{Lost: true}
	v.Get("any").Items[1].Lost = true
	var l lossy
	if ds := Decode(v, &l); len(ds) > 0 || v.Whole() {
		t.Errorf("findings %v, whole %t", ds, v.Whole())
	}
	if got := l.text(); got != "limit words any inner(name limit words inner all by plain any) all(name limit words inner all by plain any)" {
		t.Errorf("lost %q", got)
	}
	var open lossy // a mapping some of whose keys could not be read may have any
	Decode(&Value{Kind: ObjectValue, Lost: true}, &open)
	if got := open.text(); got != "name limit words inner all by plain any" {
		t.Errorf("lost %q", got)
	}
}
