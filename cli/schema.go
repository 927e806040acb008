package cli

import (
	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/formats/native"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of workflow files",
		Long: `schema prints the JSON Schema of workflow files, including the keys of all node
kinds in this program. Editors use it for completion and checks.`,
		Example: examples("wavefold schema > workflow.schema.json"),
		Args:    atMost(0, noArguments),
		RunE: func(*cobra.Command, []string) error {
			_, _ = a.Out.Write(native.SchemaFor(a.engine.Registry())) // the stream records its error
			return nil
		},
	}
}
