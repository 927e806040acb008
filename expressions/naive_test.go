package expressions

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// naive evaluates a tree by walking it in the simplest way: it converts values to plain
// ones first, computes integers with math/big and compiles nothing. It is the oracle
// for the compiled form.
type naive struct {
	env   MapEnv
	state *value.Object // plain
}

func newNaive(env MapEnv) *naive {
	env.Item = canonical(env.Item)
	env.Inputs = plainObject(env.Inputs)
	return &naive{env: env, state: plainObject(env.State)}
}

func plainObject(o *value.Object) *value.Object {
	out := value.NewObject(o.Len())
	for k, v := range o.All() {
		if c, err := value.Canonical(v); err == nil {
			out.Set(k, c)
		}
	}
	return out
}

func (e *naive) eval(n Node) any {
	switch n := n.(type) {
	case *Literal:
		return n.Value
	case *Path:
		return e.path(n)
	case *Not:
		return !naiveTruth(e.eval(n.X))
	case *Logic:
		for _, t := range n.Terms {
			if naiveTruth(e.eval(t)) == (n.Op == Or) {
				return n.Op == Or
			}
		}
		return n.Op == And
	case *Binary:
		return e.binary(n.Op, e.eval(n.X), e.eval(n.Y))
	case *Call:
		args := make([]any, len(n.Args))
		for i, a := range n.Args {
			args[i] = e.eval(a)
		}
		return naiveCall(n.Func, args)
	}
	panic("unknown node")
}

func naiveTruth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return len(v) > 0
	case int64:
		return v != 0
	case float64:
		return v != 0
	}
	return !value.IsMissing(v)
}

func (e *naive) path(p *Path) any {
	var v any
	steps := p.Steps
	switch p.Root {
	case RootState:
		v, steps = find(e.state, steps[0].Name), steps[1:]
	case RootInput:
		v, steps = find(e.env.Inputs, steps[0].Name), steps[1:]
	case RootItem:
		v = e.env.Item
		if v == nil && e.env.Index == nil {
			v = value.Missing
		}
	case RootIndex:
		if v = e.env.Index; v == nil {
			v = value.Missing
		}
	case RootNodes:
		v, steps = e.node(steps), steps[2:]
	default:
		var ok bool
		if v, ok = e.env.Extras[p.Root]; !ok {
			v = value.Missing
		}
	}
	for _, s := range steps {
		v = naiveStep(v, s)
	}
	return v
}

func (e *naive) node(steps []Step) any {
	if e.env.Nodes == nil {
		return value.Missing
	}
	status, output, ok := e.env.Nodes(steps[0].Name)
	switch {
	case !ok:
		return value.Missing
	case steps[1].Name == "status":
		return status
	}
	return output
}

func find(o *value.Object, name string) any {
	for k, v := range o.All() {
		if k == name {
			return v
		}
	}
	return value.Missing
}

func naiveStep(v any, s Step) any {
	switch v := v.(type) {
	case *value.Object:
		if !s.IsIndex {
			return find(v, s.Name)
		}
	case []any:
		for i, x := range v {
			if s.IsIndex && (int64(i) == s.Index || int64(i-len(v)) == s.Index) {
				return x
			}
		}
	}
	return value.Missing
}

func (e *naive) binary(op Op, x, y any) any {
	switch op {
	case Equal:
		return naiveEqual(x, y)
	case NotEqual:
		return !(value.IsMissing(x) && value.IsMissing(y)) && !naiveEqual(x, y)
	case In:
		return naiveHolds(y, x)
	case Contains:
		return naiveHolds(x, y)
	case Matches:
		s, ok := x.(string)
		return ok && regexp.MustCompile(y.(string)).MatchString(s)
	case Less, LessEqual, Greater, GreaterEqual:
		return naiveOrder(op, x, y)
	}
	return naiveArithmetic(op, x, y)
}

