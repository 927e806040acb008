package docstest

import (
	"regexp"
	"strings"
	"testing"
)

// Command is a command line of a console block and its output according to the page.
type Command struct {
	Line string   // as written, without the prompt
	Args []string // its words
	Want string   // the lines below it
}

// Commands returns the commands of a block: each line that begins with "$ ", with the lines
// below it up to the next command.
func (b Block) Commands(t testing.TB) []Command {
	t.Helper()
	var list []Command
	for line := range strings.Lines(b.Text) {
		command, ok := strings.CutPrefix(line, "$ ")
		switch {
		case ok:
			command = strings.TrimSpace(command)
			args, ok := words(command)
			if !ok {
				t.Fatalf("%s:%d: %s: a quote is not closed", b.File, b.Line, command)
			}
			list = append(list, Command{Line: command, Args: args})
		case len(list) > 0:
			list[len(list)-1].Want += line
		}
	}
	return list
}

// words splits a command line like a shell, as far as pages need it: white space, quotes,
// and comments.
func words(line string) (args []string, ok bool) {
	var word strings.Builder
	quote, some := byte(0), false
	end := func() {
		if some {
			args = append(args, word.String())
		}
		word.Reset()
		some = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, some = c, true
		case c == ' ':
			end()
		case c == '#' && !some:
			return args, true
		default:
			word.WriteByte(c)
			some = true
		}
	}
	end()
	return args, quote == 0
}

var (
	duration = regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|m?s)\b`)
	spaces   = regexp.MustCompile(` {2,}`)
)

// Same compares an output with the output on a page. All durations are equal, and so are
// runs of spaces, whose lengths depend on them; a line "..." of the page matches any number
// of lines.
func Same(got, want string) bool {
	return match(lines(got), lines(want))
}

func lines(s string) []string {
	s = duration.ReplaceAllString(s, "0s")
	s = spaces.ReplaceAllString(s, "  ")
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, strings.TrimRight(line, " \n"))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func match(got, want []string) bool {
	for len(want) > 0 && want[0] != "..." {
		if len(got) == 0 || got[0] != want[0] {
			return false
		}
		got, want = got[1:], want[1:]
	}
	if len(want) == 0 {
		return len(got) == 0
	}
	for i := range len(got) + 1 {
		if match(got[i:], want[1:]) {
			return true
		}
	}
	return false
}
