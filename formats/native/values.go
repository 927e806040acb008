package native

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// conditionShape holds the source of an expression. Booleans and numbers are
// expressions, too, and need no quotes: `when: true`.
type conditionShape struct{ text *source.Text }

// DecodeValue decodes a scalar.
func (c *conditionShape) DecodeValue(v *source.Value) source.Diagnostics {
	text := source.At("", v.Pos)
	switch v.Kind {
	case source.StringValue:
		text.Value = v.Scalar.(string)
	case source.BoolValue, source.IntValue, source.FloatValue:
		text.Value = value.JSON(v.Scalar)
	default:
		ds := source.WrongType(v, "a condition")
		ds[0].WithHint("leave the key out if there is none")
		return ds
	}
	c.text = &text
	return nil
}

// isElse reports whether the condition is the word else.
func (c *conditionShape) isElse() bool {
	return c.text != nil && strings.TrimSpace(c.text.Value) == "else"
}

// textShape is a string that is not blank: a condition that is not an expression.
type textShape struct{ text *source.Text }

// DecodeValue decodes a string.
func (c *textShape) DecodeValue(v *source.Value) source.Diagnostics {
	text, ok := v.Scalar.(string)
	if !ok {
		ds := source.WrongType(v, "a string")
		if v.Kind == source.NullValue {
			ds[0].WithHint("leave the key out if there is no condition")
		}
		return ds
	}
	if strings.TrimSpace(text) == "" {
		var ds source.Diagnostics
		ds.Errorf(source.CodeBadValue, v.Pos, "the condition is empty").WithHint("leave the key out if there is none")
		return ds
	}
	c.text = &source.Text{Value: text, Pos: v.Pos}
	return nil
}

// mappingShape is a mapping whose keys the format does not define.
type mappingShape struct{ tree *source.Value }

// DecodeValue keeps the tree. A null counts as absent.
func (m *mappingShape) DecodeValue(v *source.Value) source.Diagnostics {
	switch v.Kind {
	case source.ObjectValue:
		m.tree = v
		return nil
	case source.NullValue:
		return nil
	default:
		return source.WrongType(v, "a mapping")
	}
}

// bodyShape is one id or a list of ids.
type bodyShape struct {
	ids    []source.Text
	isList bool
}

// DecodeValue decodes a string or a list of strings.
func (b *bodyShape) DecodeValue(v *source.Value) source.Diagnostics {
	switch v.Kind {
	case source.StringValue:
		b.ids = []source.Text{source.At(v.Scalar.(string), v.Pos)}
		return nil
	case source.ArrayValue:
		b.isList = true
		return source.Decode(v, &b.ids)
	default:
		return source.WrongType(v, "an id or a list of ids")
	}
}

// joinShape is the name of a join, or a mapping with the number of predecessors.
type joinShape struct {
	word source.Text
	keys joinKeysShape
	pos  source.Position
}

// joinWords are the joins without a number.
var joinWords = []string{core.JoinAll, core.JoinAllDone, core.JoinAny}

// parallelJoinShape is the join of the branches of a parallel node.
type parallelJoinShape struct{ joinShape }

// parallelJoinWords are the joins of branches without a number.
var parallelJoinWords = []string{core.JoinWaitAll, core.JoinFirstSuccess}

// DecodeValue decodes a string or a mapping.
func (j *joinShape) DecodeValue(v *source.Value) source.Diagnostics { return j.decode(v, joinWords) }

// DecodeValue decodes a string or a mapping.
func (j *parallelJoinShape) DecodeValue(v *source.Value) source.Diagnostics {
	return j.decode(v, parallelJoinWords)
}

// decode decodes one of the words, or a mapping with a number.
func (j *joinShape) decode(v *source.Value, words []string) source.Diagnostics {
	j.pos = v.Pos
	switch v.Kind {
	case source.NullValue:
		return nil
	case source.StringValue:
		return j.decodeWord(v, words)
	case source.ObjectValue:
		ds := source.Decode(v, &j.keys)
		for i := range ds {
			if ds[i].Code == source.CodeUnknownKey && v.Get("race") != nil && slices.Contains(words, core.JoinAll) {
				ds[i].WithHint("write race: true next to join")
			}
		}
		if both := j.keys.KOfN != nil && j.keys.Quorum != nil; both || len(v.Keys) == 0 {
			ds.Errorf(source.CodeMissingKey, v.Pos, "want one of k_of_n and quorum")
		}
		return ds
	}
	return source.WrongType(v, "a word or a mapping such as {k_of_n: 2}")
}

