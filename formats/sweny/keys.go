package sweny

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// effect says how a top-level key is treated that the format does not define, or that has
// no effect in this engine.
type effect uint8

const (
	keptOnly effect = iota // it is meant for other programs: it is kept and written back
	noEffect               // it requests something that this engine does not do, which is a warning
)

// topKey is a known top-level key that documentShape does not have. All of them are
// kept and written back.
type topKey struct {
	name   string
	effect effect
	hint   string // what to do instead of a key without effect
}

const (
	noScheduler   = "the program that starts the run decides when: cron, or a workflow of the CI"
	noSecrets     = "a run has the environment that it is started in"
	laterVersions = "it is a key of later versions of the format"
)

// otherKeys are the known top-level keys that have no effect; documentShape has the others.
// docs/formats/sweny.md contains the same list.
var (
	otherKeys = []topKey{
		{name: "author"}, {name: "category"}, {name: "color"}, {name: "icon"}, {name: "sample_output"}, {name: "sweny_version"},
		{name: "tags"}, {name: "variables"}, {name: "version"}, {name: "$schema"},
		{name: "budget", effect: noEffect, hint: "run it with --budget-tokens or --budget-cost"},
		{name: "permissions", effect: noEffect, hint: laterVersions}, {name: "safe_outputs", effect: noEffect, hint: laterVersions},
		{name: "context_mode", effect: noEffect, hint: laterVersions}, {name: "on_fail", effect: noEffect, hint: "run it with --fail-fast"},
		{name: "outputs", effect: noEffect, hint: laterVersions}, {name: "agent_env", effect: noEffect, hint: laterVersions},
		{name: "verify", effect: noEffect, hint: "say at nodes what to check, under eval"},
		{name: "schedule", effect: noEffect, hint: noScheduler}, {name: "trigger", effect: noEffect, hint: noScheduler},
		{name: "triggers", effect: noEffect, hint: noScheduler}, {name: "on", effect: noEffect, hint: noScheduler},
		{name: "env", effect: noEffect, hint: noSecrets}, {name: "secrets", effect: noEffect, hint: noSecrets},
		{name: "timeout", effect: noEffect, hint: "end the run from outside, or set WAVEFOLD_MODEL_TIMEOUT for calls of models"},
		{name: "mcp", effect: noEffect, hint: "servers of tools are not supported: register Go functions"},
	}
	// laterNodeKeys are keys of nodes in later versions of the format. Unknown keys of
	// nodes are errors, so these keys are rejected.
	laterNodeKeys = []string{"budget", "agent_env", "on_fail", "permissions", "outputs"}
)

func isLaterNodeKey(key string) bool { return slices.Contains(laterNodeKeys, key) }

// reportOtherKeys reports the top-level keys that have no effect. They are kept.
func (l *loader) reportOtherKeys(rest *source.Value) {
	for i, k := range rest.Keys {
		if k.Value == "spec_version" {
			if v := value.JSON(rest.Values[i].Plain()); strings.Trim(v, `"`) != "1" {
				l.ds.Warnf(source.CodeIgnored, k.Pos, "spec_version: the document is of version %s of the format and is read as one of version 1", v)
			}
			continue
		}
		at := slices.IndexFunc(otherKeys, func(o topKey) bool { return o.name == k.Value })
		switch {
		case at >= 0 && otherKeys[at].effect == keptOnly:
		case at >= 0:
			l.ds.Warnf(source.CodeIgnored, k.Pos, "%s: this key has no effect at the top of a document", k.Value).WithHint("%s", otherKeys[at].hint)
		case slices.Contains(source.KeyNames(nodeShape{}), k.Value):
			l.ds.Warnf(source.CodeIgnored, k.Pos, "%s: this key has no effect at the top of a document", k.Value).WithHint("it is a key of nodes")
		default:
			l.ds.Warnf(source.CodeIgnored, k.Pos, "key %q has no meaning and is kept as it is", k.Value).
				WithHint("%s", source.DidYouMean(k.Value, source.KeyNames(documentShape{}))).Severity = source.Hint
		}
	}
}

