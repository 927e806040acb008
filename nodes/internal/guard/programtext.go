package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// interpreter says where a program finds program text among its arguments. A
// template in such a text would turn data into code.
type interpreter struct {
	// names are the programs, without versions: python is also python3.12.
	names string
	// flag matches the beginning of an argument that announces program text,
	// also of several options in one: sh -euc, psql -Atc. The text is the next
	// argument or, behind a = or where attached says so, the rest of this one.
	flag     string
	attached bool
	// operand counts the operand, from 1, that is program text without a flag;
	// 0 means none. file matches an option that names a file with the program
	// instead.
	operand int
	file    string
	// values matches the options whose value is another argument, pairs those
	// with two.
	values, pairs string
	// all says that everything behind the first text is text too.
	all bool
	// script says that the options end at the first operand, a file with the
	// program: what stands behind it belongs to that.
	script bool
	// late says that the text is not the argument behind the flag but the first
	// operand: sh -c -e 'text', sh -c -- 'text'.
	late bool
	// interactive matches an option after which the program reads statements from
	// standard input although it has another program: python -i.
	interactive string
	// full is the number of operands from which on a program that reads program text from
	// standard input does not; 0 means that operands do not matter.
	full int
	// instead says how a value gets into the program.
	instead string
}

const (
	behindText = "pass the value as an argument after the text, or by env"
	byEnv      = "pass the value by env, and keep the text fixed"
)

// interpreters lists programs that run what they are given. Each row covers those
// that are called alike.
var interpreters = []interpreter{
	{names: "sh bash dash ksh mksh zsh ash yash rbash csh tcsh", flag: `^-[a-zA-Z]*c[a-zA-Z]*$`, late: true, script: true,
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

// programTexts returns the indexes of the arguments that are program text with a
// template in it, each with the interpreter it is for. Text after a flag counts
// wherever the name of the interpreter is among the arguments, whatever program starts it;
// operands count only where a command begins.
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
		if in.late && len(texts) > 0 {
			break // what follows is what the text sees as $0, $1 and so on
		}
	}
	return at, of
}

// named is an interpreter with the name it was called by.
type named struct {
	name string
	*interpreter
}

var version = regexp.MustCompile(`[-.]?[0-9][0-9.]*$`)

// programName returns the name of a program without its folder and its version.
func programName(arg string) string {
	base := path.Base(strings.ReplaceAll(arg, `\`, "/"))
	if interpreterOf(base) != nil { // m4 is no version of m
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

// texts returns the indexes of the arguments that are, or hold, program text.
// Without operands only those count that a flag announces.
func (in *interpreter) texts(args []string, operands bool) []int {
	var flag *regexp.Regexp
	if in.flag != "" {
		flag = regexp.MustCompile(in.flag)
	}
	var (
		found     []int
		seen      int  // operands so far
		ended     bool // by --
		pending   bool // a flag announced the first operand
		elsewhere bool // the program is in a file, or was announced by a flag
	)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !ended && flag != nil {
			if end := flag.FindStringIndex(arg); end != nil {
				elsewhere = in.operand == 1
				switch rest := arg[end[1]:]; {
				case in.late:
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
	return len(arg) > 1 && (arg[0] == '-' || arg[0] == '+' && in.late)
}

// valuesOf returns how many arguments behind an option are its values.
func (in *interpreter) valuesOf(option string) int {
	switch {
	case matches(in.values, option):
		return 1
	case matches(in.pairs, option):
		return 2
	}
	return 0
}

// matches reports whether a pattern, if there is one, matches. Patterns are compiled
// where they are needed: nearly all programs of the world start without a command
// that is an interpreter.
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

// codeFlag is what programs call an option that takes program text, and harmless
// names programs that mean something else by it, or whose arguments are names and not
// commands.
var (
	codeFlag = regexp.MustCompile(`^(-c|-e|--?eval|--?exec(ute)?|--?command|--expression|--code|--script)(=|$)`)
	harmless = strings.Fields("grep egrep fgrep rg ag git curl tar gcc cc cat tee cp mv ls rm ln mkdir touch chmod chown diff cmp comm join sort uniq wc head tail cut tr" +
		" apt apt-get dnf yum brew pip pipx npm yarn cargo go which man echo printf test install zip unzip date")
	codeLike = regexp.MustCompile("[\\s;|&<>$()'\"`]")
)

// known reports whether it is known what a program does with its arguments.
func known(argv []string) bool {
	name := programName(argv[0])
	return slices.Contains(harmless, name) || interpreterOf(name) != nil || wrapperOf(name) != nil
}

// suspects returns the indexes of arguments that may be program text for a program
// that is not known: the argument after an option with a name for that, and the operand that
// would be the text of an interpreter named before it. Only a template among other text
// that is more than a word counts.
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

var template = regexp.MustCompile(`\{\{.*?\}\}`)

func hasTemplate(s string) bool { return strings.Contains(s, "{{") }
