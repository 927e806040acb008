package expressions_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/expressionstest"
	"github.com/wavefold/wavefold/expressions/jsonpath"
	"github.com/wavefold/wavefold/expressions/template"
)

const manual = "../docs/expressions.md"

func TestManualExpressions(t *testing.T) {
	env := expressionstest.Env(t, manual)
	for _, e := range expressionstest.Examples(t, manual, "expr") {
		p, ds := expressions.Compile(core.Text{Value: e.Text}, expressions.Scope{}, "")
		if words, ok := e.Fails(); ok || p == nil {
			if !ok || p != nil || !strings.Contains(ds.Error(), words) {
				t.Errorf("%s\n\tgot  %v\n\twant %s", e.Text, ds, e.Want)
			}
			continue
		}
		v := p.Value(env.Bind(p))
		got := core.JSON(v)
		if core.IsMissing(v) {
			got = "missing"
		}
		if got != e.Want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", e.Text, got, e.Want)
		}
	}
}

func TestManualPaths(t *testing.T) {
	env := expressionstest.Env(t, manual)
	for _, e := range expressionstest.Examples(t, manual, "jsonpath") {
		p, ds := jsonpath.Compile(core.Text{Value: e.Text})
		if words, ok := e.Fails(); ok || p == nil {
			if !ok || p != nil || !strings.Contains(ds.Error(), words) {
				t.Errorf("%s\n\tgot  %v\n\twant %s", e.Text, ds, e.Want)
			}
			continue
		}
		if got := core.JSON(p.All(env.State)); got != e.Want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", e.Text, got, e.Want)
		}
	}
}

func TestManualTemplates(t *testing.T) {
	env := template.Values{MapEnv: expressionstest.Env(t, manual)}
	for _, e := range expressionstest.Examples(t, manual, "template") {
		tmpl, ds := template.Compile(core.Text{Value: e.Text}, expressions.Scope{}, "")
		got, err := "", ds.Err(false)
		if tmpl != nil {
			got, err = tmpl.Render(env.On(tmpl))
		}
		if words, ok := e.Fails(); ok || err != nil {
			if !ok || err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s\n\tgot  %v\n\twant %s", e.Text, err, e.Want)
			}
			continue
		}
		if got != e.Want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", e.Text, got, e.Want)
		}
	}
}
