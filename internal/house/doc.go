// Package house holds the tests of the house rules: which package may import
// which, and what the pure ones may not touch. It has no code of its own.
package house
