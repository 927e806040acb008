// Package corpus holds documents with one mistake each, documents without mistakes, and
// the tests that run the command on both. See README.md.
package corpus
