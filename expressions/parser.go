package expressions

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Parse parses an expression. The error is a *SyntaxError.
func Parse(src string) (*Tree, error) { return parse(src, false) }

// ParseFilter parses an expression in which @ means $item, as in the filters of
// JSONPath.
func ParseFilter(src string) (*Tree, error) { return parse(src, true) }

func parse(src string, filter bool) (*Tree, error) {
	if len(src) > MaxLength {
		return nil, &SyntaxError{Offset: MaxLength, Code: source.CodeLimit,
			Message: fmt.Sprintf("the expression is longer than %d bytes", MaxLength)}
	}
	if i := invalidUTF8(src); i >= 0 {
		return nil, syntaxError(i, "the expression is not valid UTF-8", "")
	}
	p := parser{scanner: scanner{src: src, filter: filter}}
	p.advance()
	if p.tok.kind == tokEnd {
		p.scanner.fail(0, "the expression is empty", "")
	}
	root := p.expression()
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return NewTree(src, root)
}

func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// parser is a recursive descent parser. After the first error every token it reads is
// tokEnd, so that it stops soon, and the nodes it built are discarded.
type parser struct {
	scanner
	tok   token
	last  int // end of the token before tok
	depth int
}

// dummy replaces a node that could not be parsed.
var dummy = &Literal{}

func (p *parser) advance() {
	p.last = p.tok.end
	p.tok = p.next()
	if p.err != nil {
		p.tok.kind = tokEnd
	}
}

// fail records the first error and stops the parser.
func (p *parser) fail(offset int, message, hint string) Node {
	p.scanner.fail(offset, message, hint)
	p.tok.kind = tokEnd
	return dummy
}

// failName is fail with the code for an unknown name.
func (p *parser) failName(offset int, message, hint string) Node {
	first := p.err == nil
	p.fail(offset, message, hint)
	if first {
		p.err.Code = source.CodeExprName
	}
	return dummy
}

// word returns the source of the current token.
func (p *parser) word() string { return p.src[p.tok.start:p.tok.end] }

// infix returns the binary operator at the current token.
func (p *parser) infix() (Op, bool) {
	switch p.tok.kind {
	case tokOp:
		return p.tok.op, true
	case tokWord:
		return wordOp(p.word())
	}
	return 0, false
}

// accept consumes an operator with the given precedence and returns it with its offset.
func (p *parser) accept(prec int) (op Op, at int, ok bool) {
	op, ok = p.infix()
	if !ok || op.prec() != prec {
		return 0, 0, false
	}
	at = p.tok.start
	p.advance()
	return op, at, true
}

func (p *parser) expression() Node { return p.chain(Or) }

// chain parses terms joined by one operator: Or, or And, which binds tighter.
func (p *parser) chain(op Op) Node {
	from := p.tok.start
	first := p.term(op)
	var terms []Node
	for {
		if _, _, ok := p.accept(op.prec()); !ok {
			break
		}
		if terms == nil {
			terms = append(make([]Node, 0, 2), first)
		}
		terms = append(terms, p.term(op))
	}
	if terms == nil {
		return first
	}
	return &Logic{Span: Span{From: from, To: p.last}, Op: op, Terms: terms}
}

func (p *parser) term(op Op) Node {
	if op == Or {
		return p.chain(And)
	}
	return p.comparison()
}

func (p *parser) comparison() Node {
	from := p.tok.start
	x := p.arithmetic(precSum)
	op, at, ok := p.accept(precCompare)
	if !ok {
		return x
	}
	n := &Binary{Op: op, At: at, X: x, Y: p.arithmetic(precSum)}
	n.Span = Span{From: from, To: p.last}
	if next, ok := p.infix(); ok && next.prec() == precCompare {
		return p.fail(p.tok.start, "comparisons cannot be chained", "join them with && or use parentheses")
	}
	return n
}

// arithmetic parses operands joined by left-associative operators of one precedence.
func (p *parser) arithmetic(prec int) Node {
	from := p.tok.start
	x := p.factor(prec)
	for {
		op, at, ok := p.accept(prec)
		if !ok {
			return x
		}
		n := &Binary{Op: op, At: at, X: x, Y: p.factor(prec)}
		n.Span = Span{From: from, To: p.last}
		x = n
	}
}

// factor parses an operand of the given precedence, which is an expression of the next
// higher one.
func (p *parser) factor(prec int) Node {
	if prec == precSum {
		return p.arithmetic(precProduct)
	}
	return p.prefix()
}

// prefix parses an operand with its negations. All nesting passes through this method,
// so it enforces MaxDepth.
func (p *parser) prefix() Node {
	if p.depth++; p.depth > MaxDepth+1 {
		if p.err == nil {
			p.err = tooDeep(p.tok.start)
		}
		p.tok.kind = tokEnd
	}
	defer func() { p.depth-- }()
	if p.tok.kind != tokNot {
		return p.operand()
	}
	from := p.tok.start
	p.advance()
	n := &Not{X: p.prefix()}
	n.Span = Span{From: from, To: p.last}
	return n
}

