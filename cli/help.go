package cli

import "github.com/spf13/cobra"

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
		Example: examples("wavefold help run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if about == cmd.Root() && len(rest) > 0 {
				return a.noSuchCommand(cmd, rest)
			}
			about.InitDefaultHelpFlag() // so that the help lists the flag
			return about.Help()
		},
	}
}
