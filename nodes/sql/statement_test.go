package sql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

func parsed(text string, d dialect) (*statement, []fault) {
	return parseStatement(source.At(text, source.Position{Line: 1, Column: 1}), d)
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		text, postgres, sqlite string // "" means the text itself, "-" means not for this database
		params                 string
	}{
		{"select 1", "", "", ""},
		{"select :a, :b, :a", "select $1, $2, $1", "select ?1, ?2, ?1", "a b"},
		{"select ':a', \":b\", 'it''s :c'", "", "", ""},
		{"select a -- :a\n, :b", "select a -- :a\n, $1", "select a -- :a\n, ?1", "b"},
		{"select /* :a */ :b", "select /* :a */ $1", "select /* :a */ ?1", "b"},
		{"select /* /* :a */ :b */ :c", "select /* /* :a */ :b */ $1", "select /* /* :a */ ?1 */ ?2", "c|b c"},
		{"select a::text, :b::int", "select a::text, $1::int", "-", "b"},
		{"select e'\\':a', :b", "select e'\\':a', $1", "-", "b"},
		{"select fee':a', :b", "select fee':a', $1", "-", "b"},
		{"select $$:a$$, $t$ $$ :a $t$, :b", "select $$:a$$, $t$ $$ :a $t$, $1", "-", "b"},
		{"select a$b, c$d$e, :b", "select a$b, c$d$e, $1", "select a$b, c$d$e, ?1", "b"},
		{"select x[1:2], x[:n]", "select x[1:2], x[$1]", "-", "n"},
		{"select f(a := :b)", "select f(a := $1)", "-", "b"},
		{"select data ? 'k' and x @> :b", "select data ? 'k' and x @> $1", "-", "b"},
		{"select `:a`, [:b], :c", "-", "select `:a`, [:b], ?1", "c"},
		{"select :größe_2", "select $1", "select ?1", "größe_2"},
		{"select :a;", "select $1", "select ?1", "a"},
		{"select 1; -- done\n", "select 1 -- done\n", "select 1 -- done\n", ""},
		{"select 1 where 'x' = :a ", "select 1 where 'x' = $1 ", "select 1 where 'x' = ?1 ", "a"},
	} {
		params := strings.Split(c.params, "|")
		for i, d := range []dialect{postgresDialect, sqliteDialect} {
			want := []string{c.postgres, c.sqlite}[i]
			if want == "-" {
				continue
			}
			if want == "" {
				want = c.text
			}
			s, faults := parsed(c.text, d)
			if s.text != want || strings.Join(s.params, " ") != params[min(i, len(params)-1)] || len(faults) > 0 {
				t.Errorf("%s: %q, %q, %v, want %q, %s", c.text, s.text, s.params, faults, want, params)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, postgres, sqlite string }{
		{"", "0: there is no statement", "0: there is no statement"},
		{" -- nothing\n;", "0: there is no statement", "0: there is no statement"},
		{"select '{{x}}'", "8: a template in SQL would let data become code", "8: a template in SQL would let data become code"},
		{"select '{{1,2},{3,4}}', '{{a},{b}}'", "", ""},
		{"select {{ $.x }}", "7: a template in SQL would let data become code", "7: a template in SQL would let data become code"},
		{"select {{length($.x) > 1}}", "7: a template in SQL would let data become code", "7: a template in SQL would let data become code"},
		{"select 1; drop table t", "10: more than one statement", "10: more than one statement"},
		{"select 'a", "7: a quote without end", "7: a quote without end"},
		{"select \"a", "7: a quote without end", "7: a quote without end"},
		{"select $x$ a", "7: a quote without end", "7: a parameter is written :name|9: a parameter is written :name"},
		{"select 1 /* a", "9: a comment without end", "9: a comment without end"},
		{"select $1, ?", "7: a parameter is written :name", "7: a parameter is written :name|11: a parameter is written :name"},
		{"select ?12", "", "7: a parameter is written :name"},
		{"select @a, :1", "", "7: a parameter is written :name|11: a parameter is written :name"},
		{"select $a", "", "7: a parameter is written :name"},
	} {
		for i, d := range []dialect{postgresDialect, sqliteDialect} {
			_, faults := parsed(c.text, d)
			var got []string
			for _, f := range faults {
				got = append(got, fmt.Sprintf("%d: %s", f.offset, f.message))
			}
			if want := []string{c.postgres, c.sqlite}[i]; strings.Join(got, "|") != want {
				t.Errorf("%q: %q, want %q", c.text, got, want)
			}
		}
	}
}

// A place in the text that is sent is found in the text that was written.
func TestSource(t *testing.T) {
	const src = "select :a, x from t where :bb = y and :a = z"
	s, _ := parsed(src, postgresDialect)
	for _, word := range []string{"select", "x", "where", "y", "z"} {
		at := strings.Index(s.text, " "+word)
		if word == "select" {
			at = -1
		}
		got := s.source(at + 1)
		if !strings.HasPrefix(src[got:], word) {
			t.Errorf("%s is found at %d: %s", word, got, src[got:])
		}
	}
	if got := s.source(1000); got != len(src) {
		t.Errorf("beyond the end: %d", got)
	}
}

// What is sent has as many marks as there are parameters, and nothing else of the
// text has changed.
func FuzzStatement(f *testing.F) {
	for _, text := range []string{"select :a, ':b' from t; ", "e'\\'' :x", "$t$ :a $t$ /* /* */ :b */ --:c\n", "\"a:b\"::text [:x] `:y` a$b$c ?1 @x"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, postgres bool) {
		d := sqliteDialect
		if postgres {
			d = postgresDialect
		}
		s, faults := parsed(text, d)
		for _, x := range faults {
			if x.offset < 0 || x.offset > len(text) {
				t.Fatalf("a fault at %d of %d", x.offset, len(text))
			}
		}
		if len(faults) > 0 {
			return
		}
		// If the tokens are written back, the text is unchanged, except for a
		// semicolon at its end.
		back, last := "", 0
		for _, c := range s.cuts {
			mark := strings.LastIndex(s.text[:c.out], d.mark)
			var n int
			fmt.Sscan(s.text[mark+len(d.mark):c.out], &n)
			back += s.text[last:mark] + ":" + s.params[n-1]
			last = c.out
			if !strings.HasPrefix(text, back) || len(back) != c.in {
				t.Fatalf("%q: %q does not begin %q", s.text, back, text)
			}
		}
		back += s.text[last:]
		if strings.ReplaceAll(back, ";", "") != strings.ReplaceAll(text, ";", "") {
			t.Fatalf("%q becomes %q", text, back)
		}
		if again, faults := parsed(strings.ReplaceAll(s.text, d.mark, "_"), d); len(faults) == 0 && len(again.params) > 0 && !strings.Contains(text, d.mark) {
			t.Fatalf("%q still has the parameters %q", s.text, again.params)
		}
		if len(slices.Compact(slices.Sorted(slices.Values(s.params)))) != len(s.params) {
			t.Fatalf("parameters %q", s.params)
		}
	})
}
