package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells lists the shells that have a completion script.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "Print a script that completes commands for a shell",
		Long: `completion prints a script that lets a shell complete commands, flags, formats,
and the names of workflow files, inputs and nodes. Load it when the shell starts:

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
			return fmt.Errorf("completion wants one of %s, not %q%s", strings.Join(shells, ", "), args[0], suggest(args[0], shells))
		},
	}
}

// completeInputs proposes the inputs of the workflow in args, without inputs that the command
// line already sets.
func (a *app) completeInputs(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if strings.ContainsAny(word, "=@") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	p, _ := check(a.lenient(), args, false)
	if p == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	files, _ := cmd.Flags().GetStringArray("inputs")
	pairs, _ := cmd.Flags().GetStringArray("input")
	given := givenNames(files, pairs)
	var names []string
	for _, name := range inputNames(p) {
		if !slices.Contains(given, name) && strings.HasPrefix(name, word) {
			names = append(names, name+"=")
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeNodes completes the arguments of why: first a node, then a workflow file. The nodes
// come from the run of the command line, or from the workflow in the current folder.
func (a *app) completeNodes(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.nodesToExplain(cmd), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return workflowFiles(cmd, args, word)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) nodesToExplain(cmd *cobra.Command) []string {
	if run, _ := cmd.Flags().GetString("run"); run != "" && run != "-" {
		s, err := a.readRun(cmd.Context(), run)
		if err != nil {
			return nil
		}
		return s.Nodes()
	}
	p, _ := check(a.lenient(), nil, false)
	if p == nil {
		return nil
	}
	var ids []string
	for _, n := range p.Workflow.Nodes {
		ids = append(ids, n.ID.Value)
	}
	return ids
}
