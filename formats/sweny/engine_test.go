package sweny_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestEachErrorOnce checks that the loader, the plan and the kinds together report each error
// in a document once.
func TestEachErrorOnce(t *testing.T) {
	const doc = `id: a
name: A
entry: gathr
nodes:
  gather:
    name: Gather
    instruction: I.
    output: {type: object, properties: {evals: {type: array}}}
    eval: [{name: x, kind: jugde, rubric: Good}]
  input: {name: I, instruction: I.}
  alone: {name: X, instruction: I., requires: {output_required: ["gather..x"]}, tools: {allow: [x]}, skills: [none]}
  x.y: {name: X, instruction: I., retry: {max: 2, instruction: {auto: false}}}
edges:
  - {from: gather, to: repot}
  - {from: gather, to: gather}
  - {from: alone, to: x.y, when: a}
  - {from: x.y, to: alone, when: b}
`
	e := wavefold.NewEngine(std.Kinds()...)
	w, _ := e.Parse("a.yml", []byte(doc))
	_, ds := e.Compile(w, false)
	var got []string
	for _, d := range ds {
		got = append(got, d.Error())
	}
	want := []string{
		`a.yml:3:8: error: entry: there is no node "gathr" (did you mean "gather"?) [MISSING_ENTRY]`,
		`a.yml:9:28: error: node gather: eval[0].kind: "jugde" is none of value, function, judge (did you mean "judge"?) [SCHEMA]`,
		`a.yml:10:3: error: a node cannot be called "input": the inputs of the run go by that name (choose another name) [SCHEMA]`,
		`a.yml:11:67: error: node alone: requires: output_required: "gather..x": want names with points between them, such as data.items[*].id, found "" [SCHEMA]`,
		`a.yml:11:111: warning: node alone: there is no skill "none"; it has no other, so the run fails when it is reached (register a Go function of this name, or some that begin with it and _, or give the skill an instruction) [UNKNOWN_SKILL]`,
		`a.yml:12:3: error: node "x.y": a name is letters, digits, underscore and dash (for example "x_y") [BAD_ID]`,
		`a.yml:12:64: error: node x.y: retry_instruction: want a string, {auto: true} or {reflect: string} [SCHEMA]`,
		`a.yml:14:24: error: edge gather -> repot: to: there is no node "repot" (defined: gather, input, alone, x.y) [UNKNOWN_EDGE_TARGET]`,
		`a.yml:15:5: error: node gather: 2 edges out of it have no condition, to repot, gather, and only one can be followed (give all of them but one a condition (when); what shall be done at once needs parallel: true) [AMBIGUOUS_EDGES]`,
		`a.yml:15:5: error: edge gather -> gather: leads from a node to itself and has no bound (add max_iterations) [SELF_LOOP]`,
		`a.yml:16:5: error: the ring alone -> x.y -> alone has no bound (give one of its edges max_iterations; a condition is not a bound) [UNBOUNDED_CYCLE]`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// One warning covers all unknown skills, because documents give the same few skills to
// many of their nodes. The tools of an unknown skill are not known, so filters are not
// checked.
func TestUnknownSkills(t *testing.T) {
	const doc = `id: a
name: A
entry: n1
nodes:
  n1: {name: N, instruction: I., skills: [%s], tools: {deny: [hub_write]}}
  n2: {name: N, instruction: I., skills: [%s]}
  n3: {name: N, instruction: I., skills: [own]}
edges: [{from: n1, to: n2}, {from: n2, to: n3}]
skills: {own: {instruction: Be brief.}}
`
	const (
		one  = " (register a Go function of this name, or some that begin with it and _, or give the skill an instruction) [UNKNOWN_SKILL]"
		many = " (register Go functions of these names, or that begin with them and _, or give the skills instructions) [UNKNOWN_SKILL]"
	)
	for _, tt := range []struct{ n1, n2, want string }{
		{"own, hub", "", `a.yml:5:48: warning: node n1: there is no skill "hub"` + one},
		{"hub", "hub, chat", `a.yml:5:43: warning: nodes n1, n2: there are no skills "hub", "chat"; they have no others, so the run fails when they are reached` + many},
		{"hub, own", "chat", `a.yml:5:43: warning: nodes n1, n2: there are no skills "hub", "chat"; n2 has no other, so the run fails when it is reached` + many},
		{"a, b, c, d, e, f, g, h", "i, j, k, l", `a.yml:5:43: warning: nodes n1, n2: there are no skills "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 2 more; they have no others, so the run fails when they are reached` + many},
		{"mial", "", `a.yml:5:43: warning: node n1: there is no skill "mial"; it has no other, so the run fails when it is reached ("mial": did you mean "mail"?) [UNKNOWN_SKILL]`},
		{"own, mail", "", `a.yml:5:70: warning: node n1: no skill of the node has the tool "hub_write" that its filter names [IGNORED]`},
	} {
		e := wavefold.NewEngine(std.Kinds()...)
		e.AddTool("mail", func() string { return "sent" })
		w, _ := e.Parse("a.yml", fmt.Appendf(nil, doc, tt.n1, tt.n2))
		if _, ds := e.Compile(w, false); ds.Error() != tt.want {
			t.Errorf("%s; %s: got\n%v\nwant\n%s", tt.n1, tt.n2, ds, tt.want)
		}
	}
}
