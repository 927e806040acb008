package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

const streamDoc = `name: s
state:
  schema:
    limit: {type: integer, default: 3}
    raw: {type: array}
    good: {type: array}
    out: {type: array}
    other: {type: array, default: []}
graph:
  nodes:
    - {id: load, kind: fn, reads: [limit], writes: [raw], stream: raw}
    - {id: clean, kind: fn, reads: [raw], see: [limit], writes: [good], stream: good, streams: [raw]}
    - {id: save, kind: fn, reads: [good], writes: [out], streams: [good]}
  edges:
    - {from: load, to: clean}
    - {from: clean, to: save}
`

func TestStreamsJoinMakerAndReader(t *testing.T) {
	p := mustCompile(t, streamDoc)
	save, _ := p.Node("save")
	clean, _ := p.Node("clean")
	names := func(reads []Read) string {
		var out []string
		for _, r := range reads {
			out = append(out, p.Schema.Fields[r.Field].Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(save.OwnReads()) + "|" + names(save.Reads) + "|" + names(clean.Reads); got != "good|good raw limit limit|raw limit limit" {
		t.Errorf("captured %s", got)
	}
	if got := strings.Join(save.Writes, " "); got != "out good raw" {
		t.Errorf("the end of the chain writes %s", got)
	}
	if got := strings.Join(clean.Writes, " "); got != "good" {
		t.Errorf("the middle of the chain writes %s", got)
	}
	d := p.Describe()
	for _, level := range d.Levels {
		for _, v := range level {
			for _, n := range v.Nodes {
				if n.ID == "save" && !slices.Equal(n.Reads, []string{"good"}) {
					t.Errorf("save is said to read %v", n.Reads)
				}
			}
		}
	}
}

func TestStreamFaults(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"read as a value":     {"writes: [out], streams: [good]", "writes: [out]", `flow.yaml:13:36: error: node save: reads: state field "good" is a stream, its rows are not in the state`},
		"a second reader":     {"streams: [good]}\n", "streams: [good]}\n    - {id: again, kind: fn, reads: [good], writes: [], streams: [good]}\n", `flow.yaml:14:37: error: node again: reads: the stream "good" has a reader already, node save (first at flow.yaml:13:36)`},
		"a second maker":      {"streams: [good]}\n", "streams: [good]}\n    - {id: more, kind: fn, writes: [raw], stream: raw}\n", `flow.yaml:14:51: error: node more: two nodes make a stream of field "raw"`},
		"a second writer":     {"writes: [out]", "writes: [out, raw]", `flow.yaml:13:57: error: node save: writes: field "raw" is a stream of node load, which alone writes it`},
		"a condition":         {"{from: clean, to: save}", `{from: clean, to: save, when: "length($.good) > 0"}`, `edge clean -> save: when: state field "good" is a stream`},
		"the wrong type":      {"raw: {type: array}", "raw: {type: object}", `node load: a stream has the type array, state field "raw" is declared as object`},
		"a merge":             {"raw: {type: array}", "raw: {type: array, merge: array_append}", `state field "raw" merges array_append; a stream has one writer`},
		"a default":           {"raw: {type: array}", "raw: {type: array, default: []}", `state field "raw" has a default and cannot be a stream`},
		"no order":            {"    - {from: load, to: clean}\n", "", `node clean: reads: the stream "raw" is made by load, which does not come before`},
		"a fan-out reads":     {"reads: [good]", "reads: [good], for_each: {source: $.other}", `node save: reads: state field "good" is a stream, which is read once, and this node runs many times`},
		"a fan-out makes":     {"reads: [limit], writes: [raw]", "for_each: {source: $.other}, writes: [raw]", `node load: a node with for_each, or of a pipeline or loop, cannot make a stream`},
		"a stage makes":       {"  edges:\n", "  pipelines: [{id: p, items: $.other, stages: [load]}]\n  edges:\n", `node load: a node with for_each, or of a pipeline or loop, cannot make a stream`},
		"items of a unit":     {"  edges:\n", "    - {id: stage, kind: fn, writes: []}\n  pipelines: [{id: p, items: $.good, stages: [stage]}]\n  edges:\n", `pipeline p: items: the stream "good" has a reader already, node save`},
		"a part of a row":     {"reads: [good], writes: [out], streams: [good]}\n  edges:\n", "writes: [out]}\n  pipelines: [{id: p, items: \"$.good[0]\", stages: [save]}]\n  edges:\n", `pipeline p: items: state field "good" is a stream, its rows are not in the state`},
		"no way to a unit":    {"reads: [good], writes: [out], streams: [good]}\n  edges:\n    - {from: load, to: clean}\n    - {from: clean, to: save}\n", "writes: [out]}\n  pipelines: [{id: p, items: $.good, stages: [save]}]\n  edges:\n    - {from: load, to: clean}\n    - {from: save, to: clean}\n", `pipeline p: items: the stream "good" is made by clean, which does not come before (add an edge from clean to save)`},
		"nobody reads it":     {"reads: [good], writes: [out], streams: [good]", "writes: [out]", `node clean: no node reads the stream "good", so no row is ever read`},
		"an arg reads":        {"reads: [good], writes: [out], streams: [good]", "args: {n: $.good}, writes: [out]", `node save: args.n: state field "good" is a stream`},
		"for_each of a part":  {"reads: [good], writes: [out], streams: [good]", "for_each: {source: \"$.good[0]\"}, writes: [out]", `node save: for_each.source: state field "good" is a stream`},
		"for_each and reads":  {"reads: [good], writes: [out], streams: [good]", "reads: [good], for_each: {source: $.good}, writes: [out]", `flow.yaml:13:36: error: node save: reads: state field "good" is a stream`},
		"for_each and args":   {"reads: [good], writes: [out], streams: [good]", "args: {all: $.good}, for_each: {source: $.good}, writes: [out]", `node save: args.all: state field "good" is a stream`},
		"a second for_each":   {"  edges:\n", "    - {id: each, kind: fn, for_each: {source: $.good}, writes: []}\n  edges:\n", `node each: for_each.source: the stream "good" has a reader already, node save`},
		"no way to for_each":  {"reads: [good], writes: [out], streams: [good]}\n  edges:\n    - {from: load, to: clean}\n    - {from: clean, to: save}\n", "for_each: {source: $.good}, writes: [out]}\n  edges:\n    - {from: load, to: clean}\n    - {from: save, to: clean}\n", `node save: for_each.source: the stream "good" is made by clean, which does not come before (add an edge from clean to save)`},
		"retry of a maker":    {"stream: raw", "stream: raw, on_error: {policy: retry, attempts: 3}", "flow.yaml:11:91: error: node load: on_error: the rows of a stream are made while its reader runs, not in an attempt of this node (put it on node save, whose next attempt begins with the first row again)"},
		"timeout of a maker":  {"stream: good", "stream: good, timeout: 5s", "node clean: timeout: the rows of a stream are made while its reader runs, not in an attempt of this node (put it on node save"},
		"retry, for_each":     {"streams: [raw]}\n    - {id: save, kind: fn, reads: [good], writes: [out], streams: [good]", "streams: [raw], on_error: {policy: retry, attempts: 2}}\n    - {id: save, kind: fn, for_each: {source: $.good}, writes: [out]", "node clean: on_error: the rows of a stream are made while its reader runs, not in an attempt of this node (leave it out: node save reads each row once; or leave stream: true out)"},
		"for_each writes one": {"reads: [good], writes: [out], streams: [good]", "for_each: {source: $.good}, writes: [out, good]", `node save: writes: field "good" is a stream of node clean, which alone writes it`},
	} {
		if !strings.Contains(streamDoc, c.old) {
			t.Fatalf("%s: nothing to replace", name)
		}
		_, ds := files{"flow.yaml": strings.Replace(streamDoc, c.old, c.new, 1)}.compile("flow.yaml", false)
		said := slices.DeleteFunc(slices.Clone(ds), func(d source.Diagnostic) bool { return d.Severity == source.Hint || d.Code == source.CodeItemsReplace })
		if got := ds.Error(); !strings.Contains(got, c.want) || len(said) != 1 {
			t.Errorf("%s: want %s\ngot %s", name, c.want, got)
		}
	}
}

func TestStreamsStayInTheirWorkflow(t *testing.T) {
	outer := `name: o
state: {schema: {raw: {type: array}}}
graph:
  nodes: [{id: w, kind: workflow, file: flow.yaml, writes: [raw]}]
`
	_, ds := files{"outer.yaml": outer, "flow.yaml": streamDoc}.compile("outer.yaml", false)
	if !strings.Contains(ds.Error(), `field "raw" of workflow "s" is a stream, which stays within its workflow`) {
		t.Error(ds)
	}
}
