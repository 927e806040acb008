package plan

import (
	"math"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// Retry holds the retry settings of a node.
type Retry struct {
	Attempts int // including the first, at least 1
	// Factor is the ratio between a delay and the one before it. With 0 the delays grow linearly:
	// base, 2 base, 3 base.
	Factor float64
	Base   time.Duration
	Max    time.Duration // limits the delay, also after jitter; 0: no limit
	Cap    time.Duration // limits the delay before jitter; 0: no limit
	Jitter bool
	// Transient retries only failures of the category transient_infra.
	Transient bool
}

// once is the retry setting of a node without a retry policy.
var once = &Retry{Attempts: 1}

// Again reports whether a failure allows another attempt, if any attempt is left.
func (r *Retry) Again(fail *core.Failure) bool {
	return !fail.Permanent && fail.Class != core.ClassPanic && (!r.Transient || fail.InCategory() == core.TransientInfra)
}

// Delay returns the delay after the given failed attempt (counted from 1), before jitter: base*k or
// base*factor^(k-1), up to the limits.
func (r *Retry) Delay(attempt int) time.Duration {
	attempt = max(1, attempt)
	d := r.Base
	if r.Factor == 0 {
		d = times(d, float64(attempt))
	} else {
		for range min(attempt-1, 1000) { // after that many, it is the longest delay or 0
			d = times(d, r.Factor)
		}
	}
	for _, most := range [...]time.Duration{r.Max, r.Cap} {
		if most > 0 {
			d = min(d, most)
		}
	}
	return d
}

// times multiplies a delay. If the product overflows, it is the longest possible delay. Products
// with whole factors are exact.
func times(d time.Duration, factor float64) time.Duration {
	if whole := int64(factor); float64(whole) == factor && whole > 0 {
		if int64(d) > math.MaxInt64/whole {
			return math.MaxInt64
		}
		return d * time.Duration(whole)
	}
	if x := float64(d) * factor; x < math.MaxInt64 {
		return time.Duration(x)
	}
	return math.MaxInt64
}

const (
	// defaultBase is the delay before a second attempt if none is set.
	defaultBase = 100 * time.Millisecond
	// maxPresetDelay limits the delays of the presets.
	maxPresetDelay = 60 * time.Second
	// maxAttempts limits the number of attempts.
	maxAttempts = 20
)

// presets are the retry policies that every workflow can name.
var presets = []struct {
	name  string
	retry Retry
}{
	{"none", Retry{Attempts: 1, Base: defaultBase}},
	{"standard", Retry{Attempts: 5, Base: 200 * time.Millisecond, Factor: 2, Cap: maxPresetDelay, Jitter: true}},
	{"aggressive", Retry{Attempts: 5, Base: 500 * time.Millisecond, Factor: 2, Cap: maxPresetDelay, Jitter: true}},
	{"linear", Retry{Attempts: 3, Base: 500 * time.Millisecond, Factor: 1, Cap: maxPresetDelay, Jitter: true}},
	{"patient", Retry{Attempts: 3, Base: 2 * time.Second, Factor: 3, Cap: maxPresetDelay, Jitter: true}},
}

// presetNames lists the presets.
func presetNames() []string {
	names := make([]string, len(presets))
	for i := range presets {
		names[i] = presets[i].name
	}
	return names
}

// presetOf returns the preset with the given name.
func presetOf(name string) (Retry, bool) {
	for i := range presets {
		if presets[i].name == name {
			return presets[i].retry, true
		}
	}
	return Retry{}, false
}

// retryPolicies compiles the retry policies of the workflow.
func (c *compiler) retryPolicies() {
	c.policies = map[string]*workflowPolicy{}
	for _, p := range c.w.RetryPolicies {
		name := p.Name.Value
		_, isPreset := presetOf(name)
		first, twice := c.policies[name]
		switch {
		case name == "":
			c.ds.Errorf(source.CodeMissingKey, p.Pos, "a retry policy has no name")
		case isPreset:
			c.ds.Errorf(source.CodeDuplicateID, p.Name.Pos, "retry policy %q: every workflow has a preset of that name", name)
		case twice:
			message.PointTo(c.ds.Errorf(source.CodeDuplicateID, p.Name.Pos, "retry policy %q is defined twice", name), "first", first.decl.Name.Pos)
		default:
			c.policies[name] = &workflowPolicy{decl: p}
		}
	}
	for _, p := range c.w.RetryPolicies {
		if o := c.policies[p.Name.Value]; o != nil && o.decl == p {
			c.compilePolicy(o)
		}
	}
}

// workflowPolicy is a retry policy of the workflow.
type workflowPolicy struct {
	decl  *core.RetryPolicy
	retry Retry
	state uint8 // 0: not compiled, 1: being compiled, 2: compiled
	used  bool
}

// compilePolicy compiles a policy of the workflow, after the policies on which it is based.
func (c *compiler) compilePolicy(o *workflowPolicy) {
	if o.state > 0 {
		return
	}
	o.state = 1
	o.retry = c.retry(o.decl, place{what: "retry policy", id: o.decl.Name.Value})
	o.state = 2
}

// retry compiles a retry policy: its settings override the settings of its preset.
func (c *compiler) retry(p *core.RetryPolicy, at place) Retry {
	r := c.basis(p, at)
	if n := p.Attempts; n != nil {
		if r.Attempts = n.Value; n.Value < 1 || n.Value > maxAttempts {
			c.ds.Errorf(source.CodeBadValue, n.Pos, "%s: want 1 to %d, got %d", at.key("attempts"), maxAttempts, n.Value)
			r.Attempts = 1
		}
	}
	switch p.Backoff.Value {
	case "":
	case "linear":
		r.Factor = 0
	case "exponential":
		r.Factor = 2
	default:
		c.ds.Errorf(source.CodeBadValue, p.Backoff.Pos, "%s: unknown word %q", at.key("backoff"), p.Backoff.Value).
			WithHint("%s", message.Near(p.Backoff.Value, []string{"linear", "exponential"}))
	}
	if f := p.Factor; f != nil {
		switch r.Factor = f.Value; {
		case !(f.Value >= 1) || math.IsInf(f.Value, 0):
			c.ds.Errorf(source.CodeBadValue, f.Pos, "%s: want a number of at least 1, got %v", at.key("factor"), f.Value)
			r.Factor = 1
		case p.Backoff.Value == "linear":
			c.ds.Errorf(source.CodeBadValue, f.Pos, "%s: backoff linear has no factor", at.key("factor")).WithHint("write backoff: exponential")
		}
	}
	if p.Base != nil {
		r.Base = c.notNegative(p.Base, at.key("base_ms"))
	}
	if p.Max != nil {
		r.Max, r.Cap = c.notNegative(p.Max, at.key("max_ms")), 0
	}
	if p.Jitter != nil {
		r.Jitter = *p.Jitter
	}
	switch p.RetryOn.Value {
	case "":
	case "any":
		r.Transient = false
	case "transient":
		r.Transient = true
	default:
		c.ds.Errorf(source.CodeBadValue, p.RetryOn.Pos, "%s: unknown word %q", at.key("retry_on"), p.RetryOn.Value).
			WithHint("%s", message.Near(p.RetryOn.Value, []string{"any", "transient"}))
	}
	return r
}

// basis returns the policy on which a retry policy is based. If there is none, the result has no
// attempts.
func (c *compiler) basis(p *core.RetryPolicy, at place) Retry {
	plain := Retry{Base: defaultBase}
	name := p.Preset.Value
	if name == "" {
		return plain
	}
	if r, ok := presetOf(name); ok {
		return r
	}
	o, ok := c.policies[name]
	switch {
	case !ok && c.w.Lost.Has("retry_policies"):
	case !ok:
		names := slices.Concat(presetNames(), c.policyNames())
		c.ds.Errorf(source.CodeBadValue, p.Preset.Pos, "%s: unknown retry policy %q", at.key("preset"), name).WithHint("%s", message.Near(name, names))
	case o.state == 1:
		c.ds.Errorf(source.CodeCycle, p.Preset.Pos, "%s: %q is based on itself", at.key("preset"), name)
	default:
		c.compilePolicy(o)
		o.used = true
		return o.retry
	}
	plain.Attempts = 1 // so that the missing attempts are not reported as well
	return plain
}

// policyNames lists the retry policies of the workflow.
func (c *compiler) policyNames() []string {
	var names []string
	for _, p := range c.w.RetryPolicies {
		names = append(names, p.Name.Value)
	}
	return names
}
