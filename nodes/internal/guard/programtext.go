package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// interpreter describes where a program expects program text in its arguments. A
// template in such a text would turn data into code.
type interpreter struct {
	// names lists the programs without versions: python also means python3.12.
	names string
	// flag matches the beginning of an argument that announces program text, also if it
	// combines several options: sh -euc, psql -Atc. The text is the next argument.
	// After =, or if attached is set, it is the rest of this argument.
	flag     string
	attached bool
	// operand is the number, from 1, of the operand that is program text without a
	// flag; 0 means that there is none. file matches an option that names a program
	// file instead.
	operand int
	file    string
	// values matches options with one value in another argument, pairs options with
	// two.
	values, pairs string
	// all means that all arguments after the first text are text, too.
	all bool
	// script means that the options end at the first operand, which is a program file.
	// The following arguments belong to the program.
	script bool
	// textIsOperand means that the text is not the argument after the flag but the first
	// operand: sh -c -e 'text', sh -c -- 'text'.
	textIsOperand bool
	// interactive matches an option that makes the program read statements from
	// standard input in addition to its program: python -i.
	interactive string
	// full is the number of operands from which on the program does not execute
	// standard input. 0 means that operands do not matter.
	full int
	// instead describes another way to pass a value to the program.
	instead string
}

const (
	behindText = "pass the value as an argument after the text, or by env"
	byEnv      = "pass the value by env, and keep the text fixed"
)

// interpreters lists programs that execute program text. Each row covers programs with
// the same command line.
var interpreters = []interpreter{
	{names: "sh bash dash ksh mksh zsh ash yash rbash csh tcsh", flag: `^-[a-zA-Z]*c[a-zA-Z]*$`, textIsOperand: true, script: true,
		values: `^[-+][a-zA-Z]*[oO]$|^--(rcfile|init-file)$`, instead: `pass the value as an argument after the text and a name: [sh, -c, '... "$1"', sh, "{{...}}"]`},
	{names: "fish", flag: `^-[a-zA-Z]*[cC]$|^--(init-)?command`, script: true, instead: "pass the value as an argument after the text, where it is $argv"},
	{names: "python pypy ipython", flag: `^-[bBdEiIOPqsSuvx]*c`, attached: true, script: true, values: `^-[WX]$`, interactive: `^-[bBdEIOPqsSuvx]*i|^-m(code|pdb|asyncio|IPython)?$`,
		instead: "pass the value as an argument after the text, where it is in sys.argv"},
	{names: "node nodejs bun", flag: `^-[ep]+$|^--(eval|print)`, script: true, interactive: `^-i$|^--interactive$`, instead: behindText},
	{names: "deno", flag: `^eval$`, instead: byEnv},
	{names: "perl ruby", flag: `^-[aclnpswWtTuUSX0-7]*[eE]`, attached: true, script: true, interactive: `^-d`, instead: behindText},
	{names: "lua luajit php Rscript R osascript julia groovy elixir erl scala clojure clj racket guile expect swift", script: true,
		flag: `^-[eErcBR]$|^-eval$|^--(eval|print|run|process-(begin|code|end))`, interactive: `^-[ia]$|^--interactive$`, instead: behindText},
	{names: "emacs vim nvim vi ex gdb lldb", flag: `^-(c|o|ex|eval|eval-command)$|^--(eval|execute|cmd|eval-command|one-line)|^\+`, attached: true, instead: byEnv},
	{names: "psql", flag: `^-[AatqXxEnSsLwz01]*c|^--command`, attached: true, file: `^-[a-zA-Z]*f$|^--file`, values: `^-[dhpUvFRPoL]$|^--(dbname|host|port|username|set|variable)$`,
		instead: "use an sql node, or pass the value with -v name=… and write :'name' in a fixed text on stdin"},
	{names: "mysql mariadb hive beeline cqlsh", flag: `^-[sNBtHrvnAfqw]*e|^--execute`, attached: true, instead: byEnv},
	{names: "clickhouse clickhouse-client snowsql impala-shell trino presto mongo mongosh influx sqlcmd", instead: byEnv,
		flag: `^-[qQ]$|^-execute$|^--(query|execute|eval)`},
	{names: "sqlite duckdb", flag: `^-{1,2}cmd$|^-[cs]$`, operand: 2, all: true, instead: "use an sql node, whose values are parameters",
		values: `^-{1,2}(init|separator|newline|nullvalue|maxsize|mmap|vfs|heap|key|hexkey|textkey|nonce|f)$`},
	{names: "tclsh wish irb pry ocaml sbcl ghci gnuplot octave", flag: `^-e$|^--eval`, script: true, instead: behindText},
	{names: "m4", values: `^-[DUIBsLoRtF]$|^--(define|undefine|include)$`, full: 1, instead: "a macro expands what is in its text; use a template node"},
	{names: "dc", flag: `^-e|^--expression`, attached: true, file: `^-f|^--file`, full: 1, instead: "use bc, which starts no programs, or an expression"},
	{names: "at batch", file: `^-[flrcdV]`, values: `^-[qt]$`, instead: "write the job into a file that is fixed, and name it with -f"},
	{names: "crontab", file: `^-[lr]$`, values: `^-u$`, full: 1, instead: "install a fixed file: run: [crontab, FILE]"},
	{names: "lftp ftp sqlplus isql", flag: `^-[ce]$`, instead: byEnv},
	{names: "redis-cli valkey-cli", file: `^-[xX]$|^--pipe$`, instead: "pass the value as an argument of its own, or with -x as the last one"},
	{names: "ed red", instead: "use sed with a fixed text, or a transform node"},
	{names: "make gmake", file: `^-[a-zA-Z]*f|^--(make)?file`, instead: byEnv},
	{names: "awk gawk mawk nawk", flag: `^-e$|^--source`, operand: 1, file: `^-[fE]|^--(file|exec)`,
		values: `^-[vF]$|^--(assign|field-separator)$`, script: true, instead: "pass the value with -v name=…"},
	{names: "sed gsed", flag: `^-[nEruszi]*e|^--expression`, operand: 1, file: `^-[nEruszi]*f|^--file`, attached: true,
		values: `^-l$`, instead: "a sed text cannot be given a value; use awk -v name=… or a transform node"},
	{names: "jq gojq jaq yq", operand: 1, file: `^-f$|^--from-file`, values: `^-L$|^--indent$`,
		pairs:   `^--(arg|argjson|slurpfile|rawfile)$`,
		instead: "pass the value with --arg name … and write $name in the text"},
	{names: "ssh", operand: 2, all: true, values: `^-[BbcDEeFIiJLlmOopPQRSWw]$`,
		instead: "the shell on the other side takes all arguments apart; keep the command fixed, and pass the value by stdin to a program that does not run it"},
	{names: "watch parallel", operand: 1, all: true, script: true, file: `^-x$|^--exec$`, values: `^-[njN]$|^--(interval|jobs)$`, instead: byEnv},
	{names: "su runuser flock script", flag: `^-[a-zA-Z]*c$|^--command`, instead: byEnv},
	{names: "env", flag: `^-[a-zA-Z]*S|^--split-string`, attached: true, script: true, values: `^-[uC]$`, instead: "write each argument as an element of run"},
	{names: "powershell pwsh", flag: `(?i)^-(c|co[a-z]*|e|ec|en[a-z]*)$`, operand: 1, all: true, file: `(?i)^-f[a-z]*$`,
		values: `(?i)^-(ex|ep|in|o|v|w|wi)[a-z]*$`, instead: byEnv},
	{names: "cmd", flag: `(?i)^/[ck]`, attached: true, all: true, instead: byEnv},
}

