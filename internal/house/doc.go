// Package house contains the tests of the project's rules: which package may import which,
// and what the pure packages must not use. It has no other code.
package house
