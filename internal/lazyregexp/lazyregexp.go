// Package lazyregexp has regular expressions that are compiled when they are first used, so
// that a program does not compile at its start what it may never need. Package-level
// variables use it instead of regexp.MustCompile.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. It is safe for concurrent use. Its methods do the same as
// the methods of regexp.Regexp.
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

// Match is like the method of regexp.Regexp.
func (r *Regexp) Match(b []byte) bool { return r.regexp().Match(b) }

// MatchString is like the method of regexp.Regexp.
func (r *Regexp) MatchString(s string) bool { return r.regexp().MatchString(s) }

// FindStringIndex is like the method of regexp.Regexp.
func (r *Regexp) FindStringIndex(s string) []int { return r.regexp().FindStringIndex(s) }

// FindStringSubmatch is like the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.regexp().FindStringSubmatch(s) }

// FindStringSubmatchIndex is like the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.regexp().FindStringSubmatchIndex(s)
}

// FindAllStringIndex is like the method of regexp.Regexp.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.regexp().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is like the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.regexp().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is like the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.regexp().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is like the method of regexp.Regexp.
func (r *Regexp) ReplaceAllString(s, by string) string { return r.regexp().ReplaceAllString(s, by) }

// ReplaceAllStringFunc is like the method of regexp.Regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.regexp().ReplaceAllStringFunc(s, by)
}

// Split is like the method of regexp.Regexp.
func (r *Regexp) Split(s string, n int) []string { return r.regexp().Split(s, n) }

// String returns the pattern.
func (r *Regexp) String() string { return r.pattern }