// blankKeys groups keys by the values they must have if they are set.
type blankKeys struct {
	texts    []string // must not be an empty string
	lists    []string // must be a list
	nonEmpty []string // must be a list with at least one element
	nonBlank []string // must be a list without empty strings
	mappings []string
}

var (
	documentBlanks = blankKeys{texts: []string{"model", "judge_model"}, lists: []string{"rules", "context"}, mappings: []string{"inputs", "skills"}}
	nodeBlanks     = blankKeys{texts: []string{"model", "judge_model", "eval_policy"}, lists: []string{"skills", "rules", "context", "eval", "disallowed_tools"},
		nonEmpty: []string{"eval"}, nonBlank: []string{"disallowed_tools"}}
	toolsBlanks = blankKeys{nonEmpty: []string{"allow", "deny"}, nonBlank: []string{"allow", "deny"}}
	retryBlanks = blankKeys{texts: []string{"instruction"}}
	checkBlanks = blankKeys{texts: []string{"model"}}
	ruleBlanks  = blankKeys{nonBlank: []string{"any_tool_called", "all_tools_called", "no_tool_called"}}
)

// reportBlanks reports keys of a mapping that are set to an empty value.
func (l *loader) reportBlanks(subject string, v *source.Value, keys blankKeys) {
	if v == nil {
		return
	}
	if subject != "" {
		subject += ": "
	}
	for i, k := range v.Keys {
		m := v.Values[i]
		is := func(list []string) bool { return slices.Contains(list, k.Value) }
		blank := func(t *source.Value) bool {
			s, ok := t.Scalar.(string)
			return ok && strings.TrimSpace(s) == ""
		}
		switch {
		case m.Lost:
		case is(keys.texts) && blank(m):
			l.ds.Errorf(source.CodeSchema, m.Pos, "%s%s: the string is empty", subject, k.Value).WithHint("leave the key out")
		case is(keys.lists) && m.Kind == source.NullValue:
			l.ds.Errorf(source.CodeSchema, m.Pos, "%s%s: want a list, found nothing", subject, k.Value).WithHint("leave the key out")
		case is(keys.mappings) && m.Kind == source.NullValue:
			l.ds.Errorf(source.CodeSchema, m.Pos, "%s%s: want a mapping, found nothing", subject, k.Value).WithHint("leave the key out")
		case is(keys.nonEmpty) && m.Kind == source.ArrayValue && len(m.Items) == 0:
			l.ds.Errorf(source.CodeSchema, m.Pos, "%s%s: the list is empty", subject, k.Value).WithHint("leave the key out")
		case is(keys.nonBlank):
			for _, t := range m.Items {
				if blank(t) {
					l.ds.Errorf(source.CodeSchema, t.Pos, "%s%s: a name is empty", subject, k.Value)
				}
			}
		}
	}
}

// reportNodeBlanks reports keys of a node that are set to an empty value.
func (l *loader) reportNodeBlanks(subject string, v *source.Value) {
	l.reportBlanks(subject, v, nodeBlanks)
	if t := v.Get("tools"); t != nil && (hasItems(t.Get("allow")) || hasItems(t.Get("deny"))) {
		l.reportBlanks(subject+": tools", t, toolsBlanks)
	}
	l.reportBlanks(subject+": retry", v.Get("retry"), retryBlanks)
	if eval := v.Get("eval"); eval != nil {
		for _, check := range eval.Items {
			l.reportBlanks(subject+": eval", check, checkBlanks)
			l.reportBlanks(subject+": eval", check.Get("rule"), ruleBlanks)
		}
	}
}

// hasItems reports whether a value is a list with at least one element.
func hasItems(v *source.Value) bool { return v != nil && len(v.Items) > 0 }