// programTexts returns the indexes of the arguments that are program text and contain a
// template, each with its interpreter. Text after a flag counts wherever the
// interpreter's name is among the arguments, whatever program starts it. Operands count
// only where a command begins.
func programTexts(argv []string) (at []int, of []named) {
	starts := commands(argv)
	for i, arg := range argv {
		name := programName(arg)
		in := interpreterOf(name)
		if in == nil {
			continue
		}
		texts := in.texts(argv[i+1:], slices.Contains(starts, i))
		for _, k := range texts {
			if k += i + 1; k < len(argv) && hasTemplate(argv[k]) && !slices.Contains(at, k) {
				at, of = append(at, k), append(of, named{name, in})
			}
		}
		if in.textIsOperand && len(texts) > 0 {
			break // the following arguments are $0, $1 and so on of the text
		}
	}
	return at, of
}

// named is an interpreter with the name by which it was called.
type named struct {
	name string
	*interpreter
}

var version = lazyregexp.New(`[-.]?[0-9][0-9.]*$`)

// programName returns the name of a program without its folder and version.
func programName(arg string) string {
	base := path.Base(strings.ReplaceAll(arg, `\`, "/"))
	if interpreterOf(base) != nil { // the 4 of m4 is not a version
		return base
	}
	if name := version.ReplaceAllString(strings.TrimSuffix(base, ".exe"), ""); name != "" {
		return name
	}
	return base
}

func interpreterOf(name string) *interpreter {
	for i := range interpreters {
		if slices.Contains(strings.Fields(interpreters[i].names), name) {
			return &interpreters[i]
		}
	}
	return nil
}

// texts returns the indexes of the arguments that are, or contain, program text.
// Without operands it returns only texts that a flag announces.
func (in *interpreter) texts(args []string, operands bool) []int {
	var flag *regexp.Regexp
	if in.flag != "" {
		flag = regexp.MustCompile(in.flag)
	}
	var (
		found     []int
		seen      int  // a -- was seen
		ended     bool // a flag has announced that the first operand is text
		pending   bool // the program is in a file or was announced by a flag
		elsewhere bool // the program is in a file, or was announced by a flag
	)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !ended && flag != nil {
			if end := flag.FindStringIndex(arg); end != nil {
				elsewhere = in.operand == 1
				switch rest := arg[end[1]:]; {
				case in.textIsOperand:
					pending = true
					i += in.valuesOf(arg)
				case rest == "" && in.all:
					return append(found, until(i+1, len(args))...)
				case rest == "":
					i++
					found = append(found, i)
				case in.attached || rest[0] == '=':
					found = append(found, i)
				}
				continue
			}
		}
		switch {
		case !ended && arg == "--":
			ended = true
			continue
		case !ended && in.isOption(arg):
			elsewhere = elsewhere || matches(in.file, arg)
			i += in.valuesOf(arg)
			continue
		}
		seen++
		switch {
		case pending:
			return append(found, i)
		case operands && seen == in.operand && !elsewhere && in.all:
			return append(found, until(i, len(args))...)
		case operands && seen == in.operand && !elsewhere:
			found = append(found, i)
		}
		if in.script {
			return found
		}
	}
	return found
}

func (in *interpreter) isOption(arg string) bool {
	return len(arg) > 1 && (arg[0] == '-' || arg[0] == '+' && in.textIsOperand)
}

// valuesOf returns the number of arguments after an option that are its values.
func (in *interpreter) valuesOf(option string) int {
	switch {
	case matches(in.values, option):
		return 1
	case matches(in.pairs, option):
		return 2
	}
	return 0
}

// matches reports whether s matches a pattern; the empty pattern matches nothing.
// Patterns are compiled only when they are needed, because most programs that embed
// this package run no interpreter.
func matches(pattern, s string) bool {
	return pattern != "" && regexp.MustCompile(pattern).MatchString(s)
}

func until(from, to int) []int {
	var out []int
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// codeFlag matches common names of options that take program text. harmless lists
// programs for which such options have another meaning, or whose arguments are not
// commands.
var (
	codeFlag = lazyregexp.New(`^(-c|-e|--?eval|--?exec(ute)?|--?command|--expression|--code|--script)(=|$)`)
	harmless = []string{"grep", "egrep", "fgrep", "rg", "ag", "git", "curl", "tar", "gcc", "cc", "cat", "tee", "cp", "mv", "ls",
		"rm", "ln", "mkdir", "touch", "chmod", "chown", "diff", "cmp", "comm", "join", "sort", "uniq", "wc",
		"head", "tail", "cut", "tr", "apt", "apt-get", "dnf", "yum", "brew", "pip", "pipx", "npm", "yarn", "cargo",
		"go", "which", "man", "echo", "printf", "test", "install", "zip", "unzip", "date"}
	codeLike = lazyregexp.New("[\\s;|&<>$()'\"`]")
)

// known reports whether it is known how a program treats its arguments.
func known(argv []string) bool {
	name := programName(argv[0])
	return slices.Contains(harmless, name) || interpreterOf(name) != nil || wrapperOf(name) != nil
}

// suspects returns the indexes of arguments that may be program text for an unknown
// program: the argument after an option with a name for program text, and the operand
// that would be the text of an interpreter named before it. Only arguments that contain
// a template and other text that looks like code count.
func suspects(argv []string) []int {
	if known(argv) {
		return nil
	}
	var found []int
	add := func(i int) {
		if i < len(argv) && hasTemplate(argv[i]) && !slices.Contains(found, i) && codeLike.MatchString(template.ReplaceAllString(strings.TrimSpace(argv[i]), "")) {
			found = append(found, i)
		}
	}
	at, _ := programTexts(argv)
	for i := 1; i < len(argv); i++ {
		if in := interpreterOf(programName(argv[i])); in != nil && in.operand > 0 {
			for _, k := range in.texts(argv[i+1:], true) {
				if !slices.Contains(at, i+1+k) {
					add(i + 1 + k)
				}
			}
		}
		m := codeFlag.FindStringIndex(argv[i])
		switch {
		case m == nil:
			continue
		case argv[i][m[1]-1] != '=':
			i++
		}
		if !slices.Contains(at, i) {
			add(i)
		}
	}
	slices.Sort(found)
	return found
}

var template = lazyregexp.New(`\{\{.*?\}\}`)

func hasTemplate(s string) bool { return strings.Contains(s, "{{") }