func naiveEqual(x, y any) bool {
	if value.IsMissing(x) || value.IsMissing(y) {
		return false
	}
	return value.Equal(x, y)
}

func naiveHolds(container, e any) bool {
	switch c := container.(type) {
	case []any:
		for _, x := range c {
			if naiveEqual(x, e) {
				return true
			}
		}
	case string:
		s, ok := e.(string)
		return ok && strings.Contains(c, s)
	case *value.Object:
		s, ok := e.(string)
		return ok && !value.IsMissing(find(c, s))
	}
	return false
}

// rational returns a number as an exact rational.
func rational(v any) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	}
	return nil
}

func naiveOrder(op Op, x, y any) bool {
	c := 0
	a, aok := x.(string)
	b, bok := y.(string)
	p, q := rational(x), rational(y)
	switch {
	case aok && bok:
		c = strings.Compare(a, b)
	case p != nil && q != nil:
		c = p.Cmp(q)
	default:
		return false
	}
	switch op {
	case Less:
		return c < 0
	case LessEqual:
		return c <= 0
	case Greater:
		return c > 0
	}
	return c >= 0
}

func naiveArithmetic(op Op, x, y any) any {
	p, q := rational(x), rational(y)
	if p == nil || q == nil {
		return value.Missing
	}
	if _, ok := x.(int64); ok {
		if _, ok := y.(int64); ok {
			return naiveWhole(op, p, q)
		}
	}
	a, b := naiveFloat(x), naiveFloat(y)
	switch op {
	case Add:
		return finite(a + b)
	case Subtract:
		return finite(a - b)
	case Multiply:
		return finite(a * b)
	case Divide:
		if b == 0 {
			return value.Missing
		}
		return finite(a / b)
	}
	return finite(math.Mod(a, b))
}

func naiveFloat(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v.(float64)
}

func finite(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Missing
	}
	return f
}

func naiveWhole(op Op, p, q *big.Rat) any {
	r := new(big.Rat)
	switch op {
	case Add:
		r.Add(p, q)
	case Subtract:
		r.Sub(p, q)
	case Multiply:
		r.Mul(p, q)
	case Divide, Remainder:
		if q.Sign() == 0 {
			return value.Missing
		}
		r.Quo(p, q)
		if op == Remainder {
			return new(big.Int).Rem(p.Num(), q.Num()).Int64()
		}
		if !r.IsInt() {
			a, b := p.Num().Int64(), q.Num().Int64()
			return float64(a) / float64(b)
		}
	}
	if !r.Num().IsInt64() {
		return value.Missing
	}
	return r.Num().Int64()
}

func naiveCall(f Func, args []any) any {
	x := args[0]
	s, isText := x.(string)
	switch f {
	case FuncLength:
		if a, ok := x.([]any); ok {
			return int64(len(a))
		}
		return int64(len([]rune(s)))
	case FuncLower, FuncUpper, FuncTrim:
		if !isText {
			return value.Missing
		}
		return map[Func]func(string) string{FuncLower: strings.ToLower, FuncUpper: strings.ToUpper, FuncTrim: strings.TrimSpace}[f](s)
	case FuncNumber:
		return naiveNumber(x)
	case FuncString:
		if isText || value.IsMissing(x) {
			return x
		}
		return value.JSON(x)
	case FuncAbs:
		if r := rational(x); r != nil && r.Sign() < 0 {
			return naiveArithmetic(Subtract, int64(0), x)
		} else if r == nil {
			return value.Missing
		}
		if f, ok := x.(float64); ok {
			return math.Abs(f) // -0.0
		}
		return x
	case FuncRound:
		return naiveRound(x)
	case FuncSubstr, FuncSplit, FuncReplace:
		return naiveString(f, args)
	case FuncConcat:
		return naiveConcat(args)
	case FuncCoalesce:
		for _, a := range args {
			if x = a; a != nil && !value.IsMissing(a) {
				break
			}
		}
		return x
	}
	return naiveReduce(f, args)
}

