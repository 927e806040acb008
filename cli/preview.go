package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/dataset"
)

// previewFlags are the flags of preview.
type previewFlags struct {
	rows                int
	schema, count, json bool
	format, delimiter   string
	columns             []string
	inputs, inputFiles  []string
}

// previewFormats lists the values of --format.
var previewFormats = []string{"csv", "tsv", "jsonl", "json", "parquet"}

func (a *app) previewCommand() *cobra.Command {
	f := previewFlags{rows: 10}
	cmd := &cobra.Command{
		Use:   "preview FILE... | WORKFLOW [NODE]",
		Short: "Show the first rows and the schema of data files, or of a dataset",
		Long: `preview shows the contents of data files: the number of rows, the first rows, and
for each column its type, the share of missing values and an example. It reads csv,
tsv, jsonl, json and Parquet files, gzip (.gz), patterns such as 'in/*.csv', and
standard input (-). Several files are read as one table.

For a workflow it shows what a dataset node would load, with the types that the
document declares. NODE is optional if the workflow has only one dataset node.
preview runs and writes nothing, and does not apply row checks.

It reads the first 10,000 rows. The total is known for Parquet and short files;
--count reads other files to the end.`,
		Example: examples(
			"wavefold preview orders.csv",
			"wavefold preview -n 3 --select id,total 'in/*.csv.gz'",
			"wavefold preview --schema flights.parquet",
			"curl -s https://example.com/rows | wavefold preview --format jsonl -",
			"wavefold preview flow.yaml load",
			"wavefold preview --json orders.csv | jq '.columns[].name'",
		),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("preview wants data files, - for standard input, or a workflow and a node")
			}
			return nil
		},
		ValidArgsFunction: a.completePreview,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.preview(cmd.Context(), args, &f)
		},
	}
	flags := cmd.Flags()
	flags.VarP(count{&f.rows, "--rows"}, "rows", "n", "number of rows to show")
	flags.BoolVar(&f.schema, "schema", false, "show the columns only, no rows")
	flags.BoolVar(&f.count, "count", false, "read to the end to count the rows")
	flags.StringVarP(&f.format, "format", "f", "", "format of the files: "+strings.Join(previewFormats, ", ")+" (default: by the ending of their names)")
	flags.StringVarP(&f.delimiter, "delimiter", "d", "", "the `character` between cells of csv (default ,)")
	flags.StringSliceVarP(&f.columns, "select", "s", nil, "only these `columns`, in this order")
	flags.StringArrayVarP(&f.inputs, "input", "i", nil, "an input of the workflow as `name=value` or name=@file; may be repeated")
	flags.StringArrayVar(&f.inputFiles, "inputs", nil, "inputs of the workflow from a JSON or YAML `file`; may be repeated")
	flags.BoolVar(&f.json, "json", false, "print everything as JSON")
	_ = cmd.RegisterFlagCompletionFunc("input", a.completeInputs)
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(previewFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// preview shows the table that the arguments name.
func (a *app) preview(ctx context.Context, args []string, f *previewFlags) error {
	if f.format != "" && !slices.Contains(previewFormats, f.format) {
		return fail(exitUsage, "--format is %q, want one of %s%s", f.format, strings.Join(previewFormats, ", "), suggest(f.format, previewFormats))
	}
	var target *previewTarget
	var err error
	if namesWorkflow(args) {
		target, err = a.previewNode(args, f)
	} else {
		target, err = a.previewFiles(args, f)
	}
	if err != nil {
		return err
	}
	t, err := dataset.Preview(ctx, target.node, target.env, core.NewInput("", target.node.ID.Value, 1, target.shared),
		dataset.PreviewOptions{Rows: f.rows, Count: f.count, Stdin: true})
	if ds, ok := source.AsDiagnostics(err); ok {
		return a.invalid(target.reword(ds), f.json)
	}
	if err != nil {
		a.errorf("%s%v", target.prefix, err)
		if target.late {
			a.hintf("what the source depends on is given with --input NAME=VALUE")
		}
		return reported(exitFailed)
	}
	if f.json {
		return a.writeJSON(tableJSON(t, f))
	}
	a.printPreview(t, target.title, f)
	return nil
}

// previewTarget is the dataset to preview, with the values it reads.
type previewTarget struct {
	title  string
	prefix string // of error messages
	late   bool   // the files depend on a run or on inputs
	node   *core.Node
	env    core.Env
	shared core.Shared
	reword func(source.Diagnostics) source.Diagnostics
}

// namesWorkflow reports whether the arguments name a workflow rather than data files. A
// folder is a workflow; so is a JSON file if the argument after it is not a file.
func namesWorkflow(args []string) bool {
	info, err := os.Stat(args[0])
	switch ext := filepath.Ext(args[0]); {
	case err == nil && info.IsDir(), ext == ".yaml", ext == ".yml":
		return true
	case ext != ".json" || len(args) != 2:
		return false
	}
	_, err = os.Stat(args[1])
	return err != nil && filepath.Ext(args[1]) == ""
}

// previewFiles returns a dataset of the files that the arguments name.
func (a *app) previewFiles(args []string, f *previewFlags) (*previewTarget, error) {
	if len(f.inputs)+len(f.inputFiles) > 0 {
		return nil, fail(exitUsage, "--input is for workflows, and %s is a data file", args[0])
	}
	var ds source.Diagnostics
	for _, name := range args {
		checkFileName(&ds, name, f.format)
	}
	if ds.Failed(false) {
		return nil, a.invalid(ds, f.json)
	}
	title := shownFile(args[0])
	if len(args) > 1 {
		title = fmt.Sprintf("%s and %d more", title, len(args)-1)
	}
	pos := source.Position{File: args[0]}
	c := value.ObjectOf("source", anys(args), "check", false, "allow_outside", true)
	f.configure(c)
	n := &core.Node{ID: source.At("preview", pos), Writes: []source.Text{source.At("rows", pos)}, HasWrites: true, Config: source.Tree(c, pos), Pos: pos}
	return &previewTarget{
		title: title, node: n, env: core.Env{Stdin: a.In}, reword: asFlags,
	}, nil
}

// asFlags rewrites findings about a dataset whose configuration comes from flags.
func asFlags(ds source.Diagnostics) source.Diagnostics {
	for i := range ds {
		d := &ds[i]
		d.Pos = source.Position{}
		d.Message = strings.TrimPrefix(strings.TrimPrefix(d.Message, "node preview: "), "source: ")
		for _, flag := range []string{"delimiter", "select", "format"} {
			if strings.HasPrefix(d.Message, flag+": ") {
				d.Message = "--" + d.Message
			}
		}
	}
	return ds
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// checkFileName reports problems with the name of a data file.
func checkFileName(ds *source.Diagnostics, name, format string) {
	pos := source.Position{File: name}
	if name != "-" {
		info, err := os.Stat(name)
		found, bad := filepath.Glob(name)
		switch {
		case err != nil && bad != nil:
			ds.Errorf(source.CodeBadValue, pos, "it is not a pattern: %v", bad)
			return
		case err != nil && len(found) > 0:
		case err != nil && strings.ContainsAny(name, "*?["):
			ds.Errorf(source.CodeMissingFile, pos, "no file matches the pattern")
			return
		case errors.Is(err, os.ErrNotExist):
			ds.Errorf(source.CodeMissingFile, pos, "there is no such file").WithHint("%s", similarFile(name))
			return
		case err != nil:
			ds.Errorf(source.CodeMissingFile, pos, "the file cannot be read: %v", errors.Unwrap(err))
			return
		case info.IsDir():
			ds.Errorf(source.CodeBadValue, pos, "it is a folder; name the workflow first").WithHint("name its files: %s", filepath.Join(name, "*.csv"))
			return
		}
	}
	if format == "" && dataset.FormatOf(name) == "" {
		d := ds.Errorf(source.CodeMissingKey, pos, "the name does not show the format")
		if name == "-" {
			d.Pos.File, d.Message = "standard input", "the format is unknown"
		}
		d.WithHint("add --format, one of %s", strings.Join(previewFormats, ", "))
	}
}

// similarFile proposes an existing file with a similar name.
func similarFile(name string) string {
	entries, _ := os.ReadDir(filepath.Dir(name)) // a folder that cannot be read has no candidates
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return source.DidYouMean(filepath.Base(name), names)
}

// configure adds the values of the flags to the configuration of a dataset.
func (f *previewFlags) configure(c *value.Object) {
	if f.format != "" {
		c.Set("format", f.format)
	}
	if f.delimiter != "" {
		c.Set("delimiter", f.delimiter)
	}
	if len(f.columns) > 0 {
		c.Set("select", anys(f.columns))
	}
}

// previewNode returns a dataset node of a workflow.
func (a *app) previewNode(args []string, f *previewFlags) (*previewTarget, error) {
	if len(args) > 2 {
		return nil, fail(exitUsage, "preview of a workflow wants one node, not %d", len(args)-1)
	}
	// Warnings about the document do not matter here.
	p, ds := check(a.lenient(), args[:1], false)
	if p == nil {
		return nil, a.invalid(ds, f.json)
	}
	node, err := datasetOf(p.Workflow, args[1:])
	if err != nil {
		return nil, err
	}
	values, err := inputsOf(p, f.inputFiles, f.inputs)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	inputs := &value.Object{}
	for _, name := range inputNames(p) {
		if v, ok := values[name]; ok {
			inputs.Set(name, v)
		}
	}
	// A missing input matters only if the dataset needs it.
	start, given, _ := p.Start(inputs)
	n := *node
	n.Config = override(node.Config, f)
	w := p.Workflow
	env := core.Env{Dir: w.Dir, Stdin: a.In, Schema: p.Schema, Items: node.ForEach != nil}
	if w.Dir != "" {
		env.Files = os.DirFS(w.Dir)
	}
	return &previewTarget{
		title: n.ID.Value, prefix: fmt.Sprintf("node %s: ", n.ID.Value),
		late: strings.Contains(value.JSON(n.Config.Get("source").Plain()), "$"), node: &n, env: env,
		shared: core.Shared{Dir: w.Dir, Extra: core.NewView(p.Schema.FieldNames(), start), View: core.NewView(p.Schema.FieldNames(), start), Inputs: given},
		reword: func(ds source.Diagnostics) source.Diagnostics { return ds },
	}, nil
}

// override returns a configuration in which the values of flags replace values of the
// document.
func override(config *source.Value, f *previewFlags) *source.Value {
	flags := &value.Object{}
	f.configure(flags)
	out := *config
	out.Keys, out.Values = nil, nil
	for i, k := range config.Keys {
		if _, ok := flags.Get(k.Value); !ok {
			out.Set(k, config.Values[i])
		}
	}
	for name, v := range flags.All() {
		out.Set(source.At(name, config.Pos), source.Tree(v, config.Pos))
	}
	return &out
}

// datasetOf returns the node with the given name, or the only dataset of a workflow.
func datasetOf(w *core.Workflow, name []string) (*core.Node, error) {
	var ids []string
	for _, n := range w.Nodes {
		if n.Kind.Value == dataset.Kind.Name() {
			ids = append(ids, n.ID.Value)
		}
	}
	switch {
	case len(name) == 0 && len(ids) == 0:
		return nil, fail(exitUsage, "%s has no dataset node to show", w.Name.Value)
	case len(name) == 0 && len(ids) > 1:
		return nil, fail(exitUsage, "%s has %d dataset nodes; name one of %s", w.Name.Value, len(ids), strings.Join(ids, ", "))
	case len(name) == 0:
		name = ids
	}
	at := slices.IndexFunc(w.Nodes, func(n *core.Node) bool { return n.ID.Value == name[0] })
	if at < 0 {
		return nil, fail(exitUsage, "%s has no node %q%s", w.Name.Value, name[0], datasetHint(name[0], ids))
	}
	if n := w.Nodes[at]; n.Kind.Value != dataset.Kind.Name() {
		return nil, fail(exitUsage, "%s: node %s is of the kind %s, and preview shows datasets%s", n.Pos, n.ID.Value, n.Kind.Value, datasetHint("", ids))
	}
	return w.Nodes[at], nil
}

// datasetHint proposes a dataset, in brackets.
func datasetHint(name string, ids []string) string {
	switch s := suggest(name, ids); {
	case s != "":
		return s
	case len(ids) == 0:
		return " (there are none)"
	}
	return " (the datasets are " + strings.Join(ids, ", ") + ")"
}

// completePreview completes files and the datasets of a workflow.
func (a *app) completePreview(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 || !namesWorkflow(args) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	file, ds := fileOf(a.engine, args)
	if len(ds) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	if w, _ := a.engine.Read(file); w != nil {
		for _, n := range w.Nodes {
			if n.Kind.Value == dataset.Kind.Name() {
				ids = append(ids, n.ID.Value)
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
