package dot

import (
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

func (l *loader) parallel(n *core.Node, s *settings) {
	n.Join = l.join(s)
	maxParallel := s.anyNumber("max_parallel")
	if maxParallel != nil && maxParallel.Value < 1 {
		l.ds.Warnf(source.CodeBadValue, maxParallel.Pos, "%s: max_parallel: %d branches at once are taken for 1", s.subject, maxParallel.Value)
		maxParallel.Value = 1
	}
	policy := s.word("error_policy", "continue", "fail_fast", "ignore")
	if maxParallel != nil || policy.Value != "" {
		n.Parallel = &core.Parallel{MaxParallel: maxParallel, ErrorPolicy: policy}
	}
}

var countedJoin = lazyregexp.New(`^(k_of_n|quorum)\s*\(\s*([^()]*?)\s*\)$`)

// join parses wait_all, first_success, k_of_n(2) or quorum(0.5).
func (l *loader) join(s *settings) *core.Join {
	t := s.text("join_policy")
	word := strings.TrimSpace(t.Value)
	switch word {
	case "":
		return nil
	case core.JoinWaitAll, core.JoinFirstSuccess:
		return core.JoinOf(source.At(word, t.Pos))
	}
	const want = "want wait_all, first_success, k_of_n(K) or quorum(F)"
	m := countedJoin.FindStringSubmatch(word)
	if m == nil {
		name, _, _ := strings.Cut(word, "(")
		l.badJoin(s, t, want).WithHint("%s", source.DidYouMean(strings.TrimSpace(name), []string{core.JoinWaitAll, core.JoinFirstSuccess, "k_of_n", "quorum"}))
		return nil
	}
	j := core.JoinOf(source.At(m[1], t.Pos))
	if m[1] == core.JoinKOfN {
		k, err := strconv.Atoi(m[2])
		if err != nil || k < 0 {
			l.badJoin(s, t, "want a whole number in the brackets").WithHint("such as k_of_n(2)")
			return nil
		}
		j.Count = &source.Int{Value: k, Pos: t.Pos}
		return j
	}
	f, err := strconv.ParseFloat(m[2], 64)
	if err != nil || !isNumber(m[2]) {
		l.badJoin(s, t, "want a number in the brackets").WithHint("such as quorum(0.5), which is half of the branches")
		return nil
	}
	j.Fraction = &source.Located[float64]{Value: f, Pos: t.Pos}
	return j
}

func (l *loader) badJoin(s *settings, t source.Text, want string) *source.Diagnostic {
	s.invalid = true
	return l.ds.Errorf(source.CodeJoin, t.Pos, "%s: join_policy: %s, found %s", s.subject, want, quote(t.Value))
}