// naiveString evaluates substr, split and replace.
func naiveString(f Func, args []any) any {
	s, ok := args[0].(string)
	if !ok {
		return value.Missing
	}
	if f == FuncSubstr {
		return naiveSubstr(s, args[1:])
	}
	a, ok := args[1].(string)
	if !ok {
		return value.Missing
	}
	if f == FuncReplace {
		by, ok := args[2].(string)
		if !ok {
			return value.Missing
		}
		if a == "" {
			return s
		}
		return strings.Join(strings.Split(s, a), by)
	}
	i := naiveInteger(args[2])
	if i == nil || a == "" {
		return value.Missing
	}
	parts := strings.Split(s, a)
	for n, p := range parts {
		if i.Cmp(big.NewInt(int64(n))) == 0 || i.Cmp(big.NewInt(int64(n-len(parts)))) == 0 {
			return p
		}
	}
	return value.Missing
}

// naiveSubstr returns the characters whose indexes are in the range.
func naiveSubstr(s string, args []any) any {
	var chars []string
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		chars, s = append(chars, s[:n]), s[n:]
	}
	from := naiveInteger(args[0])
	if from == nil {
		return value.Missing
	}
	if from.Sign() < 0 {
		from.Add(from, big.NewInt(int64(len(chars))))
	}
	end := new(big.Int).Lsh(big.NewInt(1), 80)
	if len(args) == 2 {
		length := naiveInteger(args[1])
		if length == nil || length.Sign() < 0 {
			return value.Missing
		}
		end.Add(from, length)
	}
	out := ""
	for i, c := range chars {
		if n := big.NewInt(int64(i)); n.Cmp(from) >= 0 && n.Cmp(end) < 0 {
			out += c
		}
	}
	return out
}

// naiveInteger returns a number as an integer if it is integral and fits in 64 bits.
func naiveInteger(v any) *big.Int {
	r := rational(v)
	if r == nil || !r.IsInt() || !r.Num().IsInt64() {
		return nil
	}
	return new(big.Int).Set(r.Num())
}

func naiveConcat(args []any) any {
	out := ""
	for _, a := range args {
		if a == nil || value.IsMissing(a) {
			return value.Missing
		}
		if s, ok := a.(string); ok {
			out += s
		} else {
			out += value.JSON(a)
		}
	}
	return out
}

var numeral = regexp.MustCompile(`^[ \t\r\n]*(-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)[ \t\r\n]*$`)

func naiveNumber(x any) any {
	if rational(x) != nil {
		return x
	}
	s, _ := x.(string)
	m := numeral.FindStringSubmatch(s)
	if m == nil {
		return value.Missing
	}
	v, err := value.ParseNumber(m[1])
	if err != nil {
		return value.Missing
	}
	return v
}

func naiveRound(x any) any {
	f, ok := x.(float64)
	if !ok {
		if rational(x) == nil {
			return value.Missing
		}
		return x
	}
	whole, part := math.Modf(f)
	if math.Abs(part) >= 0.5 {
		whole += math.Copysign(1, f)
	}
	i, _ := big.NewFloat(whole).Int(nil)
	if !i.IsInt64() {
		return value.Missing
	}
	return i.Int64()
}

func naiveReduce(f Func, args []any) any {
	var all []any
	for _, a := range args {
		if list, ok := a.([]any); ok {
			all = append(all, list...)
		} else {
			all = append(all, a)
		}
	}
	var out any = value.Missing
	if f == FuncSum {
		out = int64(0)
	}
	for i, v := range all {
		switch {
		case rational(v) == nil:
			return value.Missing
		case i == 0:
			out = v
		case f == FuncSum:
			if out = naiveArithmetic(Add, out, v); value.IsMissing(out) {
				return out
			}
		case f == FuncMin && naiveOrder(Less, v, out), f == FuncMax && naiveOrder(Greater, v, out):
			out = v
		}
	}
	return out
}
