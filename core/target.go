package core

import (
	"path"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// Target is a file, or a table of a database, that a node reads or writes under a
// name that its document spells out.
type Target struct {
	// Name is what the document calls the file; "" for a database that is no file.
	Name source.Text
	// Key is the same for all names of one file or database. It is not shown: the
	// address of a database may hold a password.
	Key string
	// Pattern makes Key a pattern of MatchPath, which means any number of files.
	Pattern bool
	// Table is a table of a database, "" for a whole file.
	Table string
	// Adds tells that a write leaves what others wrote, so that several nodes may
	// write in any order.
	Adds bool
}

// String is how messages call it.
func (t Target) String() string {
	switch {
	case t.Table == "":
		return t.Name.Value
	case t.Name.Value == "":
		return "table " + t.Table
	}
	return "table " + t.Table + " of " + t.Name.Value
}

// AnyFolders is the part of a pattern that stands for any number of folders, also none.
const AnyFolders = "**"

// MatchPath reports whether a path matches a pattern: that of path.Match, in which a
// part may be AnyFolders. At the end of a pattern it stands for all files below the
// folder. The pattern must be well formed.
func MatchPath(pattern, name string) bool {
	return matchParts(PatternParts(pattern), strings.Split(name, "/"))
}

// PatternParts returns the parts of a pattern between the slashes, in which AnyFolders
// is never repeated and never the last.
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
