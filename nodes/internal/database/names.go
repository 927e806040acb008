package database

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// CheckKeys reports errors in the key and the listed columns of a table when a node is
// compiled.
func CheckKeys(s *table.Scope, t *Table, mode source.Position, key []source.Text, at source.Position, rules Rules) {
	if t.Mode == Upsert && len(key) == 0 {
		s.Errorf(source.CodeBadValue, mode, "mode", `upsert needs the key "key"`).WithHint("key: [id]")
	}
	names := table.FieldNames(t.Columns)
	for i, k := range key {
		if slices.Contains(source.Strings(key[:i]), k.Value) || k.Value == "" {
			s.Errorf(source.CodeDuplicateKey, k.Pos, "key", "column %q is empty or appears twice", k.Value)
		}
		if names != nil && !slices.Contains(names, k.Value) {
			s.Errorf(source.CodeUnknownField, k.Pos, "key", "%q is not among the columns", k.Value).WithHint("%s", source.DidYouMean(k.Value, names))
		}
	}
	if a, b, ok := clash(names, rules.Fold); ok {
		s.Errorf(source.CodeDuplicateKey, at, "columns", "%q and %q are the same to %s, which ignores case", a, b, rules.Name)
	}
}

// clash returns two names that the database considers equal.
func clash(names []string, fold func(string) string) (a, b string, ok bool) {
	folded := make(map[string]string, len(names))
	for _, n := range names {
		f := fold(n)
		if first, found := folded[f]; found {
			return first, n, true
		}
		folded[f] = n
	}
	return "", "", false
}
