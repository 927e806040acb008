package builder

import (
	"strings"
	"testing"
)

// graph builds a document from a short form: nodes are "id type" with + for the tool subagents, and
// connections are "source>target", with ":handle" of the source and "/handle" of the target.
func graph(nodes, connections string) []byte {
	var list, edges []string
	for n := range strings.FieldsSeq(nodes) {
		id, kind, _ := strings.Cut(n, "=")
		kind, tool := strings.CutSuffix(kind, "+")
		data := "{}"
		if tool {
			data = `{"tools": {"subagents": true}}`
		}
		list = append(list, `{"id": "`+id+`", "type": "`+kind+`", "data": `+data+`}`)
	}
	for c := range strings.FieldsSeq(connections) {
		c, into, _ := strings.Cut(c, "/")
		c, handle, _ := strings.Cut(c, ":")
		from, to, _ := strings.Cut(c, ">")
		edges = append(edges, `{"source": "`+from+`", "target": "`+to+`", "sourceHandle": "`+handle+`", "targetHandle": "`+into+`"}`)
	}
	return []byte("{\"nodes\": [" + strings.Join(list, ",\n") + "],\n\"connections\": [" + strings.Join(edges, ",\n") + "]}")
}

// TestPreflight checks each rule, and that the first one in the order of the rules is reported.
func TestPreflight(t *testing.T) {
	for _, tt := range []struct{ nodes, connections, want string }{
		{"s=start a=agent", "s>a", ""},
		{"s=start a=agent", "s>a a>a", ""},                         // a ring is allowed
		{"s=start a=agent x=if y=approval", "s>a x>x x>y", ""},     // what is not reached is not checked
		{"s=start i=if p=input", "s>i i>p:true p>i:reject", ""},    // one branch is enough
		{"s=start i=if", "s>i i>s:condition-7", ""},                // whether the condition exists or not
		{"s=start a=agent+ b=agent", "s>a a>b:subagent/input", ""}, // a tree
		{"s=start a=agent+ b=agent+ c=agent", "s>a a>b:subagent b>c:subagent", ""},
		{"s=start a=agent+", "s>a", ""},
		{"a=agent", "a>zz a>a:subagent", "start_missing"},
		{"s=start t=start", "s>zz", "start_many"},
		{"s=start a=agent", "s>a a>zz a>a:subagent", "dangling_connection"},
		{"s=start a=agent", "s>a zz>a", "dangling_connection"},
		{"s=start a=agent i=if", "i>a:subagent", "subagent_source"},
		{"s=start a=agent i=if", "a>i:subagent", "subagent_target"},
		{"s=start a=agent b=agent i=if", "a>b:subagent b>i:subagent", "subagent_target"}, // though the tool of the first is off
		{"s=start a=agent b=agent", "s>a a>b:subagent", "subagent_tool_off"},
		{"s=start a=agent+ b=agent", "s>a a>b:subagent/side", "subagent_handle"},
		{"s=start a=agent+", "s>a a>a:subagent", "subagent_self"},
		{"s=start a=agent+ b=agent", "s>a a>b:subagent a>b:subagent", "subagent_parents"},
		{"s=start a=agent+ b=agent+ c=agent", "s>a a>c:subagent b>c:subagent", "subagent_parents"},
		{"s=start a=agent+ b=agent", "s>a a>b:subagent s>b", "subagent_executes"},
		{"s=start a=agent+ b=agent", "s>a a>b:subagent b>s", "subagent_executes"},
		{"s=start a=agent+ b=agent+", "s>a a>b:subagent b>a:subagent", "subagent_executes"}, // a ring that touches the flow
		{"s=start a=agent b=agent+ c=agent+ d=agent+", "s>a d>c:subagent c>b:subagent b>d:subagent", "subagent_cycle"},
		{"s=start a=agent", "", "start_unconnected"},
		{"s=start a=agent+ b=agent+", "a>b:subagent", "start_unconnected"},
		{"s=start i=if p=approval", "s>p s>i i>s:output", "condition_unconnected"},
		{"s=start i=if", "s>i i>s:condition-x", "condition_unconnected"},
		{"s=start p=approval a=agent", "s>p p>a", "approval_unconnected"},
	} {
		w := parse(t, graph(tt.nodes, tt.connections))
		ds := Preflight(w)
		switch {
		case tt.want == "" && len(ds) == 0:
		case len(ds) != 1 || string(ds[0].Code) != tt.want || !ds[0].Pos.IsValid():
			t.Errorf("%s, %s: got %v, want %s", tt.nodes, tt.connections, ds, tt.want)
		}
	}
	ds := Preflight(parse(t, graph("s=start a=agent b=agent+ c=agent+ d=agent+", "s>a d>c:subagent c>b:subagent b>d:subagent")))
	if !strings.Contains(ds[0].Message, "d -> c -> b -> d") && !strings.Contains(ds[0].Message, "c -> b -> d -> c") {
		t.Errorf("the ring is %s", ds[0].Message)
	}
}