func (p *parser) operand() Node {
	switch p.tok.kind {
	case tokNumber:
		return p.number(p.tok.start)
	case tokString:
		s := p.word()
		return p.literal(p.tok.start, s[1:len(s)-1])
	case tokRoot:
		return p.path()
	case tokWord:
		return p.name()
	case tokOpen:
		return p.group()
	case tokOp:
		if next := p.tok.end; p.tok.op == Subtract && next < len(p.src) && isDigit(p.src[next]) {
			from := p.tok.start
			p.advance()
			return p.number(from)
		}
	}
	return p.unexpected()
}

// unexpected reports a token that cannot begin a value.
func (p *parser) unexpected() Node {
	switch p.tok.kind {
	case tokEnd:
		return p.fail(p.tok.start, "expected a value at the end", "")
	case tokOp:
		hint := ""
		if p.tok.op == Subtract {
			hint = "a minus sign must be directly before a number"
		}
		return p.fail(p.tok.start, "expected a value, found "+quoteCode(p.word()), hint)
	case tokDot:
		return p.fail(p.tok.start, `expected a value, found "."`, "write 0.5, or $.name for a field")
	}
	return p.fail(p.tok.start, "expected a value, found "+quoteCode(p.word()), "")
}

// literal returns a literal that starts at from and ends with the current token, and
// consumes the token.
func (p *parser) literal(from int, v any) Node {
	n := &Literal{Span: Span{From: from, To: p.tok.end}, Value: v}
	p.advance()
	return n
}

func (p *parser) number(from int) Node {
	v, err := value.ParseNumber(p.src[from:p.tok.end])
	if err != nil {
		return p.fail(from, err.Error(), "")
	}
	return p.literal(from, v)
}

func (p *parser) group() Node {
	open := p.tok.start
	p.advance()
	if p.tok.kind == tokClose {
		return p.fail(p.tok.start, "expected a value between the parentheses", "")
	}
	n := p.expression()
	p.closing(open)
	return n
}

// closing consumes the parenthesis that closes the one at open.
func (p *parser) closing(open int) {
	switch p.tok.kind {
	case tokClose:
		p.advance()
	case tokEnd:
		p.fail(open, `"(" is never closed`, "")
	default:
		p.leftover()
	}
}

// name parses an operand that begins with a word: a literal, a root or a call.
func (p *parser) name() Node {
	word, from := p.word(), p.tok.start
	switch word {
	case "true":
		return p.literal(from, true)
	case "false":
		return p.literal(from, false)
	case "null":
		return p.literal(from, nil)
	}
	if root, ok := WordRoot(word); ok {
		n := &Path{Span: Span{From: from, To: p.tok.end}, Root: root}
		p.advance()
		return n
	}
	p.advance()
	if p.err != nil {
		return dummy
	}
	f, known := funcOf(word)
	if p.tok.kind != tokOpen {
		return p.unknownWord(word, from, known)
	}
	if !known {
		return p.failName(from, "unknown function "+quoteCode(word), source.DidYouMean(word, FuncNames()))
	}
	return p.call(f, from)
}

// unknownWord reports a word that has no meaning on its own.
func (p *parser) unknownWord(word string, from int, isFunc bool) Node {
	hint := "write $." + word + " for a field, or put a string in quotes"
	switch strings.ToLower(word) {
	case "true", "false", "null":
		hint = "write " + strings.ToLower(word)
	case "nil", "none", "undefined":
		hint = "write null"
	case "not":
		hint = "write !"
	case "in", "contains", "matches":
		hint = word + " is between two values"
	}
	if isFunc {
		hint = "call it as " + word + "(...), or write $." + word + " for a field"
	}
	return p.failName(from, "unknown word "+quoteCode(word), hint)
}

func (p *parser) call(f Func, from int) Node {
	open := p.tok.start
	p.advance()
	n := &Call{Func: f}
	if p.tok.kind != tokClose {
		n.Args = append(n.Args, p.expression())
		for p.tok.kind == tokComma {
			p.advance()
			n.Args = append(n.Args, p.expression())
		}
	}
	p.closing(open)
	n.Span = Span{From: from, To: p.last}
	return n
}

// finish reports any tokens left after the expression.
func (p *parser) finish() {
	if p.err == nil && p.tok.kind != tokEnd {
		p.leftover()
	}
}

// leftover reports a token that follows a complete expression.
func (p *parser) leftover() {
	word := p.word()
	switch p.tok.kind {
	case tokClose:
		p.fail(p.tok.start, `")" closes nothing`, "")
	case tokComma:
		p.fail(p.tok.start, `"," is outside of a call`, "")
	case tokBracket:
		p.fail(p.tok.start, "unexpected "+quoteCode(word), "subscripts follow a path directly: $.list[0]")
	case tokNot:
		p.fail(p.tok.start, `unexpected "!"`, "write != to compare")
	case tokWord:
		hint := ""
		switch strings.ToLower(word) {
		case "and":
			hint = "write &&"
		case "or":
			hint = "write ||"
		case "is", "eq", "equals":
			hint = "write =="
		}
		p.fail(p.tok.start, "unexpected word "+quoteCode(word), hint)
	default:
		p.fail(p.tok.start, "unexpected "+quoteCode(word)+" after the end of the expression", "join conditions with && or ||")
	}
}
