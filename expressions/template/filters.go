package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// filter formats the value of a placeholder. The value is a plain value and never
// missing.
type filter struct {
	name string
	// accepts is the type the filter accepts, without its elements; AnyType accepts
	// every value.
	accepts value.TypeKind
	apply   func(v any) (string, error)
}

// filters lists the filters that a placeholder may name. To add one, add a line here,
// its function, and a paragraph in docs/expressions.md.
var filters = []filter{
	{"json", value.AnyType, jsonText},
	{"lines", value.ArrayType, lineText},
	{"table", value.ArrayType, tableText},
}

func filterNames() []string {
	names := make([]string, len(filters))
	for i, f := range filters {
		names[i] = f.name
	}
	return names
}

// cutFilter splits the content of a placeholder at its last | that is outside quotes
// and not part of ||. It returns the expression before it and the word after it; at is
// the offset of the word. ok is false if there is no filter. The language has no
// operator |, so this never splits a valid expression.
func cutFilter(inside string) (expr, word string, at int, ok bool) {
	bar := -1
	for i := 0; i < len(inside); i++ {
		switch b := inside[i]; {
		case b == '\'' || b == '"':
			n := strings.IndexByte(inside[i+1:], b)
			if n < 0 {
				return "", "", 0, false // the parser reports the error
			}
			i += n + 1
		case b == '|' && strings.HasPrefix(inside[i:], "||"):
			i++
		case b == '|':
			bar = i
		}
	}
	if bar < 0 {
		return "", "", 0, false
	}
	rest := inside[bar+1:]
	word = strings.TrimSpace(rest)
	return inside[:bar], word, bar + 1 + len(rest) - len(strings.TrimLeft(rest, " \t\r\n")), true
}

// filter returns the filter of a placeholder, or nil if there is none, and the
// expression before it. ok is false if the filter is invalid; it has then been
// reported.
func (c *compiler) filter(inside string, open int) (expr string, f *filter, ok bool) {
	expr, word, at, ok := cutFilter(inside)
	if !ok {
		return inside, nil, true
	}
	if _, _, _, more := cutFilter(expr); more {
		c.fail(source.CodeExprSyntax, open, "a place has one filter at most", "")
		return "", nil, false
	}
	i := slices.IndexFunc(filters, func(f filter) bool { return f.name == word })
	if i < 0 {
		hint := source.DidYouMean(word, filterNames())
		if hint == "" {
			hint = "there are " + strings.Join(filterNames(), ", ") + `; "or" is written ||`
		}
		if value := strings.TrimSpace(expr); slices.Contains(expressions.FuncNames(), word) {
			if c.isName(value) {
				value = "$." + value
			}
			hint = "it is a function: {{" + word + "(" + value + ")}}"
		}
		c.fail(source.CodeExprName, open+2+at, fmt.Sprintf("unknown filter %q", word), hint)
		return "", nil, false
	}
	return expr, &filters[i], true
}

// checkFilter reports a filter that does not accept the known type of its value.
func (c *compiler) checkFilter(p *part) {
	if p.filter == nil || p.filter.accepts == value.AnyType {
		return
	}
	if kind := p.program.Type(); kind != value.AnyType && kind != value.NullType && kind != p.filter.accepts {
		c.fail(source.CodeExprType, p.offset, fmt.Sprintf("the filter %s wants an %s, found %s", p.filter.name, p.filter.accepts, kind), "")
	}
}

// jsonText formats a value, including a string, as compact JSON.
func jsonText(v any) (string, error) { return value.JSON(v), nil }

// lineText formats the elements of an array on one line each, with strings unchanged.
func lineText(v any) (string, error) {
	list, err := listOf(v)
	if err != nil {
		return "", err
	}
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i], _ = expressions.Text(e)
	}
	return strings.Join(lines, "\n"), nil
}

// listOf returns the elements of an array. Null is treated as an empty array.
func listOf(v any) ([]any, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, fmt.Errorf("want an array, found %s", value.TypeName(v))
	}
	return list, nil
}

// tableText formats an array of objects as a Markdown table with a column for each key,
// in the order in which the keys first appear. Columns of numbers are right-aligned.
// The result is empty if there are no rows.
func tableText(v any) (string, error) {
	list, err := listOf(v)
	if err != nil {
		return "", err
	}
	rows, columns, err := rowsOf(list)
	if err != nil || len(columns) == 0 {
		return "", err
	}
	var b strings.Builder
	head, under := make([]string, len(columns)), make([]string, len(columns))
	for i, name := range columns {
		head[i], under[i] = cellOf(name), "---"
		if numeric(rows, name) {
			under[i] = "---:"
		}
	}
	writeRow(&b, head)
	b.WriteByte('\n')
	writeRow(&b, under)
	cells := make([]string, len(columns))
	for _, o := range rows {
		for i, name := range columns {
			v, _ := o.Get(name)
			cells[i] = cellOf(v)
		}
		b.WriteByte('\n')
		writeRow(&b, cells)
	}
	return b.String(), nil
}

func rowsOf(list []any) (rows []*value.Object, columns []string, err error) {
	seen := map[string]bool{}
	for i, e := range list {
		o, ok := e.(*value.Object)
		if !ok {
			return nil, nil, fmt.Errorf("want an array of objects, found %s at [%d]", value.TypeName(e), i)
		}
		rows = append(rows, o)
		for _, k := range o.Keys() {
			if !seen[k] {
				seen[k] = true
				columns = append(columns, k)
			}
		}
	}
	return rows, columns, nil
}

// numeric reports whether a column contains at least one number and otherwise only
// empty cells.
func numeric(rows []*value.Object, name string) bool {
	some := false
	for _, o := range rows {
		switch v, _ := o.Get(name); v.(type) {
		case nil:
		case int64, float64:
			some = true
		default:
			return false
		}
	}
	return some
}

// escapes replaces whatever would end a cell or a row. A backslash is doubled, because
// a backslash before | would disable its escape.
var escapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\r\n", "<br>", "\n", "<br>", "\r", "<br>")

// cellOf returns the content of a cell. Null is an empty cell.
func cellOf(v any) string {
	if v == nil {
		return ""
	}
	s, _ := expressions.Text(v)
	return escapes.Replace(s)
}

func writeRow(b *strings.Builder, cells []string) {
	b.WriteString("|")
	for _, c := range cells {
		b.WriteString(" " + c + " |")
	}
}
