// Package template fills values into texts such as prompts:
//
//	Summarise {{summary.tldr}} for {{$item.name}}: {{length($.findings)}} findings.
//
// Between {{ and }} stands either a plain name, dotted where it goes into an
// object, or any expression of the language. A plain name is looked up in the
// node's view of the state, then in its edge inputs, then in its args, and the
// later one wins; an expression reads the state itself and the roots that exist
// at the place.
//
// Behind an expression or name a filter may stand, which says how its value is
// written: {{$.rows | table}} makes an array of objects a Markdown table with a
// column for each key, {{names | lines}} writes the elements of an array one on a
// line, {{$.title | json}} writes JSON, a text in quotes too.
//
// Without a filter a text is put in as it is, everything else as compact JSON.
// What is missing is an error that names the place, or, leniently, stays as it was
// written. The text is gone through once: a value that holds {{ is never looked at
// again.
//
// A literal {{ is written {{'{{'}}, which is nothing but an expression. A }}
// outside of {{ needs no care.
package template
