package core

import (
	"path"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// Target is a file, or a table of a database, that a node reads or writes under a name that
// is fixed in its document.
type Target struct {
	// Name is the name of the file in the document, or "" for a database that is not a
	// file.
	Name source.Text
	// Key is equal for all names of one file or database. It is never shown, because the
	// address of a database may contain a password.
	Key string
	// Pattern means that Key is a pattern of MatchPath and Target any number of files.
	Pattern bool
	// Table is a table of a database, or "" for a whole file.
	Table string
	// Adds means that a write keeps what other nodes wrote, so that several nodes may write
	// in any order.
	Adds bool
}

// String returns the name of the target in messages.
func (t Target) String() string {
	switch {
	case t.Table == "":
		return t.Name.Value
	case t.Name.Value == "":
		return "table " + t.Table
	}
	return "table " + t.Table + " of " + t.Name.Value
}

// AnyFolders is the part of a pattern that matches any number of folders, including none.
const AnyFolders = "**"

// MatchPath reports whether a path matches a pattern. Patterns have the syntax of
// path.Match, and a part may be AnyFolders. At the end of a pattern, AnyFolders matches all
// files below the folder. The pattern must be well formed.
func MatchPath(pattern, name string) bool {
	return matchParts(PatternParts(pattern), strings.Split(name, "/"))
}

// PatternParts splits a pattern at its slashes and normalizes it: AnyFolders is never
// repeated and never the last part.
func PatternParts(pattern string) []string {
	var out []string
	for _, part := range strings.Split(pattern, "/") {
		if part != AnyFolders || len(out) == 0 || out[len(out)-1] != AnyFolders {
			out = append(out, part)
		}
	}
	if out[len(out)-1] == AnyFolders {
		out = append(out, "*")
	}
	return out
}

func matchParts(parts, names []string) bool {
	for i, part := range parts {
		if part == AnyFolders {
			for skip := 0; skip <= len(names)-i; skip++ {
				if matchParts(parts[i+1:], names[i+skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(names) {
			return false
		}
		if ok, err := path.Match(part, names[i]); !ok || err != nil {
			return false
		}
	}
	return len(parts) == len(names)
}
