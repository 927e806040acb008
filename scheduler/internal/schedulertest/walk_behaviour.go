package schedulertest

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// walkSeen returns everything that a visit may depend on, in one line.
func walkSeen(in core.Input) string {
	fields := value.NewObject(1)
	view := in.Shared().View
	for k, v := range view.All() {
		if k != core.ContextField {
			fields.Set(k, v)
		}
	}
	c, _ := view.Get(core.ContextField)
	return fmt.Sprintf("view=%s context=%s told=%s", value.JSON(fields), contextText(c), briefingText(in.Shared().Briefing))
}

// briefingText formats the briefing of a node, without notes: the messages of failures are up
// to the engine.
func briefingText(b *core.Briefing) string {
	if b == nil {
		return "nothing"
	}
	text := fmt.Sprintf("%s %d:", b.Fidelity, b.Earlier)
	for _, s := range b.Stages {
		text += fmt.Sprintf(" %s#%d %s %q -%d", s.Node, s.Visit, s.Status, brief(s.Output), s.Left)
		for _, br := range s.Branches {
			text += fmt.Sprintf(" [%s#%d %s %q -%d]", br.Node, br.Visit, br.Status, brief(br.Output), br.Left)
		}
	}
	return text
}

// brief returns an output with its middle left out.
func brief(s string) string {
	if r := []rune(s); len(r) > 60 {
		return fmt.Sprintf("%s (%d more) %s", string(r[:20]), len(r)-40, string(r[len(r)-20:]))
	}
	return s
}

// longOutput is an output of which only the end fits into a briefing. It is ten characters
// below the limit, not ten bytes.
var longOutput = func() string {
	var b strings.Builder
	for i := 0; utf8.RuneCountInString(b.String()) < 1990; i++ {
		fmt.Fprintf(&b, "%05d é ", i)
	}
	return string([]rune(b.String())[:1990])
}()

// contextText formats a context with sorted keys. It omits the count of visits, and empty
// values that the engine maintains, because the rules do not specify when these appear.
func contextText(v any) string {
	o, ok := v.(*value.Object)
	if !ok {
		return value.JSON(v)
	}
	out := value.NewObject(o.Len())
	for k, v := range o.All() {
		engine := k == core.ContextFailureClass || k == core.ContextPreferredLabel
		if k != core.ContextVisitCount && !(engine && v == "") {
			out.Set(k, v)
		}
	}
	return sortedJSON(out)
}

// visit answers an attempt of a visit. As in a dag, the answer is derived from a digest of
// the whole input.
func (b *behaviour) visit(h uint64, attempt int) (core.Result, error) {
	r := b.answer(draw(h, "result"), attempt)
	roll := int(draw(h, "end") % 100)
	up := func(percent int) bool { roll -= percent; return roll < 0 }
	switch {
	case up(b.n.Fail):
		b.fail(draw(h, "fail"), &r)
	case up(b.n.Error):
		return r, b.err(draw(h, "error"), attempt) // a result in addition to an error must be dropped
	case up(b.n.Again):
		r.Status, r.Note = core.Retry, b.message(draw(h, "message"), attempt)
	case up(b.n.Flaky):
		switch {
		case attempt > 1+int(draw(h, "attempts")%3):
		case chance(draw(h, "flaky"), 50):
			r.Status = core.Retry
		default:
			return r, fmt.Errorf("attempt %d: connection reset", attempt)
		}
	case up(b.n.Partial):
		r.Status = core.PartialSuccess
	case up(b.n.Skip):
		r.Status = core.Skipped
	}
	return r, nil
}

// answer returns the writes and the routing of an attempt.
func (b *behaviour) answer(h uint64, attempt int) core.Result {
	r := core.Result{Delta: b.delta(h), Routing: &core.Routing{}}
	if !chance(draw(h, "silent"), b.n.Silent) {
		k := draw(h, "key")
		r.Routing.Context = map[string]any{"try": int64(attempt), one3(k, "k0", "k1", "k2.x"): int64(k >> 8 % 4), "k3": one3(k>>16, "yes", "no", "")}
		if chance(draw(h, "score"), 30) {
			r.Routing.Context["score"] = int64(k >> 24 % 10)
		}
	}
	switch o := draw(h, "output"); o % 5 {
	case 0:
		r.Routing.Text = fmt.Sprintf("printed %d", o>>8%4)
	case 1:
		r.Routing.Text = longOutput + one3(o>>8, "end", " of a long output", "")
	case 2:
		r.EdgeOutput, r.HasEdgeOutput = value.ObjectOf("n", int64(o>>8%3)), true
	}
	out := b.g.out(b.n.ID)
	if chance(draw(h, "prefer"), b.n.Label) {
		r.Routing.PreferredLabel = restyle(draw(h, "style"), labelOf(out, draw(h, "label")))
	}
	if chance(draw(h, "suggest"), b.n.Suggest) {
		for i := range 1 + draw(h, "suggestions")%2 {
			to := b.g.Nodes[draw(h, fmt.Sprint("id", i))%uint64(len(b.g.Nodes))].ID
			if len(out) > 0 && chance(draw(h, fmt.Sprint("out", i)), 60) {
				to = out[draw(h, fmt.Sprint("edge", i))%uint64(len(out))].To
			}
			r.Routing.SuggestedNext = append(r.Routing.SuggestedNext, to)
		}
	}
	return r
}

