package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: examples("wavefold version", "wavefold version --json"),
		Args:    atMost(0, noArguments),
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if asJSON {
				return a.writeJSON(v)
			}
			tty.Fprintf(a.Out, "%s\n", v.text())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the version as JSON")
	return cmd
}

// version describes the build of a binary.
type version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// text returns the version on one line.
func (v version) text() string {
	return fmt.Sprintf("wavefold %s%s %s %s", v.Version, prefixed(" ", v.Commit), v.Go, v.Platform)
}

// buildVersion reads the build information that the Go tool embeds in the binary. The
// module is the main module of the wavefold command, and a dependency in programs that
// embed wavefold.
func buildVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	const module = "github.com/wavefold/wavefold"
	if info.Main.Path == module && info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			v.Version = d.Version
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
