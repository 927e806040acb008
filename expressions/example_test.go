package expressions_test

import (
	"fmt"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

func ExampleCompile() {
	p, findings := expressions.Compile(source.Text{Value: `length($.findings) > 0 && $.risk_score > 0.5`}, expressions.Scope{}, "")
	if p == nil {
		fmt.Println(findings)
		return
	}
	env := expressions.MapEnv{State: value.ObjectOf("findings", []any{"x", "y"}, "risk_score", 0.7)}.Bind(p)
	fmt.Println(p.Test(env), value.JSON(p.Explain(env)))
	// Output: true {"length($.findings)":2,"$.risk_score":0.7}
}

func ExampleCompile_error() {
	src := source.At(`$.risk_score >> 1`, source.Position{File: "flow.yaml", Line: 7, Column: 13})
	_, findings := expressions.Compile(src, expressions.Scope{}, "edge a -> b: when")
	fmt.Println(findings)
	// Output: flow.yaml:7:27: error: edge a -> b: when: expected a value, found ">" [EXPR_SYNTAX]
}