func one3(h uint64, a, b, c string) string { return [...]string{a, b, c}[h%3] }

// words lists the words of labels.
var words = []string{"approve", "reject", "later", "10"}

// labelOf picks the label of an edge, or one that may not exist.
func labelOf(out []*Edge, h uint64) string {
	var labels []string
	for _, e := range out {
		if e.Label != "" {
			labels = append(labels, e.Label)
		}
	}
	if len(labels) == 0 || h%5 == 0 {
		return words[h>>8%uint64(len(words))]
	}
	return labels[h>>8%uint64(len(labels))]
}

// restyle writes a label in another style; most styles denote the same edge.
func restyle(h uint64, label string) string {
	switch h % 8 {
	case 0:
		return strings.ToUpper(label)
	case 1:
		return "[Q] " + label
	case 2:
		return " q) " + label
	case 3:
		return "Q - " + label
	case 4:
		return "qq) " + label // a prefix of two characters is not an accelerator
	}
	return label
}

// fail gives the result the status fail.
func (b *behaviour) fail(h uint64, r *core.Result) {
	r.Status, r.Note = core.Fail, b.message(draw(h, "message"), int(h>>8%100))
	r.Routing.Signature = signature(h)
	if b.n.Role == core.RoleHuman {
		r.Routing.PreferredLabel = "" // no person answered
	}
	switch {
	case chance(draw(h, "transient"), b.n.Transient):
		r.Routing.Category = core.TransientInfra
	default:
		r.Routing.Category = [...]core.Category{"", core.Deterministic, core.Structural, core.BudgetExhausted}[draw(h, "category")%4]
	}
}

// err returns an error. Its category follows from its message, or is explicit.
func (b *behaviour) err(h uint64, attempt int) error {
	text := b.message(draw(h, "message"), attempt)
	if chance(draw(h, "transient"), b.n.Transient) {
		if h%2 == 0 {
			return errors.New("connection reset by peer")
		}
		return core.Categorized(errors.New(text), core.TransientInfra)
	}
	switch draw(h, "flavour") % 6 {
	case 0:
		panic("wanted panic")
	case 1, 2:
		return core.Permanent(errors.New(text))
	case 3:
		return errors.New("scope violation: " + text)
	}
	return signedError{errors.New(text), signature(h)}
}

// hexOf returns digits without 0, because a message with 500 is transient.
func hexOf(h uint64, digits int) string {
	return strings.ReplaceAll(fmt.Sprintf("%016x", h)[16-digits:], "0", "f")
}

// signature returns the signature of a failure apart from its message, usually "".
func signature(h uint64) string {
	return [...]string{"", "", "", "a", "b"}[draw(h, "signature")%5]
}

// signedError is an error with a signature.
type signedError struct {
	error
	signature string
}

func (e signedError) FailureSignature() string { return e.signature }

// message formats a failure. A node fails with similar messages each time, with other
// numbers, and sometimes with a word that determines the category.
func (b *behaviour) message(h uint64, n int) string {
	about := draw(digest(b.g.Seed, b.n.ID), "message")
	if chance(h, 20) {
		about = h >> 8
	}
	word := ""
	if chance(about>>16, 30) {
		word = failureWords[about>>24%uint64(len(failureWords))].text + ": "
	}
	switch about % 5 {
	case 0:
		return fmt.Sprintf("%sRow %d broke: a%s", word, n, hexOf(h, 7))
	case 1:
		return fmt.Sprintf("%sbad value in column %d", word, n)
	case 2: // too long for a signature, and with an end that may differ
		return fmt.Sprintf("%sexit code 1\n%s\nFAIL case %s", word, strings.Repeat("ok case\n", 40), one3(h>>12, "x", "x", "y"))
	case 3:
		return fmt.Sprintf("%scannot open /tmp/tmp.%s%s", word, hexOf(h, 6), one3(h>>24, "qx", "zw", "uv"))
	default:
		return word + "no such thing"
	}
}
