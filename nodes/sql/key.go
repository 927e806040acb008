package sql

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// keyFault returns the reason that the rows of a query cannot be read in the order of a
// column, or "" if there is none. The names of some columns, such as the columns of *, are
// known only when the query runs.
func (s *statement) keyFault(d dialect, key string) (message, hint string) {
	words := topLevel(s.src.Value, d)
	if !orderedBy(words, key) {
		return "the rows of the query are not in the order of " + key, "end the query with ORDER BY " + key
	}
	if columns := selection(words); columns != nil && !slices.Contains(columns, "*") &&
		!slices.ContainsFunc(columns, func(w string) bool { return names(w, key) }) {
		return "the query does not select " + key, "add it to the columns after SELECT"
	}
	return "", ""
}

// topLevel returns the tokens of a statement as written, without the tokens in
// parentheses.
func topLevel(text string, d dialect) []string {
	s := &scanner{dialect: d, src: text, out: &statement{}}
	var out []string
	for depth := 0; s.at < len(s.src); {
		start := s.at
		if s.blank() {
			continue
		}
		s.skipToken()
		switch w := s.src[start:s.at]; {
		case w == "(":
			depth++
		case w == ")":
			depth--
		case depth == 0 && w != ";":
			out = append(out, w)
		}
	}
	return out
}

// orderedBy reports whether a query ends with an ORDER BY whose first column is key,
// ascending. A name without a table after ORDER BY names a column of the result.
func orderedBy(words []string, key string) bool {
	for i := len(words) - 3; i >= 0; i-- {
		if !strings.EqualFold(words[i], "order") || !strings.EqualFold(words[i+1], "by") {
			continue
		}
		after := words[i+3:]
		if len(after) > 0 && strings.EqualFold(after[0], "asc") {
			after = after[1:]
		}
		return names(words[i+2], key) && (len(after) == 0 || slices.Contains([]string{",", "limit", "offset", "fetch"}, strings.ToLower(after[0])))
	}
	return false
}

// selection returns the tokens between the first SELECT and what follows its columns.
func selection(words []string) []string {
	from := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "select") })
	if from < 0 {
		return nil
	}
	words = words[from+1:]
	to := slices.IndexFunc(words, func(w string) bool {
		return slices.Contains([]string{"from", "where", "union", "intersect", "except", "order"}, strings.ToLower(w))
	})
	return words[:to] // there is an ORDER BY
}

// names reports whether a token is the name of a column.
func names(token, column string) bool {
	if strings.HasPrefix(token, "'") {
		return false
	}
	return strings.EqualFold(strings.Trim(token, "\"`[]"), column)
}

// after returns the statement for the rows after a key, which is an additional last argument.
func (s *statement) after(key string, d dialect) *statement {
	const prefix = "SELECT * FROM (\n"
	column := `q."` + strings.ReplaceAll(key, `"`, `""`) + `"`
	out := *s
	out.text = prefix + s.text + "\n) AS q WHERE " + column + " > " + d.parameter(len(s.params)+1) + " ORDER BY " + column
	out.cuts = []cut{{0, len(prefix)}}
	for _, c := range s.cuts {
		out.cuts = append(out.cuts, cut{c.in, c.out + len(prefix)})
	}
	return &out
}

// queryKey returns the key of a query, or "" if there is none.
func (b *builder) queryKey(s *statement, d dialect) string {
	switch {
	case len(b.Key) == 0:
		return ""
	case !b.Stream:
		b.scope.Errorf(source.CodeBadValue, b.Key[0].Pos, "key", "of a query needs stream: true")
	case len(b.Key) > 1:
		b.scope.Errorf(source.CodeBadValue, b.Key[1].Pos, "key", "a query has one key column, found %d", len(b.Key))
	default:
		if message, hint := s.keyFault(d, b.Key[0].Value); message != "" {
			b.scope.Errorf(source.CodeBadValue, b.Key[0].Pos, "key", "%s", message).WithHint("%s", hint)
		}
	}
	return b.Key[0].Value
}
