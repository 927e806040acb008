// Package docstest reads the code blocks of Markdown pages, so that tests can run them and
// compare the results with the pages.
package docstest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Block is one fenced code block.
type Block struct {
	File string // the page
	Line int    // of the opening fence
	// Info is the info string after the fence: a language and perhaps more words.
	Info string
	Text string // without the fences, each line with its line break
	// Notes holds the HTML comments directly before the block, by the word before their
	// colon: <!-- inputs: {"day": 3} --> is the note "inputs".
	Notes map[string]string
}

// Lang returns the first word of the info string.
func (b Block) Lang() string {
	lang, _, _ := strings.Cut(b.Info, " ")
	return lang
}

var note = regexp.MustCompile(`^<!-- ([a-z]+): (.*) -->$`)

// Blocks returns the code blocks of a page, in order. A page without any fails the test, so
// that a renamed page is noticed.
func Blocks(t testing.TB, file string) []Block {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := split(file, string(data))
	if len(blocks) == 0 {
		t.Fatalf("%s has no code block", file)
	}
	return blocks
}

func split(file, text string) []Block {
	var blocks []Block
	var open *Block
	notes := map[string]string{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		trimmed := strings.TrimRight(line, "\r\n")
		info, fence := strings.CutPrefix(trimmed, "```")
		switch {
		case open != nil && trimmed == "```":
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += line
		case fence:
			open = &Block{File: file, Line: number, Info: info, Notes: notes}
			notes = map[string]string{}
		case note.MatchString(trimmed):
			m := note.FindStringSubmatch(trimmed)
			notes[m[1]] = m[2]
		case trimmed != "":
			notes = map[string]string{}
		}
	}
	return blocks
}
