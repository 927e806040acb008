package sqlite

import (
	"errors"
	"strings"

	"modernc.org/sqlite"

	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/nodes/internal/database"
)

// named matches the messages in which SQLite names a part of the statement. SQLite does
// not report its position.
var named = lazyregexp.New(`near "(.+)": syntax error|no such (?:column|table|function): ([^\s"]+)|unrecognized token: "(.+)"`)

// place explains an error of a statement. It adds the position of the part that SQLite
// names, if the part appears exactly once in the statement.
func (d *DB) place(err error, statement string) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	err = d.explain(err)
	if !ok {
		return err
	}
	m := named.FindStringSubmatch(e.Error())
	if m == nil {
		return err
	}
	if offset := only(statement, m[1]+m[2]+m[3]); offset >= 0 {
		return &database.StatementError{Offset: offset, Err: err}
	}
	return err
}

// only returns the offset of a word that appears exactly once in a text as a whole
// word, otherwise -1.
func only(text, word string) int {
	found := -1
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return found
		}
		i += at
		end := i + len(word)
		whole := (i == 0 || !inName(text[i-1]) || !inName(word[0])) && (end == len(text) || !inName(text[end]) || !inName(word[len(word)-1]))
		if whole && found >= 0 {
			return -1
		}
		if whole {
			found = i
		}
		at = end
	}
}

// inName reports whether a byte can be part of a name.
func inName(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