func (j *joinShape) decodeWord(v *source.Value, words []string) source.Diagnostics {
	word := v.Scalar.(string)
	if slices.Contains(words, word) {
		j.word = source.At(word, v.Pos)
		return nil
	}
	var ds source.Diagnostics
	d := ds.Errorf(source.CodeBadValue, v.Pos, "%q is none of %s, {k_of_n: 2}, {quorum: 0.5}", word, strings.Join(words, ", "))
	switch word {
	case core.JoinKOfN:
		d.WithHint("write {k_of_n: 2}")
	case core.JoinQuorum:
		d.WithHint("write {quorum: 0.5}")
	default:
		d.WithHint("%s", source.DidYouMean(word, words))
	}
	return ds
}

// join returns the join of a node, nil if the node sets neither join nor race.
func (j *joinShape) join(race bool) *core.Join {
	out := &core.Join{Policy: j.word, Count: j.keys.KOfN, Fraction: j.keys.Quorum, Race: race, Pos: j.pos}
	switch {
	case j.keys.KOfN != nil:
		out.Policy = source.At(core.JoinKOfN, j.pos)
	case j.keys.Quorum != nil:
		out.Policy = source.At(core.JoinQuorum, j.pos)
	case j.word.Value == "" && !race:
		return nil
	}
	return out
}

// These types have no DecodeValue method, so the decoder treats them as plain structs.
type (
	onErrorPlain     onErrorShape
	unitOnErrorPlain unitOnErrorShape
)

// DecodeValue decodes the mapping and warns about keys without effect under its policy.
func (o *onErrorShape) DecodeValue(v *source.Value) source.Diagnostics {
	ds := hintShorthand(v, source.Decode(v, (*onErrorPlain)(o)))
	if o.Policy.Value == "skip" || o.Policy.Value == "fail_run" {
		for _, k := range v.Keys {
			if k.Value != "policy" && slices.Contains(source.KeyNames(*o), k.Value) {
				ds.Warnf(source.CodeIgnored, k.Pos, "%s: this key has no effect under policy %s", k.Value, o.Policy.Value)
			}
		}
	}
	return ds
}

// DecodeValue decodes the mapping.
func (o *unitOnErrorShape) DecodeValue(v *source.Value) source.Diagnostics {
	return hintShorthand(v, source.Decode(v, (*unitOnErrorPlain)(o)))
}

// hintShorthand adds a hint to the error about a string in place of the mapping.
func hintShorthand(v *source.Value, ds source.Diagnostics) source.Diagnostics {
	switch policy, _ := v.Scalar.(string); policy {
	case "retry":
		ds[0].WithHint("write {policy: retry, attempts: 3}")
	case "skip", "fail_run":
		ds[0].WithHint("write {policy: %s}", policy)
	}
	return ds
}

// DecodeSubject names the node by its id.
func (*nodeHead) DecodeSubject(v *source.Value) string { return named("node", v, "id") }

// DecodeSubject names the pipeline by its id.
func (*pipelineShape) DecodeSubject(v *source.Value) string { return named("pipeline", v, "id") }

// DecodeSubject names the loop by its id.
func (*loopShape) DecodeSubject(v *source.Value) string { return named("loop", v, "id") }

// DecodeSubject names the edge by its ends.
func (*edgeShape) DecodeSubject(v *source.Value) string { return edgeSubject(v) }

// DecodeSubject names the edge by its ends.
func (*edgeEnds) DecodeSubject(v *source.Value) string { return edgeSubject(v) }

// DecodeSubject names the loop by its node.
func (*loopUntilShape) DecodeSubject(v *source.Value) string { return named("loop_until", v, "node") }

func edgeSubject(v *source.Value) string {
	from, to := wordMember(v, "from"), wordMember(v, "to")
	if from == "" || to == "" {
		return ""
	}
	return "edge " + from + " -> " + to
}

func named(what string, v *source.Value, key string) string {
	if id := wordMember(v, key); id != "" {
		return what + " " + id
	}
	return ""
}

// wordMember returns a member that is a short string on one line, "" otherwise.
func wordMember(v *source.Value, key string) string {
	s, _ := v.Get(key).Plain().(string)
	if len(s) > 80 || strings.ContainsAny(s, " \t\r\n") {
		return ""
	}
	return s
}
