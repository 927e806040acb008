package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"
)

func TestEachMember(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{}`, ""},
		{` { } `, ""},
		{`{"a":1}`, "a=1;"},
		{`{"a":[1,{"b":2}],"c":{"d":"}"},"e":"x\"y","f":null}`, `a=[1,{"b":2}];c={"d":"}"};e="x\"y";f=null;`},
		{`{"a":"\\","b":"\\\"","c":""}`, `a="\\";b="\\\"";c="";`},
		{"{ \"a\" : 1 ,\n\t\"b\" : [ 1 , 2 ] }", "a=1;b=[ 1 , 2 ];"},
		{``, "error"},
		{`[1]`, "error"},
		{`{"a"}`, "error"},
		{`{"a":1`, "error"},
		{`{"a":"x}`, "error"},
		{`{"a":[1}`, "error"},
		{`{a:1}`, "error"},
		{`{"a":1:2}`, "error"},
	}
	for _, tt := range tests {
		got := ""
		err := eachMember([]byte(tt.in), func(key string, v []byte) error {
			got += fmt.Sprintf("%s=%s;", key, v)
			return nil
		})
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
		}
	}
}

// FuzzEachMember: the members of an object are those that encoding/json finds.
func FuzzEachMember(f *testing.F) {
	for _, s := range []string{`{"n":1,"at":0,"events":[{"node":"a\\\"","outcome":{"writes":{"x":"}"}}}],"issued":3}`, `{}`, `{"a":1,"a":2}`, `{"a":{"b":[]},"c":""}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		err := eachMember(data, func(key string, v []byte) error {
			got[key] = string(v)
			return nil
		})
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil || bytes.ContainsRune(data, '\\') || !utf8.Valid(data) {
			return // keys stay as they are written; those of a journal have neither escapes nor invalid UTF-8
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %v, %v", data, got, err)
		}
		for key, v := range want {
			if got[key] != string(v) {
				t.Errorf("%s: %s is %s", data, key, got[key])
			}
		}
	})
}
