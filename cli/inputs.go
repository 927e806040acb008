package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// inputsOf returns the values of --inputs and --input. Values of --input are parsed according
// to the declared type of the input. The error has a line for every invalid flag.
func inputsOf(p *plan.Plan, files, pairs []string) (map[string]any, error) {
	values := map[string]any{}
	var wrong []error
	for _, file := range files {
		wrong = append(wrong, addFile(values, file, "--inputs "+file))
	}
	for _, pair := range pairs {
		wrong = append(wrong, addPair(p, values, pair))
	}
	return values, errors.Join(wrong...)
}

// literalPaths warns of inputs that look like a path or a URL and are passed to a model
// literally: the model sees the path or URL, not the content.
func literalPaths(p *plan.Plan, values map[string]any) source.Diagnostics {
	var ds source.Diagnostics
	reported := map[string]bool{}
	for _, n := range p.Workflow.Nodes {
		preamble := n.Config.Get("preamble")
		if preamble == nil {
			continue
		}
		for _, part := range preamble.Items {
			name, _ := part.Get("input").Plain().(string)
			if reported[name] {
				continue
			}
			reported[name] = true
			list, ok := values[name].([]any)
			if !ok {
				list = []any{values[name]}
			}
			for _, v := range list {
				if text, ok := v.(string); ok && elsewhere.MatchString(strings.TrimSpace(text)) {
					ds.Warnf(source.CodeIgnored, source.Position{}, "input %q: models are told %q itself, nothing is read from there", name, text).
						WithHint("--input %s=@FILE reads a file", name)
				}
			}
		}
	}
	return ds
}

var elsewhere = lazyregexp.New(`^(?:\.{0,2}/|https?://)\S+$`)

// givenNames lists the names of the inputs that --inputs and --input set. It ignores flags that
// cannot be read; inputsOf reports these.
func givenNames(files, pairs []string) []string {
	var names []string
	for _, pair := range pairs {
		if file, ok := strings.CutPrefix(pair, "@"); ok {
			files = append(slices.Clip(files), file)
			continue
		}
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	for _, file := range files {
		if v, err := readValue(file); err == nil {
			if o, ok := v.(*value.Object); ok {
				names = append(names, o.Keys()...)
			}
		}
	}
	return names
}

// addPair adds the value of an --input flag.
func addPair(p *plan.Plan, values map[string]any, pair string) error {
	if file, ok := strings.CutPrefix(pair, "@"); ok {
		return addFile(values, file, "--input "+pair)
	}
	name, text, ok := strings.Cut(pair, "=")
	if !ok || name == "" {
		return fmt.Errorf("--input %s: want name=value, name=@file or @file", pair)
	}
	t, ok := inputType(p, name)
	if !ok && !p.Workflow.OpenInputs {
		return fmt.Errorf("--input %s: the workflow has no input %q%s", pair, name, hintFor(name, inputNames(p)))
	}
	v, err := inputValue(t, text)
	if err != nil {
		return fmt.Errorf("--input %s: %w", name, err)
	}
	values[name] = v
	return nil
}

// addFile adds the values of a JSON or YAML file that maps input names to values.
func addFile(values map[string]any, file, flag string) error {
	v, err := readValue(file)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		return fmt.Errorf("%s: want a mapping of names to values, got %s", flag, value.TypeName(v))
	}
	for name, v := range o.All() {
		values[name] = v
	}
	return nil
}

// inputNames returns the names of the inputs that a run accepts: the declared inputs or, if the
// document has no inputs section, all fields of the state.
func inputNames(p *plan.Plan) []string {
	w := p.Workflow
	if !w.HasInputs && len(w.Inputs) == 0 && !w.OpenInputs {
		return p.Schema.FieldNames()
	}
	var names []string
	for _, in := range w.Inputs {
		names = append(names, in.Name.Value)
	}
	return names
}

// inputType returns the declared type of an input, nil if any value is accepted. It reports
// whether there is such an input.
func inputType(p *plan.Plan, name string) (t *value.Type, ok bool) {
	w := p.Workflow
	if !w.HasInputs && len(w.Inputs) == 0 && !w.OpenInputs {
		return p.Schema.FieldType(name)
	}
	for _, in := range w.Inputs {
		if in.Name.Value == name {
			if in.Type == nil {
				t, _ = p.Schema.FieldType(name)
				return t, true
			}
			return in.Type, true
		}
	}
	return nil, w.OpenInputs
}

func hintFor(name string, names []string) string {
	switch s := suggest(name, names); {
	case s != "":
		return s
	case len(names) == 0:
		return " (it has none)"
	}
	return " (it has " + strings.Join(names, ", ") + ")"
}

// inputValue parses the value of an --input flag. A string is used literally and any other type
// is JSON. Without a declared type, a value that is not valid JSON is a string. The value of
// "@file" is the content of the file.
func inputValue(t *value.Type, text string) (any, error) {
	kind := value.AnyType
	if t != nil {
		kind = t.Kind
	}
	if path, ok := strings.CutPrefix(text, "@"); ok {
		if kind == value.StringType || kind == value.AnyType && !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
			data, err := os.ReadFile(path)
			return string(data), err
		}
		v, err := readValue(path)
		if err != nil {
			return nil, err
		}
		return v, t.Check(v)
	}
	if kind == value.StringType {
		return text, nil
	}
	v, err := value.ParseJSON([]byte(text))
	switch {
	case err == nil:
		return v, t.Check(v)
	case kind == value.AnyType:
		return text, nil
	}
	return nil, fmt.Errorf("want %s, got %q", kind, text)
}

// readValue reads a file as JSON or YAML, depending on its extension.
func readValue(path string) (any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(path) {
	case ".yaml", ".yml":
		v, ds := document.Parse(path, data)
		if err := ds.Err(false); err != nil {
			return nil, err
		}
		return v.Plain(), nil
	}
	return value.ParseJSON(data)
}
