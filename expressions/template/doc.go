// Package template fills values into strings such as prompts:
//
//	Summarise {{summary.tldr}} for {{$item.name}}: {{length($.findings)}} findings.
//
// A placeholder contains a plain name, which may be dotted to select a member of an
// object, or an expression. A plain name is looked up in the node's view of the state,
// in its edge inputs and in its args; if several of them have it, the last one wins. An
// expression reads the state itself and the roots that exist at that place.
//
// An expression or name may be followed by a filter, which determines how its value is
// formatted: {{$.rows | table}} formats an array of objects as a Markdown table with a
// column for each key, {{names | lines}} writes the elements of an array on one line
// each, {{$.title | json}} writes JSON, which puts a string in quotes.
//
// Without a filter a string is inserted unchanged, and any other value as compact JSON.
// A missing value is an error that names the placeholder; lenient rendering leaves the
// placeholder unchanged instead. The template is scanned once: an inserted value that
// contains {{ is not expanded again.
//
// To write a literal {{, use the expression {{'{{'}}. A }} outside a placeholder needs
// no escape.
package template
