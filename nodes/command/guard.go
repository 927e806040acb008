package command

import (
	"path"
	"regexp"
	"strings"
)

// interpreter describes a program that takes program text among its arguments.
// A template inside such a text would turn data into code, so it is refused.
type interpreter struct {
	names []string
	// flag matches the argument before the program text.
	flag *regexp.Regexp
	// rest says that everything after the flag is program text.
	rest bool
}

// interpreters lists the programs known to take text, with the flags that
// announce it, also combined with others (sh -euc, perl -ne).
var interpreters = []interpreter{
	{names: []string{"sh", "bash", "dash", "ksh", "zsh", "ash", "fish"}, flag: regexp.MustCompile(`^-[a-zA-Z]*c$|^--command$`)},
	{names: []string{"python", "python2", "python3", "pypy3"}, flag: regexp.MustCompile(`^-[a-zA-Z]*c$`)},
	{names: []string{"node", "bun", "deno"}, flag: regexp.MustCompile(`^-[ep]+$|^--eval$|^--print$|^eval$`)},
	{names: []string{"perl", "ruby", "lua"}, flag: regexp.MustCompile(`^-[a-zA-Z0-9]*[eE]$`)},
	{names: []string{"php"}, flag: regexp.MustCompile(`^-r$|^--run$`)},
	{names: []string{"Rscript", "osascript", "mysql", "mariadb"}, flag: regexp.MustCompile(`^-e$|^--execute$`)},
	{names: []string{"psql", "duckdb"}, flag: regexp.MustCompile(`^-c$|^--command$`)},
	{names: []string{"powershell", "pwsh"}, flag: regexp.MustCompile(`(?i)^-c(ommand)?$`), rest: true},
	{names: []string{"cmd"}, flag: regexp.MustCompile(`(?i)^/[ck]$`), rest: true},
}

// programText returns the index of the first argument that is program text for
// an interpreter and holds a template, and the interpreter's name. The
// interpreter need not be the program itself: env, timeout or docker may stand
// before it. This catches the usual slips, not every program there is.
func programText(argv []string) (index int, name string) {
	for i, arg := range argv {
		in, ok := interpreterOf(arg)
		if !ok {
			continue
		}
		for j := i + 1; j < len(argv); j++ {
			if k := in.text(argv, j); k >= 0 {
				return k, path.Base(arg)
			}
		}
	}
	return -1, ""
}

func interpreterOf(arg string) (interpreter, bool) {
	base := strings.TrimSuffix(path.Base(strings.ReplaceAll(arg, `\`, "/")), ".exe")
	for _, in := range interpreters {
		for _, name := range in.names {
			if base == name {
				return in, true
			}
		}
	}
	return interpreter{}, false
}

// text returns the index of program text with a template that argument j
// announces or holds itself (--eval=…), or -1.
func (in interpreter) text(argv []string, j int) int {
	if flag, _, ok := strings.Cut(argv[j], "="); ok && in.flag.MatchString(flag) && hasTemplate(argv[j]) {
		return j
	}
	if !in.flag.MatchString(argv[j]) {
		return -1
	}
	for k := j + 1; k < len(argv); k++ {
		if hasTemplate(argv[k]) {
			return k
		}
		if !in.rest {
			break
		}
	}
	return -1
}

func hasTemplate(s string) bool { return strings.Contains(s, "{{") }
