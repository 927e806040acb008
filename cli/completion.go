package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// shells are those for which there is a completion script.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "Print a script that completes commands for a shell",
		Long: `completion prints a script with which a shell completes commands, flags, formats
and the names of workflow files. Load it when the shell starts:

  bash        source <(wavefold completion bash)      in ~/.bashrc
  zsh         source <(wavefold completion zsh)       in ~/.zshrc, after compinit
  fish        wavefold completion fish | source       in ~/.config/fish/config.fish
  powershell  wavefold completion powershell | Out-String | Invoke-Expression`,
		Example:               examples("source <(wavefold completion bash)"),
		DisableFlagsInUseLine: true,
		ValidArgs:             shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("completion wants one of %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Out)
			}
			return fmt.Errorf("completion wants one of %s, not %q%s", strings.Join(shells, ", "), args[0], near(args[0], shells))
		},
	}
}
