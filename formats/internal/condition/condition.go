// Package condition parses the conditions on edges of walks whose edges are chosen by
// outcomes, such as outcome=fail && context.tries > 2. All formats that have such walks
// share it. docs/formats/dot.md describes the language.
package condition

import (
	"errors"
	"regexp"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// These keys of conditions refer to the node that just ran. contextPrefix begins the
// keys that refer to a value of the context.
const (
	keyOutcome        = "outcome"
	keyPreferredLabel = "preferred_label"
	contextPrefix     = core.ContextField + "."
)

// Parse parses the condition of an edge:
//
//	condition   = conjunction { "||" conjunction }
//	conjunction = negation { "&&" negation }
//	negation    = { "!" } clause
//	clause      = key [ ("=" | "!=") [ value ] | (">" | "<" | ">=" | "<=" | "contains" | "matches") value ]
//
// The tree is nil if the string is blank, and after an error.
func Parse(src source.Text) (*expressions.Tree, source.Diagnostics) {
	p := &conditionParser{src: src, scanner: conditionScanner{src: src.Value}}
	if len(src.Value) > expressions.MaxLength {
		p.ds.Errorf(source.CodeLimit, src.Pos, "condition: it is longer than %d bytes", expressions.MaxLength)
		return nil, p.ds
	}
	if p.advance(); p.tok.kind == clauseEnd {
		return nil, nil
	}
	root := p.chain(clauseOr)
	if p.tok.kind != clauseEnd {
		p.failLeftover()
	}
	if p.failed {
		return nil, p.ds
	}
	tree, err := expressions.NewTree(src.Value, root)
	if e, ok := errors.AsType[*expressions.SyntaxError](err); ok {
		p.ds.Errorf(e.Code, source.Inside(src, e.Offset), "condition: %s", e.Message).WithHint("%s", e.Hint)
	}
	return tree, p.ds
}

// conditionParser parses one condition. It stops at the first error: from then on, the
// current token is clauseEnd.
type conditionParser struct {
	src     source.Text
	scanner conditionScanner
	tok     clauseToken
	failed  bool
	ds      source.Diagnostics
}

func (p *conditionParser) advance() {
	if !p.failed {
		p.tok = p.scanner.next()
	}
}

func (p *conditionParser) fail(at int, message, hint string) {
	if p.failed {
		return
	}
	p.ds = nil // earlier findings no longer matter
	p.ds.Errorf(source.CodeConditionSyntax, source.Inside(p.src, at), "condition: %s", message).WithHint("%s", hint)
	p.failed = true
	p.tok = clauseToken{kind: clauseEnd, at: len(p.src.Value)}
}

// chain parses terms separated by ||, or, one level below, by &&.
func (p *conditionParser) chain(between clauseKind) expressions.Node {
	op, term := expressions.Or, func() expressions.Node { return p.chain(clauseAnd) }
	if between == clauseAnd {
		op, term = expressions.And, p.negation
	}
	from := p.tok.at
	terms := []expressions.Node{term()}
	for p.tok.kind == between {
		p.advance()
		terms = append(terms, term())
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return &expressions.Logic{Span: expressions.Span{From: from, To: terms[len(terms)-1].End()}, Op: op, Terms: terms}
}

func (p *conditionParser) negation() expressions.Node {
	var signs []int
	for p.tok.kind == clauseNot {
		signs = append(signs, p.tok.at)
		p.advance()
	}
	var n expressions.Node = p.clause()
	for i := len(signs) - 1; i >= 0; i-- {
		n = &expressions.Not{Span: expressions.Span{From: signs[i], To: n.End()}, X: n}
	}
	return n
}

func (p *conditionParser) clause() *expressions.Clause {
	key := p.tok
	n := &expressions.Clause{Span: expressions.Span{From: key.at, To: key.end()}, Key: key.text, IsTruthTest: true}
	if key.kind != clauseWord || strings.ContainsAny(key.text, "()") {
		p.failNoKey()
		return n
	}
	n.Paths = keyPaths(key)
	p.advance()
	op, ok := clauseOp(p.tok)
	if !ok {
		return n
	}
	n.IsTruthTest, n.Op, n.At, n.To = false, op, p.tok.at, p.tok.end()
	p.advance()
	p.value(n)
	return n
}

// clauseOp returns the operator that a token represents after a key.
func clauseOp(t clauseToken) (expressions.Op, bool) {
	if t.kind != clauseSign && t.kind != clauseWord {
		return 0, false
	}
	switch t.text {
	case "=":
		return expressions.Equal, true
	case "!=":
		return expressions.NotEqual, true
	case "<":
		return expressions.Less, true
	case "<=":
		return expressions.LessEqual, true
	case ">":
		return expressions.Greater, true
	case ">=":
		return expressions.GreaterEqual, true
	case "contains":
		return expressions.Contains, true
	case "matches":
		return expressions.Matches, true
	}
	return 0, false
}

// keyPaths returns the paths at which the value of a key is looked up.
func keyPaths(key clauseToken) []*expressions.Path {
	span := expressions.Span{From: key.at, To: key.end()}
	switch key.text {
	case keyOutcome:
		return []*expressions.Path{{Span: span, Root: expressions.RootOutcome}}
	case keyPreferredLabel:
		return []*expressions.Path{{Span: span, Root: expressions.RootPreferredLabel}}
	}
	inContext := func(name string) *expressions.Path {
		return &expressions.Path{Span: span, Root: expressions.RootState,
			Steps: []expressions.Step{{Name: core.ContextField, From: key.at}, {Name: name, From: key.at}}}
	}
	paths := []*expressions.Path{inContext(key.text)}
	if name, ok := strings.CutPrefix(key.text, contextPrefix); ok {
		paths = append(paths, inContext(name))
	}
	return paths
}

// value parses the right side of a clause.
func (p *conditionParser) value(n *expressions.Clause) {
	t := p.tok
	switch t.kind {
	case clauseWord, clauseQuoted:
		n.Value, n.To = t.unquoted(), t.end()
		p.advance()
	case clauseEnd, clauseAnd, clauseOr:
		if n.Op != expressions.Equal && n.Op != expressions.NotEqual {
			p.failNoValue(n)
		}
	default:
		p.failNoValue(n)
	}
	if p.failed {
		return
	}
	var rx *regexp.Regexp
	if n.Op == expressions.Matches {
		var err error
		if rx, err = regexp.Compile(n.Value); err != nil {
			p.fail(t.at, err.Error(), "")
			return
		}
	}
	if n.Key == keyOutcome {
		p.outcome(n, t, rx)
	}
}

// outcomes are the possible outcomes when an edge is chosen.
var outcomes = []string{core.Success.String(), core.PartialSuccess.String(), core.Fail.String(), core.Skipped.String()}

// outcome normalises the value of a clause about the outcome, and warns if the clause
// matches no possible outcome.
func (p *conditionParser) outcome(n *expressions.Clause, value clauseToken, rx *regexp.Regexp) {
	match := func(word string) bool { return word == n.Value }
	switch n.Op {
	case expressions.Equal, expressions.NotEqual:
		if s, ok := core.StatusOf(n.Value); ok {
			n.Value = s.String()
		}
	case expressions.Contains:
		match = func(word string) bool { return strings.Contains(word, n.Value) }
	case expressions.Matches:
		match = rx.MatchString
	default:
		p.warn(n.At, "an outcome is a word and has no order", "compare it with = or !=")
		return
	}
	for _, word := range outcomes {
		if match(word) {
			return
		}
	}
	hint := source.DidYouMean(n.Value, outcomes)
	switch {
	case n.Value == core.Retry.String():
		hint = "a node that asks for another attempt gets one or fails before an edge is chosen"
	case hint == "":
		hint = "the outcomes are " + strings.Join(outcomes, ", ") + "; a verdict of your own belongs into the preferred label or the context"
	}
	p.warn(value.at, "no outcome is "+quoted(n), hint)
}

// quoted formats the value of a clause for a message.
func quoted(n *expressions.Clause) string {
	switch text := `"` + n.Value + `"`; n.Op {
	case expressions.Contains, expressions.Matches:
		return "one that " + n.Op.String() + " " + text
	default:
		return text
	}
}

func (p *conditionParser) warn(at int, message, hint string) {
	p.ds.Warnf(source.CodeOrphanOutcome, source.Inside(p.src, at), "condition: %s", message).WithHint("%s", hint)
}

// failNoKey reports that the current token is not a key.
func (p *conditionParser) failNoKey() {
	t := p.tok
	switch t.kind {
	case clauseEnd:
		p.fail(t.at, "expected a key at the end", "write a key such as outcome or context.name")
	case clauseQuoted:
		p.fail(t.at, "expected a key, not a string in quotes", "write the key without quotes")
	case clauseWord:
		p.fail(t.at+strings.IndexAny(t.text, "()"), "conditions have no parentheses", "&& binds tighter than ||; two edges to the same node are an or, too")
	case clauseBad:
		p.failBadToken()
	default:
		p.fail(t.at, `expected a key before "`+t.text+`"`, "write a key such as outcome or context.name")
	}
}

// failNoValue reports that the current token is not a value.
func (p *conditionParser) failNoValue(n *expressions.Clause) {
	t := p.tok
	op := p.src.Value[n.At:n.To]
	hint := "put a string with special characters or blanks in quotes"
	switch {
	case t.kind == clauseBad:
		p.failBadToken()
		return
	case t.kind == clauseSign && t.text == "=" && op == "=":
		hint = `write one "="`
	case t.kind == clauseSign && op == "=" && t.at == n.To:
		hint = `write "` + t.text + `="`
	}
	p.fail(t.at, `expected a value after "`+op+`"`, hint)
}

// failBadToken reports a token that cannot be part of a condition.
func (p *conditionParser) failBadToken() {
	t := p.tok
	if t.text[0] == '"' {
		p.fail(t.at, "a string in quotes is never closed", "")
		return
	}
	p.fail(t.at, `unexpected "`+t.text+`"`, `write "`+t.text+t.text+`" to join conditions, or put the string in quotes`)
}

// failLeftover reports tokens after a complete condition.
func (p *conditionParser) failLeftover() {
	t := p.tok
	switch {
	case t.kind == clauseBad:
		p.failBadToken()
	case t.kind == clauseNot:
		p.fail(t.at, `unexpected "!"`, "write != to compare")
	case t.text == "and" || t.text == "AND":
		p.fail(t.at, `unexpected word "`+t.text+`"`, "write &&")
	case t.text == "or" || t.text == "OR":
		p.fail(t.at, `unexpected word "`+t.text+`"`, "write ||")
	case t.kind == clauseWord || t.kind == clauseQuoted:
		p.fail(t.at, "unexpected "+describeWord(t), "put a value of several words in quotes, join conditions with && or ||")
	default:
		p.fail(t.at, `unexpected "`+t.text+`"`, "join conditions with && or ||")
	}
}

func describeWord(t clauseToken) string {
	if t.kind == clauseQuoted {
		return t.text
	}
	return `word "` + t.text + `"`
}
