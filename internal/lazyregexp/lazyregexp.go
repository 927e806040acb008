// Package lazyregexp has regular expressions that are compiled when they are first used, so
// that a program does not compile at its start what it may never need. Package-level
// variables use it instead of regexp.MustCompile.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. It is safe for concurrent use. Its methods are those of
// regexp.Regexp.
type Regexp struct {
	pattern string
	once    sync.Once
	rx      *regexp.Regexp
}

// New returns the regular expression of a pattern. If the pattern is invalid, its first use
// panics. The compiler can evaluate New for a package-level variable, which then costs
// nothing when the program starts.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

func (r *Regexp) regexp() *regexp.Regexp {
	r.once.Do(func() { r.rx = regexp.MustCompile(r.pattern) })
	return r.rx
}

func (r *Regexp) Match(b []byte) bool                  { return r.regexp().Match(b) }
func (r *Regexp) MatchString(s string) bool            { return r.regexp().MatchString(s) }
func (r *Regexp) FindStringIndex(s string) []int       { return r.regexp().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.regexp().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.regexp().FindStringSubmatchIndex(s)
}
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.regexp().FindAllStringIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.regexp().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) ReplaceAllString(s, by string) string { return r.regexp().ReplaceAllString(s, by) }
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.regexp().ReplaceAllStringFunc(s, by)
}
func (r *Regexp) Split(s string, n int) []string { return r.regexp().Split(s, n) }

// String returns the pattern.
func (r *Regexp) String() string { return r.pattern }

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.regexp().FindAllStringSubmatch(s, n)
}
